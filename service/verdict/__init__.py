"""Verdicts: what is known of a coin, judged by published rules, recomputable by anyone, and held against its outcome.

May import rank 0, wire, storage, analytics, market and sentiment; nothing of the network, and no model.

**Rules** (`rules_v2`, version 2; every bound, point and sentence is in its tables). Contributions sum to the score:

| group | rule | reads | contributes |
|---|---|---|---|
| trend 2.5 | trend-daily | the coin's daily trend | UP +0.5, HODL 0, DOWN -0.5 |
| | trend-weekly | the coin's weekly trend | UP +1, HODL 0, DOWN -1 |
| | regime-market, -coin | regime of the market, of the coin | risk-on +0.5, neutral 0, risk-off -0.5 |
| positioning 1 | funding-level | mean of 24 hours | ≥ 43.8 -0.75, ≥ 21.9 -0.5, ≤ -10.95 +0.5, ≤ -21.9 +0.75, else 0 |
| | funding-momentum | that less the mean of 7 days | ≥ 10 points +0.25, ≤ -10 -0.25, else 0 |
| mood 0.5 | sentiment | stance | accumulation, capitulation +0.5; distribution, euphoria -0.5; else 0 |

Funding is in percent a year, and counts against the side that pays much: longs where it is positive.

Daily trend and coin regime correlate 0.76 over the recorded history, so the two together weigh as much as the weekly
trend. Funding is read as a mean of 24 hours, so that no single payment decides.

Version 1 (`rules_v1`) is kept: its verdicts and ledger entries are recomputed by its own tables, and it issues no new
ones. It weighed daily and weekly trend 1 each, each regime 0.5, the momentary funding 0.5, momentum 0.25, sentiment
0.25. It had no groups and claimed a probability, 0.5 + score / 20, which was worse than the base rate. Version 2 claims
none.

**Verdict**: score ≥ 2.5 strong-bull, ≥ 1 bull, ≤ -2.5 strong-bear, ≤ -1 bear, else neutral. `insufficient-evidence`
where the price is not known, neither trend is, or coverage is under 0.5; the score is still said, and never scored.

**Confidence**: coverage = weight of the rules whose input is known (a stale one half) / 4; agreement = |Σ g| / Σ|g| of
what the groups say, each the sum of its rules' contributions (in version 1 each rule is a group); where m of the weight
is missing, the least that it could be, max(0, |Σ g| - m) / (Σ|g| + m); 1 where all is known and nothing contributes.
Agreement ≥ 0.75 high, ≥ 0.5 medium, else low. One level lower where a source is not fulfilled or coverage is under 0.9,
two where it is under 0.6. Without a verdict it is low.

Decided here, about the rules:
- Bounds belong to the outer band: 43.8 is crowded already. The bounds are those of the funding alerts, multiples of the
  venue's resting rate of 10.95. Alerts read the momentary rate, verdicts the mean of 24 hours.
- Every rule is always shown. What is not known contributes nothing, flips nowhere, and is said to be missing.
- What is missing counts against agreement as if it said the contrary: else confidence would rise whenever a rule that
  disagrees falls silent. So nothing that goes missing or stale ever raises it.
- Within a group, rules that disagree cancel; between groups they count as disagreement. A source that goes missing or
  stale, or turns against the score without changing its sign, never raises confidence.
- `flips_at` is the nearest value with another contribution: a bound, or 0.0001 short of one; of names, the nearest in
  the order above. Of two as near, the one further up. It is what the rule's own input would have to be, all else equal.
- `threshold` is the bound that was reached; between all bounds, the nearest one, which was not.
- A part of the risk context is stale where the context names it, the other three sources as a whole.
- A sentence shows two decimals, or more where two would put its figure on the other side of a bound. The sentence of
  sentiment goes on with the figures its room gives. After the rules come the sum and what confidence rests on.
- Points are quarters and weights sum to 4, so that no sum of them is rounded: the same on every machine.

Decided here, about identity:
- The digest takes in the tables whole, not their name: nobody can judge by other rules under the same version.
- Sentences are part of the output and so of the identity: to change a word is to make another version.
- `claims` and `record` are no part of it: a verdict does not change when the past is measured or scored.
- A replay takes the inputs as they were saved. It shows that the verdict follows from them, not that they were true;
  that they were known at the time, the ledger shows.

Decided here, about the ledger:
- Every verdict is written before anybody can know its outcome: an asked one before its answer leaves, once for each
  `verdict_id` and history, whichever process answers; and one a day on every listed coin, in one transaction, within a
  day of the close it rests on. A day waits until all sources tell of nine coins in ten, for an hour at most.
- A verdict is held for 15 seconds, the route's interval, while its sources stand as they stood: prices move faster than
  anybody acts on them, and every change would be an entry (some 2 kB). An abstention that somebody asked for is written
  once an hour for a coin: it claims nothing, and costs nothing to ask for.
- The head is read in the transaction that appends, so that several processes make one chain and a crash leaves no gap.
  SQLite's triggers refuse to change, delete or replace an entry. Who has the file's rights can take them off: then the
  hashes show it. An end cut off, or a chain made anew, shows only beside a head that somebody kept: answers carry it.
- An entry of version 2 of the rules claims no probability: the column is null, in the row and in what is hashed.
- A body stands in its entry's hash as the digest of its canonical JSON, so that the chain can be checked without the
  rules that were in force, and whatever zlib made of it.
- Histories share one chain. Entries of another one (a replay, and what was live before it) are kept, never scored with
  this one's prices, and not counted in its figures.

Decided here, about outcomes:
- The price 1, 3 and 7 days later is the open of the first closed hourly bar that opens then, or up to six hours later.
  Where there is none it is void once the coin's hours have gone on for 48 more (BTC's, where the coin is no longer
  traded): by the hours and not by the wall clock, since a service that was off first has to fetch what it missed.
- Everything is judged on the move in percent to four decimals. Bullish is right above 0, bearish below, neutral within
  2, 3.5 and 5 % (1, 3 and 7 days). Base rate: how often the same came true of all daily verdicts, of all coins or of
  this one.
- Figures count daily verdicts by the current rule set alone: nobody can tilt them by asking. Asked ones are told apart,
  by `verdict scorecard`.
- Coins move together, so days are what counts. Under 60 days there are no figures. The interval of a hit rate treats
  the outcomes of a day as one cluster, and multiplies the variance by the horizon, since outcomes of neighbouring days
  overlap.
- The backtested record counts verdicts of the current rules, recomputed for every past day (`recount`): from the bars
  that had closed by the end of the day and the funding paid until then, without sentiment, from close to close.
  Delisted coins are included. It is made anew when a day is published, and never mixed with the live record.

Decided here, about claims:
- A probability is published only where it was earned on days used neither to fit nor to choose. The protocol is
  decision 9 in `docs/decisions`, what it found is decision 10 and ships as `measured.json`. None was earned.
- What was not earned is null, and the reason says what followed such verdicts on the recorded days.
- A claim that was earned is null while its live record of 60 days or more is worse than the base rate: the upper bound
  of its skill is below 0. The leader measures that with the count of outcomes (`live_skill`).

Decided here, about what is known:
- The four sources are asked at once, each for two seconds at most. What raises, hangs or has nothing to tell is
  `rejected`; `stale` where a part that a rule looks at could not be refreshed. All of them answer from memory, so a
  verdict takes no I/O while it is held or its inputs stay the same, and one write when they change.
- Risk is what `coin/risk` says of the same instant, stale names included; without price and funding there is none. A
  trend that a young coin does not have yet is not known, and nothing is stale for that. Funding is `market.momentum`,
  stale after three hours without a payment, nothing after 48; regime and sentiment as long as their own rooms tell.
- `as_of` is the oldest observation among what was told and the rules look at: most of the day the close of the last
  daily bar. Where nothing was told it is when the price was last seen, so that asking again is no new verdict.
- Two times: when each fact was observed stands in the inputs; when we wrote them down, beside. The leader writes down
  those of every listed coin once a quarter of an hour, and within a minute of a change in how BTC's sources stand: what
  was known in the first seconds of a start is not passed off for what was known a minute later. At most four
  in a quarter of an hour. Kept for 100 days (230 coins: some 300 MB).
- `?as_of=` takes the newest inputs written down at or before that instant, a row's or those of a verdict issued (the
  ledger's are kept for ever; one that was held then goes before a row), of the present history alone: a replay's begins
  anew at midnight. Records stand for half an hour; for an instant that none covers the answer is 404, not a guess. It
  is judged by the rules as they are now, is no new verdict and enters no ledger; its `claims` and `record` are null,
  since what became of verdicts was not known then. An instant ahead is a 400.
- Coins that are not listed now are refused before anything is asked, also with `as_of`.
- An abstention costs nothing.
"""
