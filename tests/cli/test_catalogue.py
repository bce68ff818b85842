"""The commands about offers are written from the offers, and say the same."""

import shlex
from pathlib import Path
from typing import Any

import msgspec
import pytest

from service.cli import generate
from service.cli.api_command import request_parameters, view_of
from service.cli.command import CATALOGUE, OFFERED, Command, load
from service.cli.commands import OFFER_COMMANDS as COMMANDS
from service.wire.offers import OFFERS
from service.wire.schema import parameter_rows
from tests.cli.commanding import described_commands, parsed
from tests.cli.recorded import ANSWERS

OF = {offer.id: offer for offer in OFFERS}
IDS = [command.words for command in COMMANDS]


@pytest.mark.promise("documents.commands")
def test_the_catalogue_is_what_the_offers_make(tmp_path: Path) -> None:
    generate.write(str(tmp_path / "catalogue.json"))
    assert Path(CATALOGUE).read_text() == (tmp_path / "catalogue.json").read_text(), "run `make commands`"


@pytest.mark.promise("documents.commands")
def test_every_offer_has_a_command_that_is_generated_or_written_by_hand() -> None:
    generated = {command.offer for command in COMMANDS}
    assert generated | generate.BY_HAND == OF.keys()
    assert not generated & generate.BY_HAND
    written = {command.words for command in described_commands()}
    assert {"ask", "watch", "login", "logout", "keys create", "keys list", "keys revoke", "keys rotate"} <= written


@pytest.mark.parametrize("row", COMMANDS, ids=IDS)
def test_a_command_asks_what_its_offer_takes(row: Command) -> None:
    """Its example, as it is sent, is decoded by the struct that the service decodes it into."""
    sent = request_parameters(parsed(*shlex.split(row.example)[1:]))
    msgspec.convert({name: str(value) for name, value in sent.items()}, OF[row.offer].parameters, strict=False)


@pytest.mark.parametrize("row", COMMANDS, ids=IDS)
def test_a_command_costs_and_reads_what_its_offer_does(row: Command) -> None:
    offer, route = OF[row.offer], row.route
    assert route is not None
    assert (route.path, route.public, route.envelope) == (offer.path, offer.gate == "public", offer.envelope)
    assert route.price == (offer.price_usdc if offer.price else "")
    assert (set(OFFERED) <= set(row.arguments)) == bool(offer.price)


@pytest.mark.parametrize("offer", OFFERS, ids=[offer.id for offer in OFFERS])
def test_commands_of_an_offer_reach_each_of_its_actions_and_parameters(offer: Any) -> None:
    if offer.id in generate.BY_HAND:
        return
    of_offer = [row for row in COMMANDS if row.offer == offer.id]
    rows = {row.name: row for row in parameter_rows(offer)}
    reached = {argument.parameter for row in of_offer for argument in row.arguments if argument.parameter}
    # `--fields` of every command cuts the answer down as the parameter does.
    assert reached == rows.keys() - {"action", "fields"}
    actions = [value for row in of_offer for name, value in row.fixed if name == "action"]
    assert sorted(actions) == sorted(rows["action"].schema["enum"] if "action" in rows else [])
    if actions:
        assert [dict(row.fixed)["action"] for row in of_offer if row.default] == [rows["action"].schema["default"]]


@pytest.mark.parametrize("offer", OFFERS, ids=[offer.id for offer in OFFERS])
def test_what_an_action_cannot_do_without_has_to_be_typed(offer: Any) -> None:
    """`required_when` of the struct is what the service refuses by."""
    for field in msgspec.structs.fields(offer.parameters):
        found = msgspec.inspect.type_info(field.type)
        inner = [found, *getattr(found, "types", ())]
        needs = [
            kind.extra["required_when"] for kind in inner if "required_when" in (getattr(kind, "extra", None) or {})
        ]
        for row in COMMANDS:
            if row.offer == offer.id and field.name != "action":
                taken = [a for a in row.arguments if a.parameter == field.name]
                must = field.required or any(is_needed(dict(row.fixed), need) for need in needs)
                assert [not a.named or a.required for a in taken] == ([must] if taken else [])


def is_needed(fixed: dict[str, str], need: dict[str, str | tuple[str, ...]]) -> bool:
    return all(fixed[name] == value or fixed[name] in value for name, value in need.items())


@pytest.mark.parametrize("row", COMMANDS, ids=IDS)
def test_what_people_read_has_a_view_of_its_own(row: Command) -> None:
    assert callable(load(view_of(row)))


@pytest.mark.parametrize("row", COMMANDS, ids=IDS)
def test_entries_are_where_real_answers_have_them(row: Command) -> None:
    assert row.route is not None
    names = [f"{row.offer}.{dict(row.fixed).get('action', '')}".rstrip("."), row.offer]
    found = [ANSWERS / f"{name}.json" for name in names if (ANSWERS / f"{name}.json").exists()]
    if not found:
        pytest.skip("no answer of it was recorded: it takes a payment")
    document: Any = msgspec.json.decode(found[0].read_bytes())
    data = document["data"] if row.route.envelope else document
    if row.route.entries:
        assert isinstance(data[row.route.entries], list)
