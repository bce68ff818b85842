"""Pays with the official Python client of x402 v2 (httpx): PRIVATE_KEY URL TOKEN [QUESTION].

An empty TOKEN: without a key.
"""

import asyncio
import json
import sys

from eth_account import Account
from x402 import x402Client
from x402.http.clients import x402HttpxClient
from x402.mechanisms.evm.exact import register_exact_evm_client


async def pay(key: str, url: str, token: str, question: str | None = None) -> None:
    client = register_exact_evm_client(x402Client(), Account.from_key(key))
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with x402HttpxClient(client, headers=headers, timeout=60) as http:
        response = await (http.get(url) if question is None else http.post(url, json=json.loads(question)))
    json.dump({"status": response.status_code, "headers": dict(response.headers), "body": response.text}, sys.stdout)


asyncio.run(pay(*sys.argv[1:]))
