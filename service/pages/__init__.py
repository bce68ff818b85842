"""Pages for browsers: the market, a coin, the scorecard, the API reference, the account and the sign-in page.

May import routes and the layers below. Data comes from the same route functions as the API. Pages are free, cached for
some seconds, rate-limited by network, and add nothing to the ledger. HTML is complete without scripts; the content
security policy allows nothing inline and no other origin. A token stays in the tab (`sessionStorage`) and is sent only
in `Authorization`; there are no cookies. Third-party files are in `static/vendor`, pinned by hash (`make vendor`).
"""
