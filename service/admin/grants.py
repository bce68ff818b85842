"""`verdict grants`: give users a tier, list what was given, take it back."""

import sys
from argparse import Namespace
from collections.abc import Mapping

from service.access.grants import GrantRow
from service.admin.folder import Folder, run_in_folder
from service.admin.options import end_of
from service.admin.output import print_json, print_table
from service.client.errors import DONE
from service.clock import iso


def add(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Grant a tier to a user, or to the user who proves a wallet."""

    async def give(folder: Folder) -> GrantRow:
        holder = arguments.wallet if arguments.user is None else arguments.user
        ends_ms = end_of(arguments.expires, folder.clock.now_ms())
        return await folder.admin.add_grant(holder, arguments.tier, ends_ms)

    grant = run_in_folder(environment, give)
    if arguments.json:
        print_json(_plain(grant))
        return DONE
    ends = f"until {iso(grant.expires_ms)}" if grant.expires_ms else "without an end"
    sys.stdout.write(f"Grant {grant.id}: {grant.tier} for {_holder(grant)}, {ends}.\n")
    return DONE


def show(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """List grants, newest first."""

    async def read(folder: Folder) -> list[GrantRow]:
        return await folder.admin.list_grants()

    grants = run_in_folder(environment, read)
    if arguments.json:
        print_json({"grants": [_plain(grant) for grant in grants]})
        return DONE
    rows = [[grant.id, grant.tier, _state(grant), _holder(grant)] for grant in grants]
    print_table(["ID", "TIER", "STATE", "FOR"], rows, nothing="There are no grants yet.")
    return DONE


def revoke(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Take a grant back at once."""

    async def end(folder: Folder) -> None:
        await folder.admin.revoke_grant(arguments.grant)

    run_in_folder(environment, end)
    sys.stdout.write(f"Grant {arguments.grant} is revoked; a running service knows within a second.\n")
    return DONE


def _plain(grant: GrantRow) -> dict[str, object]:
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


def _state(grant: GrantRow) -> str:
    if grant.revoked_ms is not None:
        return f"revoked {iso(grant.revoked_ms)[:10]}"
    return "no end" if grant.expires_ms is None else f"until {iso(grant.expires_ms)[:10]}"


def _holder(grant: GrantRow) -> str:
    return grant.wallet or f"user {grant.user_id}"
