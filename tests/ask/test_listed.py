"""Who reads questions: made anew when what is listed changes, and only then."""

from collections.abc import Mapping
from typing import Any, cast

from msgspec import Raw

from service.ask.listed import Classify, Listed
from service.errors import ServiceError
from service.market.symbols import Directory, Listing
from service.wire.ask import Classification, Entities, Message, Question
from service.wire.envelope import Answer, encode
from service.wire.rwa import RwaAssets, RwaListing

HELP = Classification(intent="help", entities=Entities())
ASKED = Question([Message("user", "What can you do?")])


class World:
    """Three desks in one: what they list is set by hand."""

    def __init__(self) -> None:
        self.directory = Directory([Listing("BTC", "BTC")])
        self.names = ["Meme", "AI"]
        self.answer: Answer | None = Answer(Raw(encode(RwaAssets(0, []))))
        self.made: list[tuple[Directory, Mapping[str, str], tuple[str, ...]]] = []
        world = cast("Any", self)
        self.listed = Listed(self.make, world, world, world)

    def category_names(self) -> list[str]:
        return list(self.names)

    def assets(self, _type: None, _top: int) -> Answer:
        if self.answer is None:
            raise ServiceError("UNAVAILABLE", "no listing yet")
        return self.answer

    def list(self, *names: str) -> None:
        rows = [RwaListing(f"xyz:{name.upper()}", name.upper(), name, "equity", "hyperliquid") for name in names]
        self.answer = Answer(Raw(encode(RwaAssets(len(rows), rows))))

    def make(self, directory: Directory, assets: Mapping[str, str], categories: tuple[str, ...]) -> Classify:
        self.made.append((directory, assets, categories))
        return lambda _: HELP

    def ask(self) -> int:
        """How many readers were made by the end of a question."""
        assert self.listed.classify(ASKED) is HELP
        return len(self.made)


def test_a_reader_is_made_once_of_everything_that_is_listed() -> None:
    world = World()
    world.list("Tesla", "Apple")
    assert [world.ask(), world.ask()] == [1, 1]
    assert world.made == [(world.directory, {"xyz:APPLE": "Apple", "xyz:TESLA": "Tesla"}, ("AI", "Meme"))]
    assert list(world.made[0][1]) == ["xyz:APPLE", "xyz:TESLA"]


def test_another_listing_makes_another_reader() -> None:
    world = World()
    assert world.ask() == 1
    world.directory = Directory([Listing("BTC", "BTC")])
    assert world.ask() == 2
    world.list("Apple")
    assert world.ask() == 3
    world.names.append("DeFi")
    assert world.ask() == 4


def test_the_same_things_in_another_order_or_told_again_make_no_other_reader() -> None:
    world = World()
    world.list("Apple", "Tesla")
    assert world.ask() == 1
    world.names.reverse()
    world.list("Tesla", "Apple")
    assert world.ask() == 1


def test_before_a_listing_is_known_there_are_no_assets() -> None:
    world = World()
    world.answer = None
    world.ask()
    assert world.made[0][1] == {}
    world.list("Apple")
    assert world.ask() == 2
