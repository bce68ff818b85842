"""Creates the objects of this package."""

from msgspec import Struct

from service.access.accounts import AccountService
from service.access.admin import AccessAdmin
from service.access.anonymous import AnonymousHasher
from service.access.api_keys import ApiKeyFormat
from service.access.authenticator import Authenticator, open_authenticator
from service.access.contract_wallets import ContractWallets
from service.access.rate_limiter import RateLimiter
from service.access.secrets import Secrets, check_key_secret
from service.access.sessions import SessionTokens
from service.access.sign_in import SignIn, sign_in_chain, sign_in_domains
from service.access.stream_expiry import StreamExpiry
from service.clock import Clock
from service.settings import Settings
from service.storage.database import Database


class Access(Struct, frozen=True):
    """What gates and routes need to authenticate callers."""

    authenticator: Authenticator
    accounts: AccountService
    rate_limiter: RateLimiter
    anonymous: AnonymousHasher
    stream_expiry: StreamExpiry


async def open_access(
    settings: Settings, secrets: Secrets, db: Database, clock: Clock, contracts: ContractWallets | None = None
) -> Access:
    """Create the objects of a running service. The caller runs `authenticator.watch` and `stream_expiry.watch`.

    Args:
        settings: With the bound port: the sign-in domain contains it.
        secrets: Of the data folder.
        db: The store.
        clock: Time.
        contracts: Asks the contracts of wallets; null without a node.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be read.
    """
    await check_key_secret(db, secrets, clock)
    keys = ApiKeyFormat(settings.key_prefix, secrets.key_pepper)
    sessions = SessionTokens(secrets.session_key)
    sign_in = SignIn(clock, secrets.session_key, sign_in_domains(settings), sign_in_chain(settings))
    authenticator = await open_authenticator(db, clock, keys, sessions)
    accounts = AccountService(
        db,
        clock,
        keys=keys,
        sessions=sessions,
        sign_in=sign_in,
        authenticator=authenticator,
        contracts=contracts,
        free_a_day=settings.free_accounts,
    )
    rate_limiter = RateLimiter(clock, settings.rate_per_minute, settings.rate_burst)
    anonymous = AnonymousHasher(secrets.anonymous_key, clock, (settings.free_ipv4_bits, settings.free_ipv6_bits))
    return Access(authenticator, accounts, rate_limiter, anonymous, StreamExpiry(clock, authenticator.is_valid))


def open_admin(settings: Settings, secrets: Secrets, db: Database, clock: Clock) -> AccessAdmin:
    """Create the operator's object."""
    return AccessAdmin(db, clock, ApiKeyFormat(settings.key_prefix, secrets.key_pepper))
