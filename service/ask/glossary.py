"""The glossary: what the terms of this service mean. The texts are data: `glossary.toml`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from service.access.quota import PER_DAY, STARTER
from service.analytics.breadth import EXTREME_PCT, VELOCITY_DAYS
from service.analytics.funding import DEFAULT_APR, LEAST_ROWS
from service.analytics.rules import (
    CALM_ENTER,
    CALM_STAY,
    CONFIRM_COIN_DAYS,
    CONFIRM_DAYS,
    NET_ENTER_PCT,
    SEASON_DAYS,
)
from service.ask.load import load
from service.errors import ServiceError
from service.units import usdc
from service.wire.offer import DATA_CALL, DEAR_CALL
from service.wire.tools import Definition

_FIGURES: Final[Mapping[str, object]] = {
    "access_per_day": PER_DAY["access"],
    "analysis_call": usdc(DEAR_CALL),
    "calm_enter": f"{CALM_ENTER:g}",
    "calm_stay": f"{CALM_STAY:g}",
    "confirm_coin_days": CONFIRM_COIN_DAYS,
    "confirm_days": CONFIRM_DAYS,
    "data_call": usdc(DATA_CALL),
    "default_apr": f"{DEFAULT_APR:g}",
    "extreme_pct": f"{EXTREME_PCT:g}",
    "free_per_day": PER_DAY["free"],
    "least_rows": LEAST_ROWS,
    "net_enter_pct": f"{NET_ENTER_PCT:g}",
    "season_days": SEASON_DAYS,
    "starter": STARTER,
    "velocity_days": VELOCITY_DAYS,
}


class GlossaryTerm(Struct, frozen=True, kw_only=True):
    """A term of the glossary.

    Attributes:
        title: As it is written in a sentence.
        short: One sentence without any figure.
        text: The whole definition.
        synonyms: What people call it, lower case.
        see: Keys of related terms.
    """

    title: str
    short: str
    text: str
    synonyms: tuple[str, ...]
    see: tuple[str, ...]


TERMS: Final[Mapping[str, GlossaryTerm]] = {
    key: structs.replace(term, text=term.text.format_map(_FIGURES))
    for key, term in load(Path(__file__).with_suffix(".toml"), dict[str, GlossaryTerm]).items()
}
"""Every term by its key: lower case, words joined by hyphens."""


def define(key: str) -> Definition:
    """What a term means.

    Args:
        key: Of `TERMS`.

    Raises:
        ServiceError: `NOT_FOUND` for another word.
    """
    term = TERMS.get(key)
    if term is None:
        raise ServiceError("NOT_FOUND", "That word is not in the glossary of this service.")
    return Definition(key, term.title, term.text, [TERMS[other].title for other in term.see])
