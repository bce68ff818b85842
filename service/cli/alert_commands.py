"""`verdict alerts …`: the caller's alert rules and their messages."""

import sys
from collections.abc import Mapping
from typing import Final

from service.cli.command import Arguments
from service.cli.formatting import moment
from service.cli.layout import table
from service.cli.output_format import format_of, put_json, put_lines
from service.cli.terminal import safe, screen_of
from service.client.answer import reading
from service.client.caller import open_client
from service.client.errors import DONE

PATH: Final = "/api/alerts"


def add_alert(arguments: Arguments, environment: Mapping[str, str]) -> int:
    """Create a rule and print its id, and the secret of a webhook."""
    answer = open_client(arguments, environment).ask("POST", PATH, body={"rule": arguments.rule, "to": arguments.to})
    if format_of(arguments) == "json":
        put_json(answer)
        return DONE
    with reading():
        made = answer.document
        lines = [f"Alert {made['id']}: {made['rule']}, sent to {made['to']}"]
        if made["secret"]:
            lines.append(f"Requests are signed (Standard Webhooks) with the secret {made['secret']}")
    put_lines(map(safe, lines))
    return DONE


def list_alerts(arguments: Arguments, environment: Mapping[str, str]) -> int:
    """List rules, oldest first."""
    answer = open_client(arguments, environment).ask("GET", PATH)
    if format_of(arguments) == "json":
        put_json(answer)
        return DONE
    with reading():
        rows = [[str(each["id"]), each["rule"], each["state"] or "-", each["to"]] for each in answer.document["alerts"]]
    empty = ["You have no alerts yet. `verdict alerts add` creates one."]
    put_lines(table(screen_of(environment, sys.stdout), ("ID", "RULE", "STATE", "TO"), rows) if rows else empty)
    return DONE


def list_deliveries(arguments: Arguments, environment: Mapping[str, str]) -> int:
    """List messages, newest first."""
    answer = open_client(arguments, environment).ask("GET", f"{PATH}/deliveries")
    if format_of(arguments) == "json":
        put_json(answer)
        return DONE
    with reading():
        rows = [
            [moment(each["created_at"]), each["status"], str(each["attempts"]), each["error"] or each["message"]]
            for each in answer.document["deliveries"]
        ]
    head = ("TIME", "STATUS", "ATTEMPTS", "MESSAGE")
    put_lines(table(screen_of(environment, sys.stdout), head, rows) if rows else ["There are no messages yet."])
    return DONE


def remove_alert(arguments: Arguments, environment: Mapping[str, str]) -> int:
    """Delete a rule."""
    open_client(arguments, environment).ask("DELETE", PATH, {"id": arguments.id})
    put_lines([f"Alert {arguments.id} is removed."])
    return DONE


def test_alert(arguments: Arguments, environment: Mapping[str, str]) -> int:
    """Send a test message."""
    open_client(arguments, environment).ask("POST", f"{PATH}/test", {"id": arguments.id})
    put_lines(["A test message is on its way. `verdict alerts deliveries` shows how its delivery went."])
    return DONE
