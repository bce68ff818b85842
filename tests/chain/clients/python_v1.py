"""Pays with the official Python client of x402 v1 (httpx): PRIVATE_KEY URL TOKEN [QUESTION].

An empty TOKEN: without a key.
"""

import asyncio
import json
import sys

from eth_account import Account
from x402.clients.httpx import x402HttpxClient


async def pay(key: str, url: str, token: str, question: str | None = None) -> None:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with x402HttpxClient(account=Account.from_key(key), headers=headers, timeout=60) as http:
        response = await (http.get(url) if question is None else http.post(url, json=json.loads(question)))
    json.dump({"status": response.status_code, "headers": dict(response.headers), "body": response.text}, sys.stdout)


asyncio.run(pay(*sys.argv[1:]))
