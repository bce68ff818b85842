"""What a text names, as a test writes it down."""

from functools import cache

from service.ask.parser.names import NameIndex
from service.ask.parser.recognise import Recognised, Recogniser
from service.ask.parser.tokens import tidy, tokenise
from tests.ask.universe import known

WALLET = "0x98B159301CDF2b197A7f9F39d9924B3A83A0952C"


@cache
def recogniser(universe: NameIndex | None = None) -> Recogniser:
    return Recogniser(universe or known(), {"halyard exchange": WALLET}, {"chain reaction": "chain-reaction"})


def recognise(text: str, universe: NameIndex | None = None) -> Recognised:
    tidied = tidy(text)
    return recogniser(universe).read(tokenise(tidied), tidied)


def named(text: str, universe: NameIndex | None = None) -> str:
    """Tickers, asset ids and categories, `?` before what is unknown, joined by `+`, by kind and in order."""
    tokens = tokenise(tidy(text))
    found: dict[str, None] = {}
    for kind in ("coin", "asset", "category", "unknown", "wallet", "show"):
        for name in recognise(text, universe).names:
            if name.kind == kind == "unknown":
                written = " ".join(token.text for token in tokens[name.start : name.end])
                found[f"?{tokens[name.start].sigil}{written}"] = None
            elif name.kind == kind:
                found.update(dict.fromkeys(name.value))
    return " + ".join(found)


def candidates(text: str, universe: NameIndex | None = None) -> tuple[str, ...]:
    """What may have been meant by the unknown name of a text."""
    (unknown,) = [name for name in recognise(text, universe).names if name.kind == "unknown"]
    return tuple(unknown.value)
