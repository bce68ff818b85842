"""Views of transcripts and of watched wallets."""

from collections.abc import Mapping, Sequence
from html import unescape
from typing import Any, Final

from service import formats
from service.cli.formatting import UNKNOWN, moment, money
from service.cli.show.columns import Data, Field, View, counts, joined, state, strong, utc
from service.cli.terminal import Cell, cut

_ENDS: Final = 7
"""Digits of an address at either end. Four, which is common, is what address-poisoning imitates."""
_TOKENS: Final = 6
_ROOMY: Final = 110
"""Cells from which the address of a feed stands beside the rest."""

_NAME: Final = 17
"""Cells of a wallet's name among addresses, which take as many: the table fits 80 columns."""


def _spoken(one: Data) -> str:
    minutes, seconds = divmod(one["start_seconds"], 60)
    return f"{unescape(one['speaker'] or '')} at {minutes}:{seconds:02},".lstrip()


_HIGHLIGHTS: Final = View(
    heading=lambda data: [strong(formats.count(data["meta"]["total"], "highlight"))],
    facts=(Field("Sources", "meta.by_source", counts),),
    entries="highlights",
    columns=(
        Field("SAID", "quote", lambda text: strong(f"“{unescape(text)}”")),
        Field("BY", "", _spoken),
        Field("", "stance", state),
        Field("ABOUT", "", lambda one: joined([*one["coins"], *one["sectors"], *one["macro"]])),
        Field("IN", "", lambda one: f"{unescape(one['title'])} · {one['source']}, {formats.day(one['publishedAt'])}"),
        Field("", "url", lambda url: Cell(url, "dim")),
    ),
    empty="Nothing was said of it in what is read.",
)


def _moved(tokens: Sequence[Data]) -> str:
    said = [f"{one['symbol'] or one['contract'][:8] + '…'} {one['movements']}x" for one in tokens[:_TOKENS]]
    rest = len(tokens) - _TOKENS
    return joined([*said, *([f"{rest} more tokens"] if rest > 0 else [])]) or "none yet"


def _short(address: str) -> str:
    """An address without its middle: `0x98B1593…83A0952C`."""
    return f"{address[: 2 + _ENDS]}…{address[-_ENDS:]}"


def _chain(data: Data) -> str:
    page = data["meta"]
    known = [f"chain {page['chainId']}"] if page["chainId"] is not None else []
    block = page.get("through_block")
    return " · ".join([*known, *([f"through block {block:,}"] if block else [])])


def _example(data: Data) -> str:
    """How to see the movements of the token that moved most."""
    tokens = [token for wallet in data["watchlist"] for token in wallet["tokens"]]
    if not tokens:
        return ""
    most = max(tokens, key=lambda token: token["movements"])
    command = f"`verdict wallets movements --contract {most['contract']}`"
    return f"Movements of {most['symbol'] or 'one token'}: {command}. `--json` lists every contract."


_WATCHLIST: Final = View(
    heading=lambda data: [strong(f"{formats.count(data['meta']['total'], 'wallet')} watched")],
    entries="watchlist",
    columns=(
        Field("WALLET", "label", lambda label: strong(label or "without a label")),
        Field("KIND", "kind"),
        Field("ADDRESS", "address"),
        Field("MOVED", "tokens", _moved),
        Field("LAST", "tokens", lambda tokens: moment(tokens[0]["last_moved_at"]) if tokens else UNKNOWN),
    ),
    empty="No wallet is watched: verdict admin wallets add ADDRESS, in the service's data folder.",
    note=_example,
    source=_chain,
)


def _movements(data: Data) -> list[Any]:
    """The movements, with what their wallets are called. Only a name may be cut, never an address among them."""
    found = data["movements"]
    if all(one["label"] for one in found):
        return [{**one, "name": one["label"]} for one in found]
    return [{**one, "name_or_address": cut(one["label"] or _short(one["address"]), _NAME)} for one in found]


_MOVEMENTS: Final = View(
    heading=lambda data: [
        strong(
            f"{formats.count(data['meta']['total'], 'movement')} of "
            + ((data["movements"] or [{"token": None}])[0]["token"] or "a token without a name")
        ),
    ],
    facts=(Field("Contract", "meta.contract"),),
    entries=_movements,
    columns=(
        Field("UTC", "ts", formats.short_moment),
        Field("", "direction", state),
        Field("AMOUNT", "amount", lambda text: formats.amount(float(text)), "r"),
        Field("USD", "amount_usd", money, "r"),
        Field("WALLET", "name", side="l"),
        Field("WALLET", "name_or_address"),
        Field("FROM OR TO", "counterparty", _short),
    ),
    empty="Nothing of it moved in or out of a watched wallet.",
    source=_chain,
)


VIEWS: Final[Mapping[str, View]] = {
    "transcripts": _HIGHLIGHTS,
    "transcripts_sources": View(
        entries="sources",
        columns=(
            Field("ID", "id", strong),
            Field("NAME", "name", unescape, "l"),
            Field("KIND", "kind"),
            Field("LANG", "language"),
            Field("READ", "episodes", side="r"),
            Field("NEWEST, UTC", "lastEpisodeAt", utc),
            Field("STATUS", "status", state),
            Field("FEED", "feed", wide=_ROOMY),
        ),
        empty="No source is read.",
    ),
    "wallets": _WATCHLIST,
    "wallets_movements": _MOVEMENTS,
}
