"""A process that races others for payments: open, say so, wait for a line, begin, settle what is its own, tell.

Arguments: the database, and how many payments. Every process makes the same ones. One letter a payment: f(resh), s(ame)
or o(ther), where each process is another user for the second half.
"""

import asyncio
import sys
from pathlib import Path

from msgspec.structs import replace

from service.clock import SystemClock
from service.payments.records import new_claim
from tests.payments.shop import ANSWER, TRANSACTION, Shop, purchase
from tests.payments.signing import payment

SIGNED = replace(payment(), valid_before_s=2**40)


async def pay(shop: Shop, number: int, user_id: int) -> str:
    claim = new_claim(purchase(user_id), replace(SIGNED, nonce=f"0x{number:064x}"), SystemClock().now_ms())
    record = await shop.ledger.begin_settlement(claim, ANSWER)
    if record.receipt_id != claim.receipt_id:
        return "s" if record.purchase == claim.purchase else "o"
    shop.ledger.delivered(await shop.ledger.record_settled(record, TRANSACTION))
    return "f"


async def main(database: str, count: str) -> None:
    shop = await Shop(Path(database), SystemClock()).open()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    user_id = int(await asyncio.to_thread(sys.stdin.readline))
    users = [1 if number < int(count) // 2 else user_id for number in range(int(count))]
    claims = await asyncio.gather(*(pay(shop, number, user) for number, user in enumerate(users)))
    await shop.close()
    sys.stdout.write("".join(claims))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
