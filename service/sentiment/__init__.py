"""Sentiment of coins, categories and the market, from news, the Fear & Greed index, funding and prices.

May import rank 0, feeds, wire, storage, upstream, analytics and market. The only network calls are the feeds; the
same texts at the same time give the same results.

**Scores** of headlines are probability of positive minus probability of negative (-1 to 1) by a softmax regression
(`classifier`, weights in `headline_model.json`, made by `python -m tests.sentiment.train`) over word stems, word pairs
and two scores: VADER's compound (Hutto and Gilbert 2014, MIT) alone, and over its lexicon corrected by ours (`scoring`,
each term with its weight and why). A score beyond ±0.2 is clear: positive or negative is then the most likely class.
`explain` lists what each word added. Passages of transcripts are scored by the lexicon alone (`scoring`): phrases and
denials are folded into one token, questions and suppositions keep a quarter of their weight. Names of coins are blanked
before scoring. `make eval` prints accuracy on labelled headlines beside the lexicon and VADER alone.

**Attribution** (`matcher`) tells coins from English words by what stands around a name; its docstring has the rules.

**News of a coin or category**: the items of the last seven days that are about it (of a category: about one of its
coins, or naming it). `score` = Σ w·s / (Σ w + 1), w halving every 24 hours: the 1 is a prior of no news, so that a
single headline moves a score half of the way. `slope_24h` = the score less the score a day before, null where either
is unknown; `mentions` = the number of items. Without items: null, null, 0.

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
6. 7 d ≤ 2 and crowd ≥ 2: `distribution` (positive crowd, price does not follow).
7. 7 d ≥ -2 and crowd ≤ -2: `accumulation` (negative crowd, price holds).
8. busy, 7 d < -2, not steep, crowd ≥ 0: `distribution` (a steady fall without alarm).
9. busy, 7 d > 2, not steep, crowd ≤ 0: `accumulation` (a steady rise without excitement).
10. else `neutral`.

In rules 6 to 9 the change of 24 h replaces an unknown one of 7 d. A summary is one sentence: stance, rule and figures.
Answers never repeat headlines: they are untrusted text.

Rules:
- Feeds are read every ten minutes, each dated by the upstream's clock; no item is dated later. The index is read every
  hour, and dated by the day that it is of: its last value enters nothing 48 hours after that day began.
- News without a certain date, or dated more than five minutes ahead, do not count.
- While a news feed fails, every summary names it.
- The same guid, or the same title within a day, counts once across feeds.
- Feeds fail independently. If all fail, results stay with their age and are marked stale; once the news is 48 hours
  old, only price and funding are used, as before the first news.
- `as_of` of a category is when the newest item of all was published (a category without news is not
  older), or when prices were observed where there are no news. Its coins come in the category's own order.
- The market follows the rules of a category that contains every item and every coin.
- A result is dated by the newest answer of a feed, or of prices without news.
- Items are scored and attributed when first seen, and again when the model, coins or categories change. They are kept
  for 30 days. Data of another origin is cleared.
"""
