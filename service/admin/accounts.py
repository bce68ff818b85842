"""`verdict admin keys`, `grants` and `usage`: who may ask, and who has asked."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import click
import msgspec

from service.access.accounts import key_row
from service.access.audit import DayUsage, usage_by_day
from service.access.grants import GrantedTier, GrantRow
from service.access.quota import NO_USER
from service.admin.folder import Folder, NoServiceError, json_option, run_in_folder, say, show
from service.cli.environment import Duration, Environment, RowId, Utf8Text, VerdictCommand, VerdictGroup, exclude
from service.cli.output_format import put_document
from service.cli.terminal import tell
from service.client.errors import DONE, MISUSED, RefusalError
from service.clock import DAY_MS, LATEST_MS, day_of, iso
from service.settings import Settings
from service.wire.access import IssuedKey, KeyName, Tier

_TIERS: Final = ("free", "access", "pro")
_MONTH: Final = 30


@click.group("keys", cls=VerdictGroup)
def keys() -> None:
    """Create, list and revoke the API keys of every user.

    Your own keys at a service are those of `verdict keys`.
    """


@keys.command("create", example="verdict admin keys create --name laptop --tier pro")
@click.option("--name", type=Utf8Text(), required=True, help="What the key is for.")
@click.option("--tier", type=click.Choice(_TIERS), help="Also grant the user this tier.")
@click.option("--expires", type=Duration(), metavar="30d", help="When key and grant end: 90m, 12h, 30d, 52w (never).")
@click.option(
    "--wallet", type=Utf8Text(), metavar="0x…", help="The user who has proven this wallet; made if there is none."
)
@click.option("--user", type=RowId(), metavar="N", help="An existing user (a new one).")
@json_option
@click.pass_obj
def create_key(
    environment: Environment, name: str, tier: Tier | None, expires: int | None, wallet: str | None, user: int | None,
    *, json: bool,
) -> int:  # fmt: skip
    """Create a key, shown this once."""
    try:
        name = msgspec.convert(name, KeyName)
    except msgspec.ValidationError as error:
        raise RefusalError("--name takes 1 to 80 characters, none of them a control character", MISUSED) from error

    async def make(folder: Folder) -> IssuedKey:
        return await folder.admin.create_key(
            name, user_id=user, wallet=wallet, tier=tier or "free", expires_ms=_end(folder, expires)
        )

    issued = run_in_folder(environment.variables, make, make=True)
    if json:
        put_document(msgspec.to_builtins(issued))
        return DONE
    say(issued.key)
    tell(
        f"This key is shown once: keep it now. User {issued.user_id}, tier {issued.tier}, "
        f"{f'until {issued.expires_at}' if issued.expires_at else 'without an end'}, "
        f"for the service on {Settings.from_environ(environment.variables).data_dir}."
    )
    return DONE


@keys.command("list", example="verdict admin keys list")
@click.option("--user", type=RowId(), metavar="N", help="Only this user's.")
@json_option
@click.pass_obj
def list_keys(environment: Environment, user: int | None, *, json: bool) -> int:
    """List all keys, newest first."""

    async def read(folder: Folder) -> list[dict[str, object]]:
        found = await folder.admin.list_keys(user)
        return [{**msgspec.to_builtins(key_row(key)), "user_id": key.user_id} for key in found]

    with _naming_own_keys():
        found = run_in_folder(environment.variables, read)
    rows = [
        [
            key["prefix"],
            key["user_id"],
            _state(key["revoked_at"], key["expires_at"]),
            str(key["last_used_at"] or "-")[:10],
            key["name"],
        ]
        for key in found
    ]
    headers = ["PREFIX", "USER", "STATE", "LAST USED", "NAME"]
    return show(environment, {"keys": found}, headers, rows, "w", json=json, nothing="There are no keys yet.")


@keys.command("revoke", example="verdict admin keys revoke verdict_sk_4kYw0VqG")
@click.argument("prefix", type=Utf8Text(), help="The key's display prefix, as `admin keys list` shows it.")
@click.pass_obj
def revoke_key(environment: Environment, prefix: str) -> int:
    """Revoke a key at once."""
    with _naming_own_keys():
        run_in_folder(environment.variables, lambda folder: folder.admin.revoke_key(prefix))
    return say(f"{prefix} is revoked; a running service knows within a second.")


@contextmanager
def _naming_own_keys() -> Iterator[None]:
    """Say where a person's own keys are, to somebody without a data folder."""
    try:
        yield
    except NoServiceError as error:
        raise NoServiceError(f"{error}; your own keys at a service are those of `verdict keys`") from None


@click.group("grants", cls=VerdictGroup)
def grants() -> None:
    """Give tiers to users and wallets, list what was given, and take it back."""


@grants.command("add", example="verdict admin grants add --user 1 --tier access --expires 30d")
@click.option("--user", type=RowId(), metavar="N", help="A user.")
@click.option("--wallet", type=Utf8Text(), metavar="0x…", help="The user who proves this wallet.")
@click.option("--tier", type=click.Choice(_TIERS[1:]), required=True, help="The tier.")
@click.option("--expires", type=Duration(), metavar="30d", help="When it ends: 90m, 12h, 30d, 52w (never).")
@json_option
@click.pass_context
def add_grant(
    context: click.Context, user: int | None, wallet: str | None, tier: GrantedTier, expires: int | None, *, json: bool
) -> int:
    """Give a tier to a user or a wallet."""
    exclude(context, ["user", "wallet"])
    holder = user if wallet is None else wallet
    if holder is None:
        raise click.UsageError("Missing one of the options '--user', '--wallet'.", context)

    async def give(folder: Folder) -> GrantRow:
        return await folder.admin.add_grant(holder, tier, _end(folder, expires))

    grant = run_in_folder(context.obj.variables, give)
    if json:
        put_document(_grant(grant))
        return DONE
    ends = f"until {iso(grant.expires_ms)}" if grant.expires_ms else "without an end"
    return say(f"Grant {grant.id}: {grant.tier} for {_holder(grant)}, {ends}.")


@grants.command("list", example="verdict admin grants list")
@json_option
@click.pass_obj
def list_grants(environment: Environment, *, json: bool) -> int:
    """List all grants, newest first."""
    found = run_in_folder(environment.variables, lambda folder: folder.admin.list_grants())
    rows = [
        [grant.id, grant.tier, _state(_iso(grant.revoked_ms), _iso(grant.expires_ms)), _holder(grant)]
        for grant in found
    ]
    document = {"grants": [_grant(grant) for grant in found]}
    headers = ["ID", "TIER", "STATE", "FOR"]
    return show(environment, document, headers, rows, json=json, nothing="There are no grants yet.")


@grants.command("revoke", example="verdict admin grants revoke 1")
@click.argument("grant", type=RowId(), metavar="ID", help="The grant's id, as `admin grants list` shows it.")
@click.pass_obj
def revoke_grant(environment: Environment, grant: int) -> int:
    """End a grant at once."""
    run_in_folder(environment.variables, lambda folder: folder.admin.revoke_grant(grant))
    return say(f"Grant {grant} is revoked; a running service knows within a second.")


def _end(folder: Folder, duration_ms: int | None) -> int | None:
    return None if duration_ms is None else min(folder.clock.now_ms() + duration_ms, LATEST_MS)


def _grant(grant: GrantRow) -> dict[str, object]:
    return {
        "id": grant.id,
        "userId": grant.user_id,
        "wallet": grant.wallet,
        "tier": grant.tier,
        "createdAt": iso(grant.created_ms),
        "expiresAt": _iso(grant.expires_ms),
        "revokedAt": _iso(grant.revoked_ms),
    }


def _iso(at_ms: int | None) -> str | None:
    return None if at_ms is None else iso(at_ms)


def _state(revoked: object, expires: object) -> str:
    if revoked:
        return f"revoked {str(revoked)[:10]}"
    return f"until {str(expires)[:10]}" if expires else "no end"


def _holder(grant: GrantRow) -> str:
    return grant.wallet or f"user {grant.user_id}"


@click.command("usage", cls=VerdictCommand, example="verdict admin usage")
@click.option("--user", type=RowId(), metavar="N", help="Only this user.")
@json_option
@click.pass_obj
def usage(environment: Environment, user: int | None, *, json: bool) -> int:
    """Show how many questions users have asked.

    Refused and failed calls cost nothing and are not counted; a paid call is no question. The row `anonymous` stands
    for devices and payers without a token.
    """

    async def read(folder: Folder) -> tuple[int, list[DayUsage]]:
        return day_of(folder.clock.now_ms()), await folder.database.inspect(usage_by_day)

    today, used = run_in_folder(environment.variables, read)
    users: dict[int, list[DayUsage]] = {}
    for row in used:
        if user in {None, row.user_id}:
            users.setdefault(row.user_id, []).append(row)
    rows = [
        [
            "anonymous" if one == NO_USER else one,
            _questions(days, today, today),
            _questions(days, today - _MONTH + 1),
            _questions(days),
            sum(day.paid for day in days),
            _date(days[-1].day),
        ]
        for one, days in users.items()
    ]
    headers = ["USER", "TODAY", "30 DAYS", "ALL", "PAID", "LAST DAY"]
    document = {"users": [_usage(one, days, today) for one, days in users.items()]}
    return show(environment, document, headers, rows, json=json, nothing="No question has been asked yet.")


def _usage(user: int, days: Sequence[DayUsage], today: int) -> dict[str, object]:
    return {
        "userId": None if user == NO_USER else user,
        "today": _questions(days, today, today),
        "total": _questions(days),
        "paid": sum(day.paid for day in days),
        "days": {_date(used.day): used.questions for used in days if used.questions},
        "paidDays": {_date(used.day): used.paid for used in days if used.paid},
    }


def _questions(days: Iterable[DayUsage], first: int = 0, last: int | None = None) -> int:
    return sum(used.questions for used in days if used.day >= first and (last is None or used.day <= last))


def _date(day: int) -> str:
    return iso(day * DAY_MS)[:10]
