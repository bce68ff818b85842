"""The commands about offers are written from the offers, and say the same; so do those that are written by hand."""

import shlex
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from service.cli import ask_command, generate
from service.cli.calling import request_parameters, view_of
from service.cli.commands import CATALOGUE, CatalogueRow, read_catalogue
from service.cli.watch import command as watch_command
from service.cli.watch.views import VIEWS
from service.client import stream as stream_client
from service.wire.ask import Archetype
from service.wire.offers import OFFERS, QUESTION, WATCH
from service.wire.schema import parameter_rows
from service.wire.streams import STREAMS, Ending
from tests.cli.commanding import options
from tests.cli.recorded import ANSWERS

OF = {offer.id: offer for offer in OFFERS}
ROWS = read_catalogue()


@pytest.mark.promise("documents.commands")
def test_the_catalogue_is_what_the_offers_make(tmp_path: Path) -> None:
    generate.write(str(tmp_path / "catalogue.json"))
    assert Path(CATALOGUE).read_text() == (tmp_path / "catalogue.json").read_text(), "run `make commands`"


@pytest.mark.promise("documents.commands")
def test_every_offer_has_a_command_that_is_generated_or_written_by_hand() -> None:
    generated = {row.offer for row in ROWS}
    assert generated | generate.BY_HAND == OF.keys()
    assert not generated & generate.BY_HAND


@pytest.mark.parametrize("row", ROWS, ids=[row.words for row in ROWS])
def test_a_command_asks_what_its_offer_takes_costs_what_it_costs_and_shows_what_it_answers(row: CatalogueRow) -> None:
    offer = OF[row.offer]
    _, typed = options(*shlex.split(row.example)[1:])
    sent = {name: str(value) for name, value in request_parameters(row, typed).items()}
    msgspec.convert(sent, offer.parameters, strict=False)
    assert (row.path, row.public, row.envelope) == (offer.path, offer.gate == "public", offer.envelope)
    assert row.price == (offer.price_usdc if offer.price else "")
    assert callable(view_of(row))
    names = [f"{row.offer}.{row.fixed.get('action', '')}".rstrip("."), row.offer]
    found = next((path for name in names if (path := ANSWERS / f"{name}.json").exists()), None)
    if found and row.entries:  # what takes a payment was not recorded
        document = msgspec.json.decode(found.read_bytes())
        assert isinstance((document["data"] if row.envelope else document)[row.entries], list)


@pytest.mark.parametrize("offer", OFFERS, ids=[offer.id for offer in OFFERS])
def test_commands_of_an_offer_reach_each_of_its_actions_and_parameters_and_need_what_it_needs(offer: Any) -> None:
    of_offer = [row for row in ROWS if row.offer == offer.id]
    if offer.id in generate.BY_HAND:
        return
    rows = {row.name: row for row in parameter_rows(offer)}
    # `--fields` of every command cuts the answer down as the parameter does.
    assert {one.name for row in of_offer for one in row.parameters} == rows.keys() - {"action", "fields"}
    actions = [row.fixed["action"] for row in of_offer if "action" in row.fixed]
    assert sorted(actions) == sorted(rows["action"].schema["enum"] if "action" in rows else [])
    if actions:
        assert [row.fixed["action"] for row in of_offer if row.default] == [rows["action"].schema["default"]]
    for field in msgspec.structs.fields(offer.parameters):
        found = msgspec.inspect.type_info(field.type)
        extras = [getattr(kind, "extra", None) or {} for kind in (found, *getattr(found, "types", ()))]
        needs = [extra["required_when"] for extra in extras if "required_when" in extra]
        for row in of_offer:
            must = field.required or any(is_needed(row.fixed, need) for need in needs)
            must |= field.name == "signal_type"  # the route's own default is a strategy that is not run
            taken = [one for one in row.parameters if one.name == field.name]
            assert [not one.typed or one.required for one in taken] == ([must] if taken else [])


def is_needed(fixed: Any, need: dict[str, str | tuple[str, ...]]) -> bool:
    return all(fixed[name] == value or fixed[name] in value for name, value in need.items())


def test_a_question_is_sent_where_the_offer_is_and_costs_what_it_costs() -> None:
    assert (QUESTION.path, QUESTION.price_usdc) == (ask_command.PATH, ask_command.PRICE)
    assert get_args(Archetype) == ask_command.ARCHETYPES


def test_every_stream_can_be_watched_has_a_view_and_every_ending_its_exit_code() -> None:
    assert WATCH.path == stream_client.PATH + "{stream}"
    assert tuple(VIEWS) == STREAMS
    assert set(watch_command.ENDINGS) == set(get_args(Ending))
