"""What paying begins with: the ceilings that hold, and the wallet that is meant."""

from collections.abc import Callable, Mapping
from functools import cache

from service.clients.cli.refusal import RefusalError
from service.clients.paying.authorization import Wallet
from service.clients.paying.bill import Ceilings, known_payee_only
from service.clients.paying.buyer import NO_WALLET, Buyer
from service.clients.paying.drawer import Drawer
from service.clients.profile import config
from service.clients.profile.folders import state_dir
from service.clients.signin.wallet import KEY, PASSWORD, open_wallet
from service.clock import Clock


def ceilings_of(chosen: config.Config, max_price: int | None) -> Ceilings:
    """The ceilings that hold: what is typed, else what is configured, else 0.10 a call and 1.00 a day.

    Args:
        chosen: The configuration.
        max_price: Most that this call may cost, millionths of a USDC, if that was typed; it may be more than what is
            configured. The day's ceiling holds all the same.
    """
    usual = Ceilings()
    call = usual.call if chosen.max_price_micro_usd is None else chosen.max_price_micro_usd
    day = usual.day if chosen.max_day_micro_usd is None else chosen.max_day_micro_usd
    return Ceilings(call if max_price is None else max_price, day)


def find_wallet(environment: Mapping[str, str], chosen: config.Config) -> Callable[[], Wallet] | None:
    """The wallet that is meant, still closed: the key in `VERDICT_WALLET_KEY`, else the configured keystore.

    Returns:
        Opens it, once: raises `RefusalError` where that fails, may ask for a password. None where no wallet is meant.
    """
    keystore = None if environment.get(KEY) else chosen.keystore
    if keystore is None and not environment.get(KEY):
        return None
    return cache(lambda: open_wallet(environment, keystore))


def unattended(
    environment: Mapping[str, str], clock: Clock, tell: Callable[[str], object], pause: Callable[[float], object]
) -> Buyer:
    """A buyer that asks nobody: what is below the ceilings is paid to whom it was paid before.

    Its wallet is opened at once, and only once.

    Args:
        environment: Of the process.
        clock: Time.
        tell: As `Buyer` has it.
        pause: As `Buyer` has it.

    Raises:
        RefusalError: If there is no wallet, or none that opens without a question.
    """
    chosen = config.read(environment)
    found = find_wallet(environment, chosen)
    if found is None:
        raise RefusalError(f"there is no wallet to pay with: {NO_WALLET}")
    if not environment.get(KEY) and not environment.get(PASSWORD):
        raise RefusalError(f"nobody can be asked for the password of {chosen.keystore}: set {PASSWORD}")
    found()
    return Buyer(
        drawer=Drawer(state_dir(environment), clock),
        ceilings=ceilings_of(chosen, None),
        agree=known_payee_only,
        open_wallet=found,
        tell=tell,
        pause=pause,
        clock=clock,
    )
