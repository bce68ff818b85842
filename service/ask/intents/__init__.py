"""What questions are about: the published table of phrases by which each intent is known.

A row names an intent, how strongly it is meant (`weight`), what has to be named beside it (`where`), and the phrases
that say it, over the words that reading leaves (`COIN`, `ASSET`, `CATEGORY`, `UNKNOWN`, `PERIOD`, `AMOUNT` for what it
recognised). The heaviest row of which a phrase occurs wins; of equals the earlier. So the table is the whole
classifier: what it does can be read, and changing it is changing a row. Nothing in it is learned, drawn or timed.

May import `wire` and nothing else of this room.

Weights stand for what overrules what:

- 90 and above: what is not for this service, whatever else is named: instructions, errands, other subjects, the future.
- 80 to 89: about the service itself: account, pricing, help, small talk, words to be explained.
- 60 to 79: a subject of its own that borrows other subjects' words: alerts on funding, history of a regime.
- 40 to 59: an aspect of what is named.
- below 40: what is left where nothing else was said. Such a thin row gives way to what a conversation was about.
"""
