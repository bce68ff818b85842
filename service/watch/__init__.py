"""What the live streams tell: states of the market taken every five seconds, and what happened, kept in the store.

May import ranks 0 to 4. How readers are served is `streams`' affair; here is what they are served.

**States** (of `prices`, `funding`, `regime`, `sentiment`) are what the desks know at that moment, taken by the process
that leads every five seconds, also where nothing changed: then only the age grows. Nothing known (yet): no state.

- `prices`: every coin with a price not older than ten minutes; `as_of` is the oldest of them.
- `funding`: `avgApr` is the mean over all coins with a rate not older than ten minutes, each counting once;
  `temperature` what that is, in percent a year: over 21.9 hot, over 10.95 (the venue's resting rate) warm, from 0 to
  10.95 neutral, under 0 cool, under -10.95 cold. `movers` are the ten coins whose running rate differs most from what
  was last paid, in the two hours before (the mean rate of an hour), in points of percent a year; coins of which the
  fall-back venue tells are not compared. `as_of` is the oldest rate.
- `regime`: the positions of `regime?action=active`. `sentiment`: the mood of the whole market.
- Once no price or rate is left to tell, `as_of` is when the venue last told any: the age grows on.

**Happenings** (`alerts`, `crossings`) are told one by one, with when they happened as `as_of`: an alert when it fires
and, with the same id, when it clears, also where both were found at once; a crossing when it is concluded. What
happened before this service first looked at a history is past, and so is what is found more than two days late.

**Diffs** hold what differs from the state that the reader knows:

- `prices`: coins whose price is another, null for one that has none any more;
- `funding`: the market as it is, and movers that differ; `sentiment`: all of it;
- `regime`: all positions, where anything but `currentPrice` and `holdDays` of them differs: a position that is gone
  could not be told otherwise, and prices have a stream of their own.

Decided here:
- **The store is the one source of order.** The leader appends what it took, in one transaction that numbers the states
  and remembers the happenings; every process, that one included, shows its readers what it reads in the store. So
  nobody is told what a crash could take back, a happening is told exactly once, and a cursor is good on every process,
  after a restart and under another leader. The newest 360 states of each stream are kept: half an hour of states.
- What a state says is written once while it stays the same, and at least every 60th time, so that nothing needs to be
  kept for what follows it.
- **Origin**: a state belongs to the history that the market's store holds. When that changes, kept states are cleared,
  and what is found of the new history at first is past. Numbers go on. A process that goes on has told the states of
  before, and still lets readers resume from them while they last; after a restart such a cursor is too old.
- **Live**: the newest quotes are at most 30 seconds old, and somebody (the venue, its feed, the fall-back) brought some
  when they were last asked for. So a dead venue is told at its first failure, also on a clock that stands still.
- Wall time orders nothing. A clock that was set back makes no happening be told twice: what is remembered is by id.
"""
