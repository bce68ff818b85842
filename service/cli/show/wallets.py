"""Views of `wallets`: the watchlist and token movements.

Decision: a long address keeps seven digits at either end. Four, which is common, is what address-poisoning imitates.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from service import formats
from service.cli.formatting import footer, moment, money
from service.cli.layout import flow, table
from service.cli.show.plain import next_page
from service.cli.terminal import Cell, Display, Style, cut, safe

_SIDES: Final[Mapping[str, tuple[str, Style]]] = {"in": ("→ in", "good"), "out": ("← out", "bad")}
_AMOUNT: Final = 12
_LABEL: Final = 20
_WIDE: Final = 120
_ENDS: Final = 7
_TOKENS: Final = 6


def wallets(data: Any, meta: Any, screen: Display, chosen: Mapping[str, object]) -> Iterator[str]:
    """Show an answer of either action."""
    yield from (_movements if chosen.get("action") == "movements" else _watchlist)(data, screen)
    yield ""
    yield from next_page(screen, data["meta"])
    yield from footer(screen, meta, *_chain(data["meta"]))


def _chain(page: Any) -> list[str]:
    parts = [] if page["chainId"] is None else [f"chain {page['chainId']}"]
    return [*parts, f"through block {page['through_block']:,}"] if page.get("through_block") else parts


def _watchlist(data: Any, screen: Display) -> Iterator[str]:
    if not data["watchlist"]:
        yield "No wallet is watched: verdict admin wallets add ADDRESS, in the service's data folder."
        return
    yield screen.paint("strong", f"{formats.count(data['meta']['total'], 'wallet')} watched")
    for one in data["watchlist"]:
        yield ""
        kind = [Cell(f"· {one['kind']}", "accent")] if one["kind"] else []
        yield from flow(screen, [Cell(one["label"] or "without a label", "strong"), *kind])
        yield f"  {safe(one['address'])}"
        tokens = one["tokens"]
        if not tokens:
            yield screen.paint("dim", "  nothing has moved since it is watched")
            continue
        said = [f"{_name(token)} {token['movements']}x," for token in tokens[:_TOKENS]]
        rest = f"{len(tokens) - _TOKENS} more tokens," if len(tokens) > _TOKENS else ""
        yield from flow(screen, ["moved", *said, rest, f"last {moment(tokens[0]['last_moved_at'])}"], indent=2)


def _name(token: Any) -> str:
    return token["symbol"] or f"{token['contract'][:8]}…"


def _movements(data: Any, screen: Display) -> Iterator[str]:
    page, moved = data["meta"], data["movements"]
    if not moved:
        yield from flow(screen, ["Nothing of", page["contract"], "moved in or out of a watched wallet."])
        return
    name = moved[0]["token"] or "a token without a name"
    yield from flow(screen, [Cell(f"{formats.count(page['total'], 'movement')} of {name}", "strong")])
    yield screen.paint("dim", safe(page["contract"]))
    yield ""
    wide = screen.width >= _WIDE
    rows = [
        (
            moment(one["ts"])[5:16],
            Cell(*_SIDES.get(one["direction"], (one["direction"], None))),
            _amount(one["amount"]),
            money(one["amount_usd"]),
            cut(safe(one["label"]), _LABEL) if one["label"] and not wide else one["label"] or short(one["address"]),
            one["counterparty"] if wide else short(one["counterparty"]),
        )
        for one in moved
    ]
    heads = ("UTC", "", "AMOUNT", "USD", "WALLET", "FROM OR TO")
    yield from table(screen, heads, rows, right="llrr")


def short(address: str) -> str:
    """An address without its middle: `0x98B1593…83A0952C`."""
    return f"{address[: 2 + _ENDS]}…{address[-_ENDS:]}"


def _amount(text: str) -> str:
    """An exact amount, grouped; its end is cut off, and said to be, where it has more digits than anybody reads."""
    whole, _, fraction = text.partition(".")
    grouped = f"{int(whole):,}" if whole.isdigit() else whole
    return cut(f"{grouped}.{fraction}", _AMOUNT) if fraction else grouped
