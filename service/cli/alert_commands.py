"""`verdict alerts …`: the caller's alert rules and their messages."""

from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import Final

import click

from service.cli.environment import Environment, Utf8Text, VerdictGroup, WholeNumber, json_option, url_option
from service.cli.formatting import moment
from service.cli.layout import table
from service.cli.output_format import put_lines
from service.cli.terminal import safe
from service.client.answer import RefusedError
from service.client.errors import DONE, REFUSED, RefusalError

PATH: Final = "/api/alerts"

_ID: Final = click.argument("alert_id", metavar="ID", type=WholeNumber(), help="Its id, as `alerts list` shows it.")

alerts = VerdictGroup("alerts", default="list", help="Messages about changes of prices, verdicts, funding and regime.")


@alerts.command("add", example='verdict alerts add "BTC > 120000" --to https://example.org/hook')
@click.argument(
    "rule", type=Utf8Text(), help='"BTC > 120000", "verdict BTC", "funding BTC", regime, "regime BTC" or breadth.'
)
@click.option(
    "--to",
    type=Utf8Text(),
    metavar="URL",
    required=True,
    help="Where to: https://…, telegram://BOT_TOKEN/CHAT_ID, ntfy://HOST/TOPIC or mailto:ADDRESS.",
)
@json_option
@url_option
@click.pass_obj
def add_alert(environment: Environment, rule: str, to: str, url: str | None, *, as_json: bool) -> int:
    """Get a message when a price, a verdict, funding, the regime or breadth changes."""
    answer = environment.client(url).ask("POST", PATH, body={"rule": rule, "to": to})

    def lines() -> Iterator[str]:
        made = answer.document
        yield safe(f"Alert {made['id']}: {made['rule']}, sent to {made['to']}")
        if made["secret"]:
            yield safe(f"Requests are signed (Standard Webhooks) with the secret {made['secret']}")

    return environment.show(answer, lines, as_json=as_json)


@alerts.command("list", example="verdict alerts list")
@json_option
@url_option
@click.pass_obj
def list_alerts(environment: Environment, url: str | None, *, as_json: bool) -> int:
    """List your alerts and their state, oldest first."""
    answer = environment.client(url).ask("GET", PATH)

    def lines() -> Iterable[str]:
        rows = [[str(each["id"]), each["rule"], each["state"] or "-", each["to"]] for each in answer.document["alerts"]]
        empty = ["You have no alerts yet. `verdict alerts add` creates one."]
        return table(environment.screen, ("ID", "RULE", "STATE", "TO"), rows) if rows else empty

    return environment.show(answer, lines, as_json=as_json)


@alerts.command("deliveries", example="verdict alerts deliveries")
@json_option
@url_option
@click.pass_obj
def list_deliveries(environment: Environment, url: str | None, *, as_json: bool) -> int:
    """List the messages of the last week, and whether they arrived."""
    answer = environment.client(url).ask("GET", f"{PATH}/deliveries")

    def lines() -> Iterable[str]:
        rows = [
            [moment(each["created_at"]), each["status"], str(each["attempts"]), each["error"] or each["message"]]
            for each in answer.document["deliveries"]
        ]
        head = ("TIME", "STATUS", "ATTEMPTS", "MESSAGE")
        return table(environment.screen, head, rows) if rows else ["There are no messages yet."]

    return environment.show(answer, lines, as_json=as_json)


def _ask_about(alert_id: int, environment: Environment, url: str | None, method: str, path: str) -> None:
    try:
        environment.client(url).ask(method, path, {"id": alert_id})
    except RefusedError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
        raise RefusalError(f"You have no alert {alert_id}. `verdict alerts list` lists yours.", REFUSED) from None


@alerts.command("remove", example="verdict alerts remove 3")
@_ID
@url_option
@click.pass_obj
def remove_alert(environment: Environment, alert_id: int, url: str | None) -> int:
    """Delete an alert."""
    _ask_about(alert_id, environment, url, "DELETE", PATH)
    put_lines([f"Alert {alert_id} is removed."])
    return DONE


@alerts.command("test", example="verdict alerts test 3")
@_ID
@url_option
@click.pass_obj
def test_alert(environment: Environment, alert_id: int, url: str | None) -> int:
    """Send a test message."""
    _ask_about(alert_id, environment, url, "POST", f"{PATH}/test")
    put_lines(["A test message is on its way. `verdict alerts deliveries` shows how its delivery went."])
    return DONE
