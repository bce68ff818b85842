"""`verdict admin quarantine`: which values the plausibility check holds back now, and why."""

from typing import Final

import click
import msgspec

from service.admin.folder import address_of, json_option, refusing, show
from service.cli.environment import Environment, VerdictCommand
from service.cli.formatting import span
from service.clock import SECOND_MS, iso, parse_iso
from service.market.plausibility.quarantine import QUARANTINE, WHOLE, QuarantinedValue, QuarantineReport
from service.settings import Settings
from service.storage.engine import Connection
from service.storage.store import open_snapshot
from service.wiring.clocks import choose_clock

DOCUMENTS: Final = (QUARANTINE, "rwa.quarantine")
_READ_REPORT: Final = "SELECT body FROM documents WHERE name = ? AND body IS NOT NULL"


@click.command("quarantine", cls=VerdictCommand, example="verdict admin quarantine")
@json_option
@click.pass_obj
def quarantine(environment: Environment, *, json: bool) -> int:
    """List values that are held back, and why.

    Answers go on with the last accepted value and name it stale. A value is accepted again once the upstream's answers
    are plausible, or once a second source confirms it.
    """
    with refusing():
        settings = Settings.from_environ(environment.variables)
        with open_snapshot(address_of(settings)) as connection:
            held = sorted(read_quarantined(connection), key=lambda value: (value.source, value.coin, value.field))
    now_ms = choose_clock(settings).now_ms()
    fields = ("source", "coin", "field", "reason")
    values = [{name: getattr(one, name) for name in fields} | {"since": iso(one.since_ms)} for one in held]
    return show(
        environment,
        {"quarantined": values},
        {
            "SOURCE": "source",
            "COIN": lambda value: "all" if value["coin"] == WHOLE else value["coin"],
            "FIELD": "field",
            "REASON": "reason",
            "FOR": lambda value: span((now_ms - parse_iso(value["since"])) / SECOND_MS),
        },
        json=json,
        nothing="No value is held back.",
        after=["", f"{len(values)} held back. `verdict admin doctor --upstreams` asks every upstream now."],
    )


def read_quarantined(connection: Connection) -> list[QuarantinedValue]:
    """Values that are held back now, of every report in the store."""
    found = [row for name in DOCUMENTS for row in connection.execute(_READ_REPORT, (name,)).fetchall()]
    return [value for row in found for value in msgspec.json.decode(row[0], type=QuarantineReport).now]
