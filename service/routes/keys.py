"""A caller's own API keys: create, list, revoke, rotate."""

from service.access.desk import AccessDesk
from service.routes.call import Call
from service.wire.access import NewKey, RotateKey
from service.wire.envelope import Answer
from service.wire.queries import NoParameters, OfPrefix


async def create(access: AccessDesk, call: Call[NoParameters, NewKey]) -> Answer:
    """POST /api/keys.

    Raises:
        ServiceError: BAD_REQUEST where the expiry is not good or the caller has too many keys.
    """
    return Answer(await access.create_key(call.known_caller(), call.body))


async def list_(access: AccessDesk, call: Call[NoParameters, None]) -> Answer:
    """GET /api/keys."""
    return Answer(await access.list_keys(call.known_caller()))


async def revoke(access: AccessDesk, call: Call[OfPrefix, None]) -> Answer:
    """DELETE /api/keys.

    Raises:
        ServiceError: NOT_FOUND where the caller has no such key.
    """
    return Answer(await access.revoke_key(call.known_caller(), call.parameters.prefix))


async def rotate(access: AccessDesk, call: Call[NoParameters, RotateKey]) -> Answer:
    """POST /api/keys/rotate.

    Raises:
        ServiceError: NOT_FOUND where the caller has no such key, BAD_REQUEST where it has ended.
    """
    return Answer(await access.rotate_key(call.known_caller(), call.body))
