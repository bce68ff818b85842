"""The page `/docs`: the OpenAPI document, written as a page of this site. It knows nothing else of the API.

Why by a template of its own, and by no library: none that npm has keeps to the site's policy (nothing inline, nothing
from elsewhere) and can be used by everybody. This document in Chromium under that policy, looked at by axe-core 4.14:

- swagger-ui-dist 5.35.0 (1.9 MB, 485 KB in gzip): runs, with 75 serious findings and worse: contrast, buttons within
  buttons, a choice without a name. What is within a route is written only where it is opened.
- @scalar/api-reference 1.46.4 (3.6 MB, 990 KB): 25 styles refused, its makers called twice, 40 such findings.
- @stoplight/elements 9.0.25 (2.4 MB, 662 KB): a style refused, a role without its state, 138 px too wide on a phone.
- redoc 2.5.4 (1.1 MB, 327 KB): its styles are refused, and it shows an error and nothing else.
- rapidoc 9.3.8 (0.9 MB, 218 KB), openapi-explorer 2.4.820 (0.8 MB, 222 KB): 39 to 81 styles refused, shown unstyled.

None of them shows anything without a script. This page is 0.2 MB (28 KB in gzip) and whole without its own, which
searches it and copies lines. A document that says more than ours (links, discriminators) needs words for that first.
"""
