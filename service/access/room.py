"""Puts the identity half of the room together."""

from msgspec import Struct

from service.access.desk import AccessDesk
from service.access.devices import VisitorForm
from service.access.doorkeeper import Doorkeeper, open_doorkeeper
from service.access.keys import KeyForm
from service.access.oversight import Oversight
from service.access.pepper import check_pepper
from service.access.rate import RequestRate
from service.access.registrar import Registrar
from service.access.secrets import Secrets
from service.access.sessions import SessionForm
from service.access.signin import SignIn, sign_in_chain, sign_in_domains
from service.clock import Clock
from service.settings import Settings
from service.storage.database import Database


class Access(Struct, frozen=True):
    """Everything the gates and routes need to know who is calling."""

    doorkeeper: Doorkeeper
    desk: AccessDesk
    rate: RequestRate
    visitors: VisitorForm
    oversight: Oversight


async def open_access(settings: Settings, secrets: Secrets, db: Database, clock: Clock) -> Access:
    """Build the room for a running service. `doorkeeper.watch()` and `oversight.watch()` are the caller's to run.

    Args:
        settings: With the port as it was bound, since the sign-in domain holds it.
        secrets: Of the data folder.
        db: The store.
        clock: Time.

    Raises:
        ServiceError: `UNAVAILABLE` if the store does not answer.
    """
    await check_pepper(db, secrets, clock)
    keys = KeyForm(settings.key_prefix, secrets.key_pepper)
    sessions = SessionForm(secrets.session_key)
    sign_in = SignIn(clock, secrets.session_key, sign_in_domains(settings), sign_in_chain(settings))
    doorkeeper = await open_doorkeeper(db, clock, keys, sessions)
    desk = AccessDesk(
        db,
        clock,
        keys=keys,
        sessions=sessions,
        sign_in=sign_in,
        doorkeeper=doorkeeper,
        free_a_day=settings.free_accounts,
    )
    rate = RequestRate(clock, settings.rate_per_minute, settings.rate_burst)
    visitors = VisitorForm(secrets.visitor_key, clock, (settings.free_ipv4_bits, settings.free_ipv6_bits))
    return Access(doorkeeper, desk, rate, visitors, Oversight(clock, doorkeeper.valid))


def open_registrar(settings: Settings, secrets: Secrets, db: Database, clock: Clock) -> Registrar:
    """Build the operator's front."""
    return Registrar(db, clock, KeyForm(settings.key_prefix, secrets.key_pepper))
