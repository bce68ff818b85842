"""What a payer has: no answer of these is recorded with something in it."""

from typing import Any

import msgspec

from service.wire.payment import ReceiptList, SignedReceipt

_RECEIPT: dict[str, Any] = {
    "id": "rcp_7f3a",
    "route": "coin.risk",
    "method": "GET",
    "resource": "http://127.0.0.1:8402/api/cli/coin/risk/BTC",
    "request_hash": "11" * 32,
    "response_hash": "22" * 32,
    "price_usdc": "0.005",
    "amount": "5000",
    "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    "network": "eip155:84532",
    "payer": "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A",
    "pay_to": "0x000000000000000000000000000000000000dEaD",
    "nonce": "0x" + "33" * 32,
    "transaction": "0x" + "44" * 32,
    "settlement": "ledger",
    "claimed_at": "2025-07-25T12:00:00.000Z",
    "settled_at": "2025-07-25T12:00:01.250Z",
    "user_id": 7,
    "schema": "verdict-receipt/1",
}

SIGNED: dict[str, Any] = {
    "receipt": _RECEIPT,
    "signer": "0x5a12e180d23973EC190c97b0dAfae64eD151e5e5",
    "signature": "0x" + "55" * 65,
}
RECEIPTS: dict[str, Any] = {
    "receipts": [_RECEIPT, {**_RECEIPT, "id": "rcp_0001", "route": "question", "price_usdc": "0.05"}],
    "next_cursor": "AAABmD3ZfAAAAAAAAAAAbhNvt9Gy4-MTRWPy3LsjOhw",
}

msgspec.convert(SIGNED, SignedReceipt)
msgspec.convert(RECEIPTS, ReceiptList)
