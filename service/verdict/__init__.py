"""Verdicts: what is known of a coin, judged by published rules, recomputable by anyone, and held against its outcome.

May import rank 0, wire, storage, analytics, market and sentiment; nothing of the network, and no model.

**Rules** (`ruleset`, version 1; every bound, point and sentence is in its tables). Contributions sum to the score:

| rule | looks at | contributes |
|---|---|---|
| trend-daily, trend-weekly | the coin's trend | UP +1, HODL 0, DOWN -1 |
| regime-market, regime-coin | the market's regime, the coin's own | risk-on +0.5, neutral 0, risk-off -0.5 |
| funding-level | percent a year, against the crowd | ≥ 43.8 -0.5, ≥ 21.9 -0.25, ≤ -10.95 +0.25, ≤ -21.9 +0.5, else 0 |
| funding-momentum | mean of 24 hours less that of 7 days | ≥ 10 points +0.25, ≤ -10 -0.25, else 0 |
| sentiment | stance | accumulation, capitulation +0.25; distribution, euphoria -0.25; else 0 |

**Verdict**: score ≥ 2.5 strong-bull, ≥ 1 bull, ≤ -2.5 strong-bear, ≤ -1 bear, else neutral. `insufficient-evidence`
where the price is not known, neither trend is, or coverage is under 0.5; the score is still said, and claims nothing.

**Confidence**: coverage = weight of the rules whose input is known (a stale one half) / 4; agreement = |Σ c| / Σ|c| of
the contributions, 1 where nothing contributes. Agreement ≥ 0.75 high, ≥ 0.5 medium, else low. One level lower where a
source is not fulfilled or coverage is under 0.9, two where it is under 0.6. Without a verdict it is low.

Decided here, about the rules:
- Bounds belong to the outer band: 43.8 is crowded already. The bounds are those of the funding alerts, multiples of the
  venue's resting rate of 10.95, so that an alert and a verdict never tell two stories.
- Every rule is always shown. What is not known contributes nothing, flips nowhere, and is said to be missing.
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
- What became of past verdicts (`track_record`) is no part of it: a verdict does not change when the past is scored.
- A replay takes the inputs as they were saved. It shows that the verdict follows from them, not that they were true;
  that they were known at the time, the ledger shows.
"""
