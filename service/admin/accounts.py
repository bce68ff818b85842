"""`verdict admin keys`, `grants` and `usage`: API keys, tiers, and the questions that users have asked."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import click
import msgspec

from service.access.accounts import key_row
from service.access.audit import DayUsage, usage_by_day
from service.access.grants import GrantedTier, GrantRow
from service.access.quota import NO_USER
from service.admin.folder import Column, Folder, NoServiceError, json_option, run_in_folder, say, show
from service.cli.environment import Duration, Environment, RowId, Utf8Text, VerdictCommand, VerdictGroup, exclude
from service.cli.output_format import put_document
from service.cli.terminal import tell
from service.client.errors import DONE, MISUSED, RefusalError
from service.clock import DAY_MS, LATEST_MS, day_of, iso
from service.settings import Settings
from service.wire.access import IssuedKey, KeyName, Tier

T = TypeVar("T")

_TIERS: Final = ("free", "access", "pro")
_MONTH: Final = 30
_LIVE_KEYS: Final = """
SELECT user_id, name FROM credentials
WHERE kind = 'api_key' AND revoked_ms IS NULL AND (expires_ms IS NULL OR expires_ms > ?)
GROUP BY user_id, name ORDER BY max(id) DESC
"""


@click.group("keys", cls=VerdictGroup)
def keys() -> None:
    """Create, list and revoke the API keys of every user.

    For your own keys at a service, run `verdict keys`.
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
    """Create a key. It is shown once."""
    try:
        name = msgspec.convert(name, KeyName)
    except msgspec.ValidationError as error:
        raise RefusalError("--name takes 1 to 80 characters without control characters.", MISUSED) from error

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
        f"This key is shown once: keep it now. It is for user {issued.user_id}, tier {issued.tier}, "
        f"{_ends(issued.expires_at)}, of the service on {Settings.from_environ(environment.variables).data_dir}."
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

    return show(
        environment,
        {"keys": _on_keys(environment, read)},
        {
            "PREFIX": "prefix",
            "USER": "user_id",
            "STATE": lambda key: _state(key["revoked_at"], key["expires_at"]),
            "LAST USED": lambda key: _day(key["last_used_at"]),
            "NAME": "name",
        },
        "w",
        json=json,
        nothing="There are no keys yet.",
    )


@keys.command("revoke", example="verdict admin keys revoke verdict_sk_4kYw0VqG")
@click.argument("prefix", type=Utf8Text(), help="The key's display prefix, as `admin keys list` shows it.")
@click.pass_obj
def revoke_key(environment: Environment, prefix: str) -> int:
    """Revoke a key at once."""
    _on_keys(environment, lambda folder: folder.admin.revoke_key(prefix))
    return say(f"{prefix} is revoked. A running service stops accepting it within a second.")


def _on_keys(environment: Environment, work: Callable[[Folder], Awaitable[T]]) -> T:
    """`run_in_folder`, with a hint at `verdict keys` where there is no data folder."""
    try:
        return run_in_folder(environment.variables, work)
    except NoServiceError as error:
        raise NoServiceError(f"{error} For your own keys at a service, run `verdict keys`.") from None


@click.group("grants", cls=VerdictGroup)
def grants() -> None:
    """Grant tiers to users and wallets, list and revoke them."""


@grants.command("add", example="verdict admin grants add --user 1 --tier access --expires 30d")
@click.option("--user", type=RowId(), metavar="N", help="A user.")
@click.option("--wallet", type=Utf8Text(), metavar="0x…", help="The user who proves this wallet.")
@click.option("--tier", type=click.Choice(_TIERS[1:]), required=True, help="The tier.")
@click.option("--expires", type=Duration(), metavar="30d", help="When it ends: 90m, 12h, 30d, 52w (never).")
@json_option
@click.pass_context
def add_grant(
    context: click.Context, user: int | None, wallet: str | None, tier: GrantedTier, expires: int | None,
    *, json: bool,
) -> int:  # fmt: skip
    """Grant a tier to a user or a wallet."""
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
    return say(f"Grant {grant.id}: {grant.tier} for {_holder(_grant(grant))}, {_ends(_iso(grant.expires_ms))}.")


@grants.command("list", example="verdict admin grants list")
@json_option
@click.pass_obj
def list_grants(environment: Environment, *, json: bool) -> int:
    """List all grants, newest first."""

    async def read(folder: Folder) -> list[dict[str, object]]:
        names = await _live_names(folder)
        found = await folder.admin.list_grants()
        return [_grant(grant, names=names.get(grant.user_id or NO_USER, [])) for grant in found]

    return show(
        environment,
        {"grants": run_in_folder(environment.variables, read)},
        {"ID": "id", "TIER": "tier", "STATE": lambda grant: _state(grant["revokedAt"], grant["expiresAt"]),
         "FOR": _holder},
        json=json,
        nothing="There are no grants yet.",
    )  # fmt: skip


@grants.command("revoke", example="verdict admin grants revoke 1")
@click.argument("grant", type=RowId(), metavar="ID", help="The grant's id, as `admin grants list` shows it.")
@click.pass_obj
def revoke_grant(environment: Environment, grant: int) -> int:
    """End a grant at once."""
    run_in_folder(environment.variables, lambda folder: folder.admin.revoke_grant(grant))
    return say(f"Grant {grant} is revoked. A running service applies this within a second.")


def _end(folder: Folder, duration_ms: int | None) -> int | None:
    return None if duration_ms is None else min(folder.clock.now_ms() + duration_ms, LATEST_MS)


def _grant(grant: GrantRow, **names: Sequence[str]) -> dict[str, object]:
    return {
        "id": grant.id,
        "userId": grant.user_id,
        **names,
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
        return f"revoked {_day(revoked)}"
    return f"until {_day(expires)}" if expires else "no end"


def _day(instant: object) -> str:
    return str(instant or "-")[:10]


def _ends(expires: str | None) -> str:
    return f"until {expires}" if expires else "no expiry"


def _holder(grant: Mapping[str, Any]) -> str:
    names = ", ".join(grant.get("names", ()))
    return grant["wallet"] or f"user {grant['userId']}" + (f" ({names})" if names else "")


def _names(row: Mapping[str, Any]) -> str | None:
    return ", ".join(row["names"]) or None


async def _live_names(folder: Folder) -> dict[int, list[str]]:
    """The names of the keys that work now, newest first and each once, by user."""
    names: dict[int, list[str]] = {}
    for user, name in await folder.database.read(_LIVE_KEYS, (folder.clock.now_ms(),)):
        names.setdefault(user, []).append(name)
    return names


@click.command("usage", cls=VerdictCommand, example="verdict admin usage")
@click.option("--user", type=RowId(), metavar="N", help="Only this user.")
@json_option
@click.pass_obj
def usage(environment: Environment, user: int | None, *, json: bool) -> int:
    """Show how many questions users have asked.

    Refused and failed calls cost nothing and are not counted; a paid call is no question. The row `anonymous` stands
    for devices and payers without a token.
    """

    async def read(folder: Folder) -> tuple[str, list[dict[str, object]]]:
        names, today = await _live_names(folder), day_of(folder.clock.now_ms())
        users: dict[int, list[DayUsage]] = {}
        for row in await folder.database.inspect(usage_by_day):
            if user in {None, row.user_id}:
                users.setdefault(row.user_id, []).append(row)
        return _date(today - _MONTH + 1), [_usage(one, names.get(one, []), days, today) for one, days in users.items()]

    since, users = run_in_folder(environment.variables, read)
    columns: dict[str, Column] = {
        "USER": lambda one: one["userId"] or "anonymous",
        "TODAY": "today",
        "30 DAYS": lambda one: sum(asked for day, asked in one["days"].items() if day >= since),
        "ALL": "total",
        "PAID": "paid",
        "LAST DAY": lambda one: max([*one["days"], *one["paidDays"]]),
        "NAME": _names,
    }
    nothing = "No question has been asked yet."
    return show(environment, {"users": users}, columns, "wwwwww", json=json, nothing=nothing)


def _usage(user: int, names: Sequence[str], days: Sequence[DayUsage], today: int) -> dict[str, object]:
    return {
        "userId": None if user == NO_USER else user,
        "names": names,
        "today": sum(used.questions for used in days if used.day == today),
        "total": sum(used.questions for used in days),
        "paid": sum(used.paid for used in days),
        "days": {_date(used.day): used.questions for used in days if used.questions},
        "paidDays": {_date(used.day): used.paid for used in days if used.paid},
    }


def _date(day: int) -> str:
    return iso(day * DAY_MS)[:10]
