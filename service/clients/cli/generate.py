"""Writes `catalogue.py`: a command for every offer whose answer is asked for and shown (`make commands`).

Paths, parameters, choices, defaults, prices and entries are taken from the offers. Here stands only what they do not
say: what a command is called where the offer's id is no good name, what each action shows, how an option is explained.
"""

import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from service.clients.cli.command import CONNECTING, OFFERED, PAYING, SHAPING, Argument, Command, Route
from service.wire.manifest import ParameterRow
from service.wire.offers import OFFERS, Offer
from service.wire.schema import components, parameter_rows

CATALOGUE: Final = Path(__file__).with_name("catalogue.py")

BY_HAND: Final = frozenset(
    {
        "question", "watch", "auth.nonce", "auth.login", "auth.logout", "keys.create", "keys.list", "keys.revoke",
        "keys.rotate",
    }
)  # fmt: skip
"""Offers with commands that are written by hand: they do more than show an answer."""

_WORDS: Final[Mapping[str, str]] = {
    "receipts.list": "billing receipts",
    "receipts.get": "billing receipt",
    "signal.quality": "signal-quality",
}
_BARE: Final = frozenset({"billing.tier"})

_ACTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "regime": {
        "active": "market regime, and the positions that it holds",
        "signals": "what the regime last said of each coin, and why",
        "confidence": "how sure the regime is of each coin",
        "history": "what following the regime of a coin would have brought",
    },
    "transcripts": {
        "highlights": "highlights of podcasts and videos on coins, sectors and the economy",
        "sources": "the podcasts and videos that are listened to",
    },
    "wallets": {
        "watchlist": "wallets that are watched",
        "movements": "what moved of one token in and out of watched wallets",
    },
    "walkforward": {
        "signals": "walk-forward signals of three strategies, newest first",
        "positions": "walk-forward positions that are still held",
        "outcomes": "walk-forward positions that have ended, and what all of them brought",
    },
}
"""Actions in the order in which they are listed; the first is what the offer does where none is named."""

_NOT_OF: Final[Mapping[tuple[str, str], frozenset[str]]] = {
    ("transcripts", "sources"): frozenset({"coin", "sector", "macro", "source", "since", "limit", "cursor"}),
    ("wallets", "watchlist"): frozenset({"contract"}),
    ("coins", ""): frozenset({"fields"}),
}
"""Parameters that an action does not take; no schema says so. `--fields` of every command does what `fields` does."""

_NEEDED: Final = {("regime", "history"): "symbol", ("wallets", "movements"): "contract"}
"""What an action cannot do without: a test holds it to the offers' `required_when`."""

_PLACED: Final = frozenset({("regime", "history")})
"""Where that is given by its place."""

_SAID: Final[Mapping[str, str]] = {
    "address": "only this wallet, such as 0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    "asset": "the coin, such as BTC",
    "as_of": "judge by what was known then, such as 2026-01-31T00:00:00Z",
    "category": "only coins of this category, such as 'Layer 1 (L1)'",
    "coin": "only on this coin, such as BTC",
    "contract": "the token's contract: 0x and 40 hexadecimal digits",
    "context": "also what the figures mean: velocity, leadership, divergences",
    "count": "how many hours or days back",
    "cursor": "go on where a page ended: its next_cursor",
    "dex": "only assets of this venue's dex",
    "limit": "most entries in a page",
    "min_volume": "only coins with at least this 24-hour volume",
    "macro": "only on this topic of the economy",
    "order": "ascending or descending",
    "sector": "only on this category, such as 'Layer 1 (L1)'",
    "signal_type": "whose record is shown",
    "since": "only from then on, such as 2026-01-31T00:00:00Z",
    "sort": "field that coins are ordered by",
    "source": "only of this source, as `verdict transcripts sources` lists it",
    "symbol": "only this coin, such as BTC",
    "symbols": "only these coins, such as BTC,ETH,SOL",
    "top": "most assets, the most traded first",
    "trend": "only coins with this daily trend",
    "type": "only assets of this type",
    "unit": "hours or days",
    "verdict": "only coins with this verdict",
}
_METAVARS: Final[Mapping[str, str]] = {
    "count": "N",
    "limit": "N",
    "top": "N",
    "as_of": "INSTANT",
    "since": "INSTANT",
    "min_volume": "USD",
    "symbols": "A,B",
}

_SCORECARD: Final = (("asset", "BTC"), ("signal_type", "verdict"))
"""What `scorecard` asks `signal.quality` for. The record of all coins is the same for every asset."""

_EXAMPLES: Final[Mapping[str, str]] = {
    "coins": "--sort change_24h --limit 10",
    "coin historical": "--count 7 --unit d",
    "transcripts highlights": "--coin BTC",
    "walkforward outcomes": "--symbol ETH",
    "signal-quality": "--asset BTC --signal-type trend-following",
    "rwa assets": "--type metal",
    "market health": "--context",
    "wallets movements": "--contract 0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2",
}
"""What an example shows beyond what is given by its place."""

_ENTRIES: Final[Mapping[str, str]] = {"manifest": "routes", "signal": ""}
"""Where the only list of structs is not what the answer is about, or there are several."""

_HEAD: Final = '''"""Commands about offers, written by `make commands` from the offers: change those, or `generate`."""

from service.clients.cli.command import CONNECTING, OFFERED, PAYING, SHAPING, Argument, Command, Route

_ASK = "service.clients.cli.offer:run"
_FREE = (*CONNECTING, *SHAPING, PAYING[0])

'''


def commands() -> Iterator[Command]:
    """A command for every offer that is not `BY_HAND`, one for each of its actions where it has some."""
    for offer in OFFERS:
        if offer.id in BY_HAND:
            continue
        words = _WORDS.get(offer.id, offer.id.replace(".", " "))
        if offer.id not in _ACTIONS:
            summary = f"{offer.summary[0].lower()}{offer.summary[1:]}"
            yield _command(offer, words, summary, offer.result, bare=offer.id in _BARE)
            if offer.id == "signal.quality":
                yield Command(
                    "scorecard",
                    "how past verdicts turned out: the live record, and the one recomputed for past days",
                    "service.clients.cli.offer:run",
                    OFFERED,
                    example="verdict scorecard",
                    offer=offer.id,
                    route=Route(offer.path, offer.price_usdc, view="scorecard"),
                    fixed=_SCORECARD,
                )
            continue
        results = (offer.result, *offer.results)
        for place, (action, summary) in enumerate(_ACTIONS[offer.id].items()):
            yield _command(offer, f"{words} {action}", summary, results[place], action=action, bare=not place)


def _command(offer: Offer, words: str, summary: str, result: type, *, bare: bool, action: str = "") -> Command:
    of_offer = [
        _argument(
            row,
            needed=row.required or _NEEDED.get((offer.id, action)) == row.name,
            placed=(offer.id, action) in _PLACED,
        )
        for row in parameter_rows(offer)
        if row.name != "action" and row.name not in _NOT_OF.get((offer.id, action), ())
    ]
    return Command(
        words,
        summary,
        "service.clients.cli.offer:run",
        (*of_offer, *_shared(offer)),
        example=" ".join(("verdict", words, *_example(words, of_offer, offer))),
        offer=offer.id,
        route=Route(
            offer.path,
            offer.price_usdc if offer.payable else "",
            entries=_ENTRIES[offer.id] if offer.id in _ENTRIES else _entries(result),
            public=offer.gate == "public",
            envelope=offer.envelope,
        ),
        fixed=(("action", action),) if action else (),
        bare=bare,
    )


def _argument(row: ParameterRow, *, needed: bool, placed: bool) -> Argument:
    schema = _present(row.schema)
    by_place = row.location == "path" or (needed and placed)
    said = _lower(schema["description"].partition(";")[0]) if by_place else _SAID[row.name]
    return Argument(
        row.name if by_place else f"--{row.name.replace('_', '-')}",
        said + _range(schema, row.schema.get("default")),
        kind="flag" if schema.get("enum") == [0, 1] else "number" if schema.get("type") == "integer" else "text",
        choices=[choice for choice in schema.get("enum", ()) if isinstance(choice, str)],
        metavar=_METAVARS.get(row.name, ""),
        required=needed and not by_place,
        parameter=row.name,
    )


def _present(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a parameter may be where it is given."""
    return next((kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}), schema)


def _range(schema: Mapping[str, Any], default: object) -> str:
    ends = f", {schema['minimum']} to {schema['maximum']}" if "maximum" in schema else ""
    return ends + (f" ({default})" if default else "")


def _lower(text: str) -> str:
    return f"{text[0].lower()}{text[1:]}"


def _shared(offer: Offer) -> Sequence[Argument]:
    return OFFERED if offer.payable else (*CONNECTING, *SHAPING, PAYING[0])


def _example(words: str, of_offer: Sequence[Argument], offer: Offer) -> Iterator[str]:
    examples = {row.name: _present(row.schema).get("examples", [""])[0] for row in parameter_rows(offer)}
    for argument in of_offer:
        if not argument.named:
            yield shlex.quote(examples[argument.parameter])
    if words in _EXAMPLES:
        yield _EXAMPLES[words]


def _entries(result: type) -> str:
    """Name of the only list of structs in an answer; empty where it has none, or several."""
    (_, named) = components([result])
    lists = [
        name
        for name, schema in named[result.__name__]["properties"].items()
        if schema.get("type") == "array" and "$ref" in schema["items"]
    ]
    return lists[0] if len(lists) == 1 else ""


def source() -> str:
    """The text of `catalogue.py`."""
    rows = list(commands())
    calls = [_call(argument) for row in rows for argument in row.arguments if argument.parameter]
    shared = {call: _constant_name(call) for call in calls if calls.count(call) > 1}
    constants = "".join(f"{name} = {call}\n" for call, name in shared.items())
    text = f"{_HEAD}{constants}\nCOMMANDS = (\n" + "".join(f"    {_row(row, shared)},\n" for row in rows) + ")\n"
    formatted = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "-"], input=text, capture_output=True, text=True, check=True
    )
    return formatted.stdout


def _constant_name(call: str) -> str:
    """`_SYMBOL` where it is given by its place, `_SYMBOL_OPTION` by name."""
    name = call.split("'")[1]
    return f"_{name.removeprefix('--').replace('-', '_').upper()}{'_OPTION' * name.startswith('--')}"


def _row(row: Command, shared: Mapping[str, str]) -> str:
    calls = [_call(argument) for argument in row.arguments if argument.parameter]
    own = ", ".join(shared.get(call, call) for call in calls)
    common = "OFFERED" if row.arguments[-1] is PAYING[-1] else "_FREE"
    taken = f"({own}, *{common})" if own else common
    assert row.route is not None  # noqa: S101 - each has one, made above
    return (
        f"Command({row.words!r}, {row.summary!r}, _ASK, {taken}, "
        f"example={row.example!r}, offer={row.offer!r}, route={_call(row.route)}"
        + (f", fixed={row.fixed!r}" if row.fixed else "")
        + (", bare=True" if row.bare else "")
        + ")"
    )


def _call(made: Argument | Route) -> str:
    """The call that makes it, without what is as it would be anyway."""
    plain: Argument | Route = Argument("", "") if isinstance(made, Argument) else Route("")
    first = ("name", "summary") if isinstance(made, Argument) else ("path", "price")
    values = {name: _constant(getattr(made, name)) for name in made.__slots__}
    placed = [repr(values[name]) for name in first]
    named = [f"{name}={values[name]!r}" for name in sorted(values) if values[name] != getattr(plain, name)]
    return (
        f"{type(made).__name__}({', '.join((*placed, *(part for part in named if part.split('=')[0] not in first)))})"
    )


def _constant(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def write(path: Path = CATALOGUE) -> None:
    """Write the catalogue anew."""
    path.write_text(source())
