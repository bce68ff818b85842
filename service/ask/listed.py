"""Who reads questions, kept in step with what is listed."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec
from msgspec import Raw

from service.errors import ServiceError
from service.market.categories.desk import CategoryDesk
from service.market.desk import MarketDesk
from service.market.symbols import Directory
from service.rwa.desk import RwaDesk
from service.wire.ask import Classification, Question
from service.wire.rwa import RwaAssets

MOST_ASSETS = 1_000
"""What a listing of real-world assets holds at most."""

Classify = Callable[[Question], Classification]
Make = Callable[[Directory, Mapping[str, str], tuple[str, ...]], Classify]
"""Makes a reader of the coins, the names of assets by their ids, and the names of categories."""


class _Seen(NamedTuple):
    """What a reader was made of."""

    directory: Directory
    assets: Mapping[str, str]
    categories: tuple[str, ...]


class Listed:
    """Classifies questions by what is listed now. A reader is made anew when that changes: some milliseconds.

    Args:
        make: Makes a reader.
        coins: The coins there are.
        categories: The categories there are.
        rwa: The real-world assets there are.
    """

    def __init__(self, make: Make, coins: MarketDesk, categories: CategoryDesk, rwa: RwaDesk) -> None:
        self._make = make
        self._coins = coins
        self._categories = categories
        self._rwa = rwa
        self._told: object = None
        self._assets: Mapping[str, str] = {}
        self._seen: _Seen | None = None
        self._classify: Classify | None = None

    def classify(self, question: Question) -> Classification:
        """Say what a question is about."""
        # By name: the largest first changes with every price, and would be another reader each time.
        categories = tuple(sorted(self._categories.category_names()))
        seen = _Seen(self._coins.directory, self._assets_now(), categories)
        if self._classify is None or self._seen is None or not _is_same(seen, self._seen):
            self._seen, self._classify = seen, self._make(*seen)
        return self._classify(question)

    def _assets_now(self) -> Mapping[str, str]:
        """Names by id; none while no listing is known."""
        try:
            told = self._rwa.assets(None, MOST_ASSETS).data
        except ServiceError:
            return {}
        if told is not self._told:
            assets = msgspec.json.decode(bytes(told), type=RwaAssets).assets if isinstance(told, Raw) else []
            self._told, self._assets = told, {asset.id: asset.name for asset in sorted(assets, key=lambda row: row.id)}
        return self._assets


def _is_same(seen: _Seen, before: _Seen) -> bool:
    return seen.directory is before.directory and seen[1:] == before[1:]
