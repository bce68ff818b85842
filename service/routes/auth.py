"""Sign-In with Ethereum: nonce, login, logout."""

from service.access.desk import AccessDesk
from service.routes.call import Call
from service.wire.access import Login
from service.wire.envelope import Answer
from service.wire.queries import NoParameters


def nonce(access: AccessDesk, _: Call[NoParameters, None]) -> Answer:
    """POST /api/auth/nonce."""
    return Answer(access.nonce())


async def login(access: AccessDesk, call: Call[NoParameters, Login]) -> Answer:
    """POST /api/auth/login.

    Raises:
        ServiceError: AUTH_INVALID, with the reason; BAD_REQUEST where the message cannot be read.
    """
    return Answer(await access.login(call.body, call.known_network()))


async def logout(access: AccessDesk, call: Call[NoParameters, None]) -> Answer:
    """POST /api/auth/logout."""
    return Answer(await access.logout(call.known_caller()))
