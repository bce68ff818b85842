"""The official facilitator of the `x402` package behind HTTP, in a process of its own: PRIVATE_KEY RPC_URL.

Prints the port it listens on. It settles by sending real transactions through the JSON-RPC endpoint.
"""

import asyncio
import sys
import warnings

from aiohttp import web

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # web3 imports what websockets calls legacy
    from x402 import x402FacilitatorSync
    from x402.mechanisms.evm import FacilitatorWeb3Signer
    from x402.mechanisms.evm.exact import register_exact_evm_facilitator
    from x402.schemas.helpers import parse_payment_payload, parse_payment_requirements


def facilitator(key: str, rpc_url: str) -> x402FacilitatorSync:
    """The facilitator for Base Sepolia, v1 and v2."""
    signer = FacilitatorWeb3Signer(key, rpc_url)
    return register_exact_evm_facilitator(x402FacilitatorSync(), signer, networks="eip155:84532")


def app(settling: x402FacilitatorSync) -> web.Application:
    """`/supported`, `/verify` and `/settle`."""

    async def supported(_: web.Request) -> web.Response:
        return web.json_response(settling.get_supported().model_dump(by_alias=True))

    async def act(request: web.Request) -> web.Response:
        asked = await request.json()
        version = asked["x402Version"]
        payload = parse_payment_payload(asked["paymentPayload"])
        requirements = parse_payment_requirements(version, asked["paymentRequirements"])
        work = {"/settle": settling.settle, "/verify": settling.verify}[request.path]
        answer = await asyncio.to_thread(work, payload, requirements)
        return web.json_response(answer.model_dump(by_alias=True))

    served = web.Application()
    served.add_routes([web.get("/supported", supported), web.post("/verify", act), web.post("/settle", act)])
    return served


async def serve(key: str, rpc_url: str) -> None:
    """Serve until killed."""
    runner = web.AppRunner(app(facilitator(key, rpc_url)))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    sys.stdout.write(f"{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


asyncio.run(serve(*sys.argv[1:]))
