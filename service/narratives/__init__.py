"""Narratives: categories that news and podcasts talk about, how loudly, and how recently.

May import rank 0, wire, storage, market, sentiment and transcripts. Everything is computed from stored items; nothing
is fetched here.

**An item** is a headline or a passage of an episode that is about a category: it names it, or speaks of it in the
phrases of `transcripts.sectors`. A headline's sentiment is its score, -1 to 1; a passage's is 1 if bullish, -1 if
bearish, else 0.

**A narrative** is a category with items from at least two sources in the last seven days. Of these items:

- `mentions`: their number. `score`: their mean sentiment. `slope_24h`: the score less the mean of the seven days that
  ended a day ago; null without items then.
- `freshness_score`: Σ 0.5^(age / 24 h) / mentions. Of all narratives together: the same over their items, each once.
- `stance`: that of `category/sentiment` for the same name, which also counts price and funding; `neutral` where none
  is known.
- attention is *rising* if the newer 84 hours have at least 1.5 times as many items as the older 84 hours, *fading* in
  the opposite case, else *steady*.

Stored items are read again when news or episodes were added, and every five minutes, because ages change.
"""
