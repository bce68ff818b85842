"""HTTP: one connection class, one Starlette application, and the gates in front of every route.

May import everything below; owns starlette, uvicorn and httptools (with wiring) and prometheus_client.

The way of a request: `protocol` (bytes and their limits) → `asgi_exchange` (ASGI) → `app` (guard, route by dictionary)
→ `cors`, `limits` → `gates/`: authentication, rate limit, parameters, payment, quota, body → `endpoint` → the route
function. `fast_path` calls the same gates and endpoints for GETs that nothing has to wait for. `build` puts every route
together. The decisions behind it are in `docs/decisions/0017-one-request-pipeline.md`.
"""
