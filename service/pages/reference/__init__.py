"""The page `/docs`: the OpenAPI document as a page of this site, written without other knowledge of the API.

A template of its own, because no library keeps to the content security policy and passes axe-core 4.14 (measured:
swagger-ui 5.35, scalar 1.46, elements 9.0, redoc 2.5, rapidoc 9.3, openapi-explorer 2.4). None works without scripts.
"""
