"""Views: each answer as text for people.

A view takes `data` and `meta` of the envelope (of an answer without one: the document, and nothing), the `screen` that
is written to, and `chosen`: the parameters of the request. It yields lines.

Decisions:
- Key figures come first, every figure has a unit, the last line gives the data's age, and stale values are marked where
  they stand. Programs get JSON, so a view may leave things out.
- Views do not know the output stream or the time: "now" is `meta.ts`.
- Figures are the service's. Views only derive what a reader can recompute: differences, shares, a rate in dollars a
  day.
- Eight views are written by hand. All others are rows of `answers.VIEWS`; an answer without a row is shown by
  `plain`. `plain.view_of` finds the view.
"""
