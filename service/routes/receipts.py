"""A caller's own receipts: what it has paid for."""

from service.payments.receipts import ReceiptDesk
from service.routes.call import Call
from service.wire.envelope import Answer
from service.wire.queries import OfReceipt, ReceiptsQuery


async def get(receipts: ReceiptDesk, call: Call[OfReceipt, None]) -> Answer:
    """GET /api/receipts/{id}.

    Raises:
        ServiceError: NOT_FOUND where the caller has no such receipt, PAYMENT_PENDING where it has none yet.
    """
    if call.payer is not None:
        return Answer(await receipts.of_payer(call.payer, call.parameters.id))
    return Answer(await receipts.get(call.known_caller().user_id, call.parameters.id))


async def list_(receipts: ReceiptDesk, call: Call[ReceiptsQuery, None]) -> Answer:
    """GET /api/receipts.

    Raises:
        ServiceError: BAD_REQUEST for a cursor that is not of this list.
    """
    query = call.parameters
    return Answer(await receipts.page(call.known_caller().user_id, query.limit, query.cursor))
