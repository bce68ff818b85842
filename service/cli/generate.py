"""Writes `catalogue.json`: a command for every offer, except those written by hand (`make commands`).

Paths, parameters, choices, defaults, prices and entries come from the offers. This module adds what they lack: names of
commands that differ from the offer's id, what each action shows, and the explanations of options.
"""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from service.cli.commands import CATALOGUE, CatalogueRow, RouteParameter
from service.wire.manifest import ParameterRow
from service.wire.offer import Offer
from service.wire.offers import OFFERS
from service.wire.schema import components, parameter_rows

BY_HAND: Final = frozenset(
    {
        "question", "watch", "auth.nonce", "auth.login", "auth.logout", "keys.create", "keys.list", "keys.revoke",
        "keys.rotate", "alerts.create", "alerts.list", "alerts.delete", "alerts.deliveries", "alerts.test",
    }
)  # fmt: skip
"""Offers whose commands are written by hand, because they do more than show an answer."""

_WORDS: Final[Mapping[str, str]] = {
    "receipts.list": "billing receipts",
    "receipts.get": "billing show",
    "rwa.assets": "rwa list",
    "signal.quality": "signal-quality",
}
_DEFAULT: Final = frozenset({"billing.tier"})


class _Action(NamedTuple):
    """A command for one value of the parameter `action`.

    Attributes:
        summary: For the help; empty for that of the offer.
        takes: Parameters, which no schema says; None for all.
        placed: The required parameter that is a positional argument.
        needed: The required parameter that is an option. Tests compare both with the offer's `required_when`.
        word: Its name, if the action's own differs from another command's only by a plural.
    """

    summary: str = ""
    takes: Sequence[str] | None = None
    placed: str = ""
    needed: str = ""
    word: str = ""


_ACTIONS: Final[Mapping[str, Mapping[str, _Action]]] = {
    "coin.lookup": {"": _Action(placed="symbol")},
    "resolve": {"": _Action(placed="q")},
    "signal.quality": {"": _Action(needed="signal_type")},  # the route's own default is a strategy without a record
    "regime": {
        "active": _Action("market regime, and the positions that it holds"),
        "signals": _Action("latest regime signal of each coin, with its reasons"),
        "confidence": _Action("conviction of the regime for each coin"),
        "history": _Action("trades of a coin by its regime, and their returns after costs", placed="symbol"),
    },
    "sentiment": {
        "market": _Action("sentiment of the whole market", ()),
        "latest": _Action("newest sentiment of every coin and category with news, the most mentioned first", ()),
        "summary": _Action("sentiment of the whole market, as one entry", ()),
        "narratives": _Action("narratives, and how many are rising or fading", (), word="all-narratives"),
        "categories": _Action("scores of all categories, the most mentioned first", (), word="all-categories"),
        "health": _Action("state of the news feeds", ()),
        "slopes": _Action("categories by the change of their score over 24 hours", ()),
        "entity-slopes": _Action("coins by the change of their score over 24 hours", ()),
        "coin": _Action("sentiment of one coin", ("symbol",), placed="symbol"),
        "category": _Action("sentiment of one category", ("name",), placed="name"),
        "narrative": _Action("sentiment of one narrative", ("name",), placed="name"),
    },
    "transcripts": {
        "highlights": _Action("highlights of podcasts and videos on coins, sectors and the economy"),
        "sources": _Action("podcasts and videos that are read", ()),
    },
    "wallets": {
        "watchlist": _Action("watched wallets", ("address", "limit", "cursor")),
        "movements": _Action("movements of one token in and out of watched wallets", needed="contract"),
    },
    "walkforward": {
        "signals": _Action("walk-forward signals of three strategies, newest first"),
        "positions": _Action("walk-forward positions that are still held"),
        "outcomes": _Action("closed walk-forward positions, and their total return"),
    },
}
"""Commands of an offer in the order of the help; the first runs if none is named. Other offers have one command."""

_SAID: Final[Mapping[str, str]] = {
    "chain": "the chain, such as ethereum or solana",
    "address": "only this wallet, such as 0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    "asset": "the coin, such as BTC",
    "as_of": "judge by what was known then, such as 2026-01-31T00:00:00Z",
    "baselines": "also the prices 4 h, 24 h and 7 d ago",
    "q": "what to look for",
    "category": "only coins of this category, such as 'Layer 1 (L1)'",
    "coin": "only on this coin, such as BTC",
    "contract": "the token's contract: 0x and 40 hexadecimal digits",
    "context": "also what the figures mean: velocity, leadership, divergences",
    "count": "how many hours or days back",
    "cursor": "go on where a page ended: its next_cursor",
    "detail": "brief leaves out the inputs, claims without a probability and empty records",
    "dex": "only assets of this venue's dex",
    "horizons": "how long ago, any of 4h,24h,7d",
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
    "horizons": "A,B",
}

_TOP: Final = ("limit",)
_SHORT_FORMS: Final[Mapping[str, Sequence[tuple[str, str, dict[str, str], str, Sequence[str]]]]] = {
    "coins": (
        ("top gainers", "coins that rose most in 24 h", {"sort": "change_24h", "limit": "10"}, "", _TOP),
        ("top losers", "coins that fell most in 24 h", {"sort": "change_24h", "order": "asc", "limit": "10"}, "", _TOP),
        ("top funding", "coins with the highest funding rate", {"sort": "funding_apr", "limit": "10"}, "", _TOP),
        ("top verdicts", "coins with the highest verdict score", {"sort": "score", "limit": "10"}, "", _TOP),
    ),
    "signal.quality": (
        (
            "scorecard",
            "how past verdicts turned out: the live record, and the one recomputed for past days",
            {"asset": "BTC", "signal_type": "verdict"},  # the record of all coins is the same for every asset
            "scorecard",
            (),
        ),
    ),
}
"""Additional commands of an offer: words, summary, parameters they set, view, parameters they take."""

_EXAMPLES: Final[Mapping[str, str]] = {
    "coins": "--sort change_24h --limit 10",
    "coin historical": "--count 7 --unit d",
    "transcripts highlights": "--coin BTC",
    "walkforward outcomes": "--symbol ETH",
    "signal-quality": "--asset BTC --signal-type trend-following",
    "rwa list": "--type metal",
    "market health": "--context",
    "coin by-contract": "--chain ethereum",
    "market prices": "--symbols BTC,ETH,SOL",
    "market baselines": "--symbols BTC,ETH,SOL",
    "wallets movements": "--contract 0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2",
}
"""Options in the example of a command."""

_VIEWS: Final[Mapping[str, str]] = {
    "rwa.asset": "rwa_symbol",
    "market.baselines": "market_prices",
    "coin.by-id": "coin_lookup",
    "coin.by-name": "coin_lookup",
    "coin.by-contract": "coin_lookup",
}
"""Offers whose answers are shown by the view of another offer."""

_PLACED_EXAMPLES: Final[Mapping[str, str]] = {"sentiment narrative": "Perpetuals"}
"""Positional argument in an example, if the parameter's own example does not suit the command."""

_ENTRIES: Final[Mapping[str, str]] = {"manifest": "routes", "signal": ""}
"""Name of the list of entries, if the only list of structs is not that list, or there are several."""


def commands() -> Iterator[CatalogueRow]:
    """A command for every offer that is not `BY_HAND`, one for each of its actions where it has some."""
    for offer in OFFERS:
        if offer.id in BY_HAND:
            continue
        words = _WORDS.get(offer.id, offer.id.replace(".", " "))
        results = (offer.result, *offer.results)
        for place, (name, action) in enumerate(_ACTIONS.get(offer.id, {"": _Action()}).items()):
            is_default = offer.id in _DEFAULT or (name != "" and place == 0)
            longer = f"{words} {action.word or name}".rstrip()
            yield _row(offer, longer, action, results[place], name)._replace(default=is_default)
        yield from _short_forms(offer)


def _short_forms(offer: Offer) -> Iterator[CatalogueRow]:
    for words, summary, fixed, view, taken in _SHORT_FORMS.get(offer.id, ()):
        whole = _row(offer, words, _Action(summary, taken), offer.result)
        own = tuple(
            one._replace(help=f"{one.help.rpartition(' (')[0]} ({fixed[one.name]}).") for one in whole.parameters
        )
        yield whole._replace(parameters=own, fixed=fixed, view=view, example=f"verdict {words}", price=offer.price_usdc)


def _row(offer: Offer, words: str, action: _Action, result: type, name: str = "") -> CatalogueRow:
    parameters = tuple(
        _parameter(row, action)
        for row in parameter_rows(offer)
        # `--fields` of every command replaces the parameter of this name.
        if row.name not in {"action", "fields"} and (action.takes is None or row.name in action.takes)
    )
    return CatalogueRow(
        words,
        action.summary or f"{offer.summary[0].lower()}{offer.summary[1:]}",
        " ".join(("verdict", words, *_example(words, parameters, offer))),
        offer.id,
        offer.path,
        parameters,
        price=offer.price_usdc if offer.payable else "",
        entries=_ENTRIES[offer.id] if offer.id in _ENTRIES else _entries(result),
        public=offer.gate == "public",
        envelope=offer.envelope,
        view=_VIEWS.get(offer.id, ""),
        fixed={"action": name} if name else {},
    )


def _parameter(row: ParameterRow, action: _Action) -> RouteParameter:
    schema = _present(row.schema)
    by_place = row.location == "path" or row.name == action.placed
    needed = row.required or row.name in {action.placed, action.needed}
    said = schema["description"].partition(";")[0] if by_place else _SAID[row.name]
    ends = f", {schema['minimum']} to {schema['maximum']}" if "maximum" in schema else ""
    default = f" ({row.schema['default']})" if row.schema.get("default") and not needed else ""
    kind = "flag" if schema.get("enum") == [0, 1] else "number" if schema.get("type") == "integer" else "text"
    metavar = _METAVARS.get(row.name, "")
    return RouteParameter(
        row.name,
        f"{said[0].upper()}{said[1:]}{ends}{default}.",
        "" if by_place else f"--{row.name.replace('_', '-')}",
        "instant" if metavar == "INSTANT" else kind,
        tuple(choice for choice in schema.get("enum", ()) if isinstance(choice, str)),
        metavar,
        required=needed and not by_place,
    )


def _present(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of a parameter without `null`."""
    return next((kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}), schema)


def _example(words: str, parameters: Sequence[RouteParameter], offer: Offer) -> Iterator[str]:
    examples = {row.name: _present(row.schema).get("examples", [""])[0] for row in parameter_rows(offer)}
    for parameter in parameters:
        if not parameter.typed:
            yield _PLACED_EXAMPLES.get(words) or shlex.quote(examples[parameter.name])
    if words in _EXAMPLES:
        yield _EXAMPLES[words]


def _entries(result: type) -> str:
    """Name of the only list of structs in an answer; empty if there is none, or several."""
    (_, named) = components([result])
    lists = [
        name
        for name, schema in named[result.__name__]["properties"].items()
        if schema.get("type") == "array" and "$ref" in schema["items"]
    ]
    return lists[0] if len(lists) == 1 else ""


def write(path: str = CATALOGUE) -> None:
    """Write the commands as JSON, one a line, without the fields that have their default."""
    rows = [{**_fields(row), "parameters": [_fields(own) for own in row.parameters]} for row in commands()]
    Path(path).write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")


def _fields(row: CatalogueRow | RouteParameter) -> dict[str, Any]:
    return {name: value for name, value in row._asdict().items() if value != row._field_defaults.get(name)}
