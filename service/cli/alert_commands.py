"""`verdict alerts …`: the caller's alert rules and their messages."""

from typing import Final

import click

from service.cli.environment import Environment, VerdictGroup, json_option, url_option
from service.cli.formatting import moment
from service.cli.layout import table
from service.cli.output_format import put_json, put_lines
from service.cli.parameters import Utf8Text, WholeNumber
from service.cli.terminal import safe
from service.client.answer import reading
from service.client.caller import open_client
from service.client.errors import DONE

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
    answer = open_client(url, environment.variables).ask("POST", PATH, body={"rule": rule, "to": to})
    if environment.prints_json(as_json):
        put_json(answer)
        return DONE
    with reading():
        made = answer.document
        lines = [f"Alert {made['id']}: {made['rule']}, sent to {made['to']}"]
        if made["secret"]:
            lines.append(f"Requests are signed (Standard Webhooks) with the secret {made['secret']}")
    put_lines(map(safe, lines))
    return DONE


@alerts.command("list", example="verdict alerts list")
@json_option
@url_option
@click.pass_obj
def list_alerts(environment: Environment, url: str | None, *, as_json: bool) -> int:
    """List your alerts and their state, oldest first."""
    answer = open_client(url, environment.variables).ask("GET", PATH)
    if environment.prints_json(as_json):
        put_json(answer)
        return DONE
    with reading():
        rows = [[str(each["id"]), each["rule"], each["state"] or "-", each["to"]] for each in answer.document["alerts"]]
    empty = ["You have no alerts yet. `verdict alerts add` creates one."]
    put_lines(table(environment.screen, ("ID", "RULE", "STATE", "TO"), rows) if rows else empty)
    return DONE


@alerts.command("deliveries", example="verdict alerts deliveries")
@json_option
@url_option
@click.pass_obj
def list_deliveries(environment: Environment, url: str | None, *, as_json: bool) -> int:
    """List the messages of the last week, and whether they arrived."""
    answer = open_client(url, environment.variables).ask("GET", f"{PATH}/deliveries")
    if environment.prints_json(as_json):
        put_json(answer)
        return DONE
    with reading():
        rows = [
            [moment(each["created_at"]), each["status"], str(each["attempts"]), each["error"] or each["message"]]
            for each in answer.document["deliveries"]
        ]
    head = ("TIME", "STATUS", "ATTEMPTS", "MESSAGE")
    put_lines(table(environment.screen, head, rows) if rows else ["There are no messages yet."])
    return DONE


@alerts.command("remove", example="verdict alerts remove 3")
@_ID
@url_option
@click.pass_obj
def remove_alert(environment: Environment, alert_id: int, url: str | None) -> int:
    """Delete an alert."""
    open_client(url, environment.variables).ask("DELETE", PATH, {"id": alert_id})
    put_lines([f"Alert {alert_id} is removed."])
    return DONE


@alerts.command("test", example="verdict alerts test 3")
@_ID
@url_option
@click.pass_obj
def test_alert(environment: Environment, alert_id: int, url: str | None) -> int:
    """Send a test message."""
    open_client(url, environment.variables).ask("POST", f"{PATH}/test", {"id": alert_id})
    put_lines(["A test message is on its way. `verdict alerts deliveries` shows how its delivery went."])
    return DONE
