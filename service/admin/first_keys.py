"""The two keys that `make run` creates: one of tier `pro` without a quota, one of tier `free` with one.

Both are renewed at every start, because a key cannot be shown again. The `pro` key is stored for the service's address
in the profile of the user who starts it, so that `verdict BTC` works at once.
"""

import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from service.access.quota import PER_DAY, STARTER
from service.admin.folder import Folder
from service.client import credentials
from service.client.caller import url_of
from service.client.credentials import StoredCredential
from service.client.errors import RefusalError
from service.interpreter import command_line
from service.wire.access import Tier

NAMES: Final[Mapping[Tier, str]] = {"pro": "make run", "free": "make run, free"}

ORIGIN: Final = "make run"
"""Marks a stored credential that `make run` may replace."""


class FirstKeys(NamedTuple):
    """The two keys."""

    pro: str
    free: str


async def renew_first_keys(folder: Folder) -> FirstKeys:
    """Create both keys, each for its own user, and revoke those of the last start."""
    keys: dict[Tier, str] = {}
    for tier, name in NAMES.items():
        # Users with a wallet name their own keys; those of users without one are made here.
        live = [key for key in await folder.admin.list_keys() if key.revoked_ms is None and key.wallet is None]
        old = [key for key in live if key.name == name]
        for key in old:
            await folder.admin.revoke_key(str(key.prefix))
        holder = old[0].user_id if old else None
        issued = await folder.admin.create_key(name, user_id=holder)
        keys[tier] = issued.key
        if tier not in {"free", issued.tier}:
            await folder.admin.add_grant(issued.user_id, tier)
    return FirstKeys(keys["pro"], keys["free"])


def store(environment: Mapping[str, str], url: str, keys: FirstKeys) -> str:
    """Store the `pro` key for the service's address, unless what is stored there comes from elsewhere.

    Returns:
        A sentence that says which credential `verdict` uses. A profile that cannot be written stops nothing.
    """
    try:
        stored = credentials.find(environment, url)
        if stored is not None and stored.origin != ORIGIN:
            what = "session" if stored.kind == "session" else "key"
            return f"`verdict` uses the {what} that was stored for {url} before. `verdict logout` removes it."
        credentials.keep(environment, url, StoredCredential(keys.pro, "api_key", None, None, ORIGIN), keyring=False)
    except RefusalError as error:
        return f"The pro key is not stored. {error} Set VERDICT_TOKEN to the key."
    if environment.get("VERDICT_TOKEN"):
        return f"The pro key is stored for {url}, but VERDICT_TOKEN is set and takes precedence."
    return f"The pro key is stored for {url}: `verdict` uses it."


def welcome(environment: Mapping[str, str], url: str, keys: FirstKeys, *, data: str, page: bool) -> str:
    """The text that is printed when the service listens.

    Args:
        environment: Of the process. It decides which service `verdict` calls.
        url: Where the service listens.
        keys: The keys.
        data: `recorded` or `live`.
        page: Whether the service has pages.
    """
    verdict = command()
    with suppress(RefusalError):
        if url_of(None, environment) != url:
            verdict = f"VERDICT_URL={url} {verdict}"
    lines = [
        f"Verdict listens on {url} and loads {data} data. Ctrl-C stops it.",
        "",
        *([f"  Page      {url}/"] if page else []),
        f"  Pro key   {keys.pro}   no quota, to try everything",
        f"  Free key  {keys.free}   {STARTER} questions, then {PER_DAY['free']} a day",
        "",
        f"  Try       {verdict} BTC",
        f"            curl -s -H 'Authorization: Bearer {keys.pro}' {url}/api/cli/coin/risk/BTC",
        "",
        store(environment, url, keys),
        "Every `make run` makes both keys anew and revokes those of the last one.",
    ]
    folder = Path(sys.executable).parent
    if (folder / "verdict").exists():
        lines.append(f'To type `verdict` alone: export PATH="{folder}:$PATH"')
    return "\n{}\n\n".format("\n".join(lines))


def command() -> str:
    """What to type for `verdict`, relative to the current folder where it is below that."""
    program, *rest = command_line()
    with suppress(ValueError):
        program = str(Path(program).relative_to(Path.cwd()))
    return shlex.join([program, *rest])
