"""What a question says, before anybody asks what it wants: its language, what it names, how far back, of what.

`tokens` cuts a text into words, `known` holds every name by its words and how sure one has to be of it, `spelling`
mends typos, `mentions` decides which names are meant, `exclusions` which of them are to be left out, `strangers` what
is named and is none here, `periods` and `amounts` read how far back and how much of what, `traits` what the remaining
words ask, and `reader` puts it together.

May import the market's directory and what the sentiment room knows of names; of `ask` only the glossary's keys.

What it decided:

- Reading is pure, and its cost is bounded whatever it reads: every pass is linear in the words of a text, and the few
  dear ones (spelling, the closest tickers) are made for so many words and no more.
- In a question to a market service a name counts sooner than in a headline: "chainlink" always, "link" where a question
  has its place for a coin. Words that every sentence has ("not", "me", "one") need more than that.
- A thousand of a coin is not that coin: `PEPE` is said to be unknown and `KPEPE` suggested, its name likewise.
"""
