"""What a browser is shown: the market at a glance, a coin, the scorecard, one's account, and the page that signs in.

The rooms below are asked through the same bound routes as the API; what is shown here is what it answers. May import
routes and what lies below them; the wiring hands `Site` to `http`, which serves it under one policy.

Decisions:
- Pages are public and free, a shop window: rounded, for eyes, each made at most once in a few seconds, and counted to
  the request rate of the network that looks. They cost nobody a question and add nothing to the ledger of verdicts.
- HTML is written here and whole without a script. Scripts draw charts anew from the tables below them, sort, and follow
  streams; nothing is inline, nothing comes from elsewhere, so the policy (CSP) allows neither.
- A token lives in the tab that signed in (`sessionStorage`) and travels in `Authorization` only: there is no cookie, so
  no other site can spend what is left here. Following a stream says first that it costs a question.
- What one room cannot say is said to be missing, and the rest stands. What could not be refreshed is marked stale.
- uPlot draws: 50 KB, no dependency, fast on phones. It and whatever else is brought along lie in `static/vendor`, byte
  for byte as npm has them, pinned by their hashes (`make vendor`): nobody who runs this needs npm.
- Figures are tabular, colours are never alone (▲ ◆ ▼, signs, words), and axe-core finds nothing (`make browser`).
"""
