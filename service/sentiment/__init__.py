"""What is written about coins, how the crowd leans, and what that says beside the price: news, Fear & Greed, funding.

May import rank 0, wire, storage, upstream, analytics and market. Nothing here is asked of a model or of the network but
the feeds themselves: the same texts at the same time give the same moods.

**Scores** are VADER's compound (Hutto and Gilbert 2014, MIT) over its own lexicon corrected by ours (`lexicon`, each
term with its weight and why; scale -4 to 4, `score` -1 to 1). Phrases, things that are good because something bad gets
less, and denials are folded into one token first. Questions, suppositions and explanations keep a quarter of their
weight. A score beyond ±0.2 is clear. Names of coins are blanked before scoring. `make eval` prints how well this reads
labelled headlines, beside VADER alone.

**Attribution** (`matcher`) tells coins from English words by what stands around a name; its docstring has the rules.

**News of a coin or category**: the items of the last seven days that are about it (of a category: about one of its
coins, or naming it). `score` = Σ w·s / (Σ w + 1), w halving every 24 hours: silence weighs as much as one fresh item,
so that one headline alone moves a score half of its way. `slope_24h` = the score less the score a day before, null
where either is unknown; `mentions` = the number of items. Nothing written: null, null, 0.

**Crowd** = the sum of these points (-5 to 5), unknown ones 0:

- news: score ≥ 0.15 +1, ≥ 0.35 +2; ≤ -0.15 -1, ≤ -0.35 -2;
- funding, % a year: ≥ 20 +1, ≥ 40 +2; < 0 -1, ≤ -20 -2 (10.95, the venue's resting rate, is 0);
- Fear & Greed: ≥ 75 +1, ≤ 25 -1.

**Stances**: the first rule that holds. 24 h and 7 d are changes of price in percent; of a category, the median over its
coins, as for funding and volume. Steep: 7 d beyond ±15 or 24 h beyond ±8. Busy: volume at least 1.2 times the usual.

1. no price: `neutral`.
2. 7 d ≥ 15 and (24 h < 0 or slope ≤ -0.2): `exhaustion` of a rise.
3. 7 d ≤ -15 and (24 h > 0 or slope ≥ 0.2): `exhaustion` of a fall.
4. a steep rise and crowd ≥ 3: `euphoria`.
5. a steep fall and crowd ≤ -2: `capitulation`.
6. 7 d ≤ 2 and crowd ≥ 2: `distribution` (the crowd is eager, the price does not follow).
7. 7 d ≥ -2 and crowd ≤ -2: `accumulation` (the crowd is afraid, the price holds).
8. busy, 7 d < -2, not steep, crowd ≥ 0: `distribution` (a quiet fall while nobody is alarmed).
9. busy, 7 d > 2, not steep, crowd ≤ 0: `accumulation` (a quiet rise while nobody is excited).
10. else `neutral`.

In 6 to 9 the change of 24 h stands for an unknown one of 7 d. A summary is one sentence: the stance, the rule, and the
figures it rests on. Headlines are never repeated in an answer: they are other people's words, and may be made to hurt.

Decided here:
- Feeds are read every ten minutes, each dated by the upstream's clock; no item is dated later. The index is read every
  hour, and dated by the day that it is of: its last value enters nothing 48 hours after that day began.
- An item is one story: the same guid, or the same title within a day, is not counted twice, whoever passes it on.
- One feed's failure leaves the others. Where all fail, conclusions stay as they are, with their age, and moods are
  named stale; once their news are 48 hours old, price and funding alone are concluded from, as before any news came.
- `as_of` of a category is when the newest item of all was published (a category nobody writes about is no older for
  that), or when prices were observed where there are no news. Its coins come in the category's own order.
- The whole market has a mood by the rules of a category: every item is about it, whomever it names, and every coin is
  one of its own.
- A mood is dated by the newest answer of a feed (or of prices, where there are no news).
- Items are scored and attributed when first seen, and anew when coins or categories change: a name that comes to be
  known is no praise any more, and no answer depends on when a start learned of it. They are kept for 30 days. Data of
  another origin are cleared.
"""
