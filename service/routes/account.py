"""The caller's own account: sign-in, tier, API keys and receipts."""

from service.access.accounts import AccountService
from service.payments.receipts import ReceiptService
from service.routes.call import Call
from service.wire.access import Login, NewKey, RotateKey
from service.wire.envelope import Answer
from service.wire.queries import NoParameters, OfPrefix, OfReceipt, ReceiptsQuery


def nonce(access: AccountService, _: Call[NoParameters, None]) -> Answer:
    """POST /api/auth/nonce."""
    return Answer(access.nonce())


async def login(access: AccountService, call: Call[NoParameters, Login]) -> Answer:
    """POST /api/auth/login.

    Raises:
        ServiceError: AUTH_INVALID, with the reason; BAD_REQUEST for a message that cannot be read.
    """
    return Answer(await access.login(call.body, call.known_network()))


async def logout(access: AccountService, call: Call[NoParameters, None]) -> Answer:
    """POST /api/auth/logout."""
    return Answer(await access.logout(call.known_caller()))


def tier(access: AccountService, call: Call[NoParameters, None]) -> Answer:
    """GET /api/cli/billing/tier.

    The tier that the gates apply to the credential. Its `meta` has no age: there is no underlying data.
    """
    return Answer(access.entitlement(call.known_caller()))


async def create_key(access: AccountService, call: Call[NoParameters, NewKey]) -> Answer:
    """POST /api/keys.

    Raises:
        ServiceError: BAD_REQUEST for an expiry in the past or too many keys.
    """
    return Answer(await access.create_key(call.known_caller(), call.body))


async def list_keys(access: AccountService, call: Call[NoParameters, None]) -> Answer:
    """GET /api/keys."""
    return Answer(await access.list_keys(call.known_caller()))


async def revoke_key(access: AccountService, call: Call[OfPrefix, None]) -> Answer:
    """DELETE /api/keys.

    Raises:
        ServiceError: NOT_FOUND if the caller has no such key.
    """
    return Answer(await access.revoke_key(call.known_caller(), call.parameters.prefix))


async def rotate_key(access: AccountService, call: Call[NoParameters, RotateKey]) -> Answer:
    """POST /api/keys/rotate.

    Raises:
        ServiceError: NOT_FOUND if the caller has no such key, BAD_REQUEST if it has ended.
    """
    return Answer(await access.rotate_key(call.known_caller(), call.body))


async def get_receipt(receipts: ReceiptService, call: Call[OfReceipt, None]) -> Answer:
    """GET /api/receipts/{id}.

    Raises:
        ServiceError: NOT_FOUND if the caller has no such receipt, PAYMENT_PENDING if it is not written yet.
    """
    if call.payer is not None:
        return Answer(await receipts.of_payer(call.payer, call.parameters.id))
    return Answer(await receipts.get(call.known_caller().user_id, call.parameters.id))


async def list_receipts(receipts: ReceiptService, call: Call[ReceiptsQuery, None]) -> Answer:
    """GET /api/receipts.

    Raises:
        ServiceError: BAD_REQUEST for a cursor that is not of this list.
    """
    query = call.parameters
    return Answer(await receipts.page(call.known_caller().user_id, query.limit, query.cursor))
