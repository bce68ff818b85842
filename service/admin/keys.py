"""`verdict keys`: create, list, revoke."""

import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

import msgspec

from service.access.accounts import key_row
from service.admin.folder import Folder, NoServiceError, run_in_folder
from service.admin.options import end_of
from service.admin.output import print_json, print_table
from service.client.errors import DONE, MISUSED, RefusalError
from service.client.profile import credentials
from service.client.profile.connection import url_of
from service.settings import Settings
from service.wire.access import IssuedKey, KeyName


def create(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Make a key and print it, this once."""
    try:
        name = msgspec.convert(arguments.name, KeyName)
    except msgspec.ValidationError as error:
        raise RefusalError("--name takes 1 to 80 characters, none of them a control character", MISUSED) from error

    async def make(folder: Folder) -> IssuedKey:
        return await folder.admin.create_key(
            name,
            user_id=arguments.user,
            wallet=arguments.wallet,
            tier=arguments.tier or "free",
            expires_ms=end_of(arguments.expires, folder.clock.now_ms()),
        )

    with _or_mine(arguments, environment) as url:
        issued = run_in_folder(environment, make, make=url is None or "VERDICT_DATA_DIR" in environment)
    if arguments.json:
        print_json(msgspec.to_builtins(issued))
        return DONE
    sys.stdout.write(f"{issued.key}\n")
    sys.stderr.write(
        f"This key is shown once: keep it now. User {issued.user_id}, tier {issued.tier}, "
        f"{f'until {issued.expires_at}' if issued.expires_at else 'without an end'}, "
        f"for the service on {Settings.from_environ(environment).data_dir}.\n"
    )
    return DONE


def show(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """List keys, newest first."""

    async def read(folder: Folder) -> list[dict[str, object]]:
        keys = await folder.admin.list_keys(arguments.user)
        return [{**msgspec.to_builtins(key_row(key)), "user_id": key.user_id} for key in keys]

    with _or_mine(arguments, environment):
        keys = run_in_folder(environment, read)
    if arguments.json:
        print_json({"keys": keys})
        return DONE
    rows = [[key["prefix"], key["user_id"], _state(key), _day(key["last_used_at"]), key["name"]] for key in keys]
    print_table(["PREFIX", "USER", "STATE", "LAST USED", "NAME"], rows, nothing="There are no keys yet.")
    return DONE


def revoke(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """End a key at once."""

    async def end(folder: Folder) -> None:
        await folder.admin.revoke_key(arguments.prefix)

    with _or_mine(arguments, environment):
        run_in_folder(environment, end)
    sys.stdout.write(f"{arguments.prefix} is revoked; a running service knows within a second.\n")
    return DONE


@contextmanager
def _or_mine(arguments: Namespace, environment: Mapping[str, str]) -> Iterator[str | None]:
    """Tell who is signed in somewhere, and keeps no service here, how to act there."""
    url = _signed_in_at(arguments, environment)
    try:
        yield url
    except NoServiceError as refusal:
        if url is None:
            raise
        raise RefusalError(f"{refusal}; or add --mine for your own keys at {url}, where you are signed in") from None


def _signed_in_at(arguments: Namespace, environment: Mapping[str, str]) -> str | None:
    # What is kept for clients may be broken: that is no matter of the folder's.
    with suppress(RefusalError):
        url = url_of(arguments, environment)
        kept = credentials.find(environment, url)
        return url if kept is not None and kept.kind == "session" else None
    return None


def _state(key: Mapping[str, object]) -> str:
    if key["revoked_at"]:
        return f"revoked {_day(key['revoked_at'])}"
    return f"until {_day(key['expires_at'])}" if key["expires_at"] else "no end"


def _day(instant: object) -> str:
    return str(instant)[:10] if instant else "-"
