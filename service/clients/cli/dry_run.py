"""What a command would send, and what that would cost; nothing is sent."""

from __future__ import annotations

from service.clients.cli import output, shape
from service.clients.cli.refusal import DONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping


def show(
    arguments: Namespace,
    environment: Mapping[str, str],
    method: str,
    target: str,
    *,
    price: str,
    counted: bool,
    body: object = None,
) -> int:
    """Print a request and its price.

    Args:
        arguments: The form that is wanted.
        environment: Of the process; where the service is.
        method: GET or POST.
        target: Path and query.
        price: In decimal USDC, once the quota is spent; empty where it cannot be paid for.
        counted: Whether it uses up a question.
        body: What is sent as JSON, if anything.
    """
    from service.clients.profile.caller import url_of  # noqa: PLC0415 - where it is shown, not where it is sent

    url = url_of(arguments, environment) + target
    if shape.form(arguments) != "human":
        sent = {"method": method, "url": url, "body": body, "counted": counted, "price_usdc": price or None}
        output.put(output.dump(sent) + "\n")
        return DONE
    lines = [f"{method} {output.readable(url)}"]
    if body is not None:
        lines.append(output.readable(output.dump(body)))
    output.put_lines([*lines, f"Would cost {_cost(price, counted=counted)}. Nothing was sent."])
    return DONE


def _cost(price: str, *, counted: bool) -> str:
    if not counted:
        return "nothing"
    return f"one question or, once they are spent, {price} USDC" if price else "one question"
