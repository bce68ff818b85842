"""The gates: pure ASGI classes given per route. None imports another, none keeps anything of a request on itself.

Each reads and writes `scope["verdict"]`, lets the request through or raises a `ServiceError`. A gate that need not wait
is a plain function that hands on what the application behind it returns: a coroutine less a request.
"""
