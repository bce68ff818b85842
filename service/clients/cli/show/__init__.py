"""How each answer is shown to people: a module an offer, named by its id, that gives the lines of `data` and `meta`.

Decisions:
- The key figures stand first, units beside every figure, how old it is in the last line; what is stale says so where it
  stands. Programs are given JSON instead, so a picture may leave out what it cannot show well.
- Nothing here knows where it is written, or what time it is: `meta.ts` is now.
- Figures are the service's. What is worked out here is arithmetic on them that a reader can redo: a difference, a
  share, what a rate comes to in dollars a day.
"""
