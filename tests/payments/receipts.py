"""A receipt, as somebody may have got it."""

from typing import Final

from service.wire.payment import Receipt

RECEIPT: Final = Receipt(
    id="rcp_0000000000000000000001",
    route="coin.risk",
    method="GET",
    resource="https://api.example.org/api/cli/coin/risk/BTC",
    request_hash="a" * 64,
    response_hash="b" * 64,
    price_usdc="0.005",
    amount="5000",
    asset="0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    network="eip155:84532",
    payer="0x2B5AD5c4795c026514f8317c7a215E218DcCD6cF",
    pay_to="0x6813Eb9362372EEF6200f3b1dbC3f819671cBA69",
    nonce="0x" + "c" * 64,
    transaction="0x" + "d" * 64,
    settlement="remote",
    claimed_at="2025-07-25T12:00:00.000Z",
    settled_at="2025-07-25T12:00:02.000Z",
    user_id=7,
)
