"""What a model is given to choose from."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from mcp import Client
from mcp.server.lowlevel import Server

from service.client.calls import OFFER_OF
from service.mcp import views
from service.mcp.calls import ToolCaller
from service.mcp.gateway import Gateway
from service.mcp.server import INSTRUCTIONS, make_server
from service.mcp.tool_results import DEFAULT_BYTES
from service.mcp.tools import TOOL_OF, TOOLS
from service.wire.schema import compact_schema
from tests.mcp.calls import CALLS
from tests.mcp.conftest import ERAS, Opened

LONGEST = 13_000
UNPAID = 13


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for inner in schema.values():
            yield from objects(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from objects(inner)


async def test_the_whole_list_of_tools_is_shorter_than_thirteen_thousand_bytes(opened: Opened) -> None:
    async with opened() as client:
        listed = await client.list_tools()
    written = listed.model_dump_json(by_alias=True, exclude_none=True).encode()
    assert [tool.name for tool in listed.tools] == [tool.name for tool in TOOLS]
    assert len(written) < LONGEST


@pytest.mark.parametrize("era", ERAS)
async def test_the_list_is_as_short_where_the_tools_pay(gateway: Gateway, era: str) -> None:
    gateway.pays = True
    server: Server[Any] = make_server(
        ToolCaller(gateway, DEFAULT_BYTES, over_http=False), DEFAULT_BYTES, over_http=False
    )
    async with Client(server, mode=era) as client:
        listed = await client.list_tools()
    assert len(listed.model_dump_json(by_alias=True, exclude_none=True).encode()) < LONGEST
    hints = [tool.annotations for tool in listed.tools]
    assert all(hint is not None and not hint.read_only_hint and hint.destructive_hint is False for hint in hints)


async def test_every_tool_has_a_title_a_purpose_and_says_that_it_only_reads(opened: Opened) -> None:
    async with opened() as client:
        listed = (await client.list_tools()).tools
    for tool in listed:
        assert tool.title
        assert tool.description
        assert 40 < len(tool.description) < 260
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is True
    assert len({tool.title for tool in listed}) == len(listed) == UNPAID


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and all that it holds."""
    yield schema
    for inner in (*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else ())):
        yield from parts(inner)


async def test_arguments_have_the_form_that_strict_hosts_take(opened: Opened) -> None:
    async with opened() as client:
        listed = (await client.list_tools()).tools
    known = {"type", "properties", "required", "enum", "description", "items", "minimum", "maximum"}
    for tool in listed:
        assert tool.input_schema["type"] == "object"
        assert set(tool.input_schema.get("required", ())) <= set(tool.input_schema["properties"])
        for part in parts(tool.input_schema):
            assert part["type"] in {"object", "string", "integer"}, (tool.name, part)
            assert set(part) <= known, (tool.name, part)
            if "enum" in part:
                assert part["type"] == "string"
                assert all(isinstance(value, str) and value for value in part["enum"])


def test_objects_are_open_to_what_hosts_add_and_answers_to_notes() -> None:
    for tool in TOOLS:
        given = list(objects(compact_schema(tool.view)))
        assert given
        assert not any("additionalProperties" in one for one in [*given, *objects(compact_schema(tool.arguments))])
        assert not any("notes" in one.get("properties", {}) for one in given)


def test_every_answer_requires_its_date_and_age_but_an_answer_in_words_which_tells_its_sources() -> None:
    for tool in TOOLS:
        required = compact_schema(tool.view)["required"]
        assert "as_of" in required
        assert ("data_age_seconds" in required) is (tool.name != "ask")


def test_every_tool_is_named_by_its_topic_and_asks_routes_that_exist_and_cost_something() -> None:
    for tool in TOOLS:
        assert tool.offers
        assert all(OFFER_OF[offer].price > 0 for offer in tool.offers)
    asked = {offer for tool in TOOLS for offer in tool.offers}
    priced = {offer.id for offer in OFFER_OF.values() if offer.payable}
    assert asked == priced


def test_a_call_asks_only_the_routes_that_its_tool_names() -> None:
    asked: dict[str, set[str]] = {}
    for call in CALLS:
        tool = TOOL_OF[call.tool]
        asked.setdefault(call.tool, set()).add(tool.request(call.arguments).offer)
    assert asked == {tool.name: set(tool.offers) for tool in TOOLS}


def test_what_a_tool_takes_is_known_to_its_route_by_the_same_name() -> None:
    own = {"view", "question"}
    for tool in TOOLS:
        known = {name for offer in tool.offers for name in OFFER_OF[offer].parameters.__struct_fields__}
        assert set(tool.arguments.__struct_fields__) <= known | own, tool.name


async def test_every_description_ends_with_what_a_call_costs(opened: Opened) -> None:
    async with opened() as client:
        listed = {tool.name: tool.description or "" for tool in (await client.list_tools()).tools}
    dear = {name for name, text in listed.items() if text.endswith(" 1 question or $0.05.")}
    assert dear == {"ask", "walkforward"}
    assert all(text.endswith(" 1 question or $0.005.") for name, text in listed.items() if name not in dear)


@pytest.mark.parametrize(
    ("offers", "cost"),
    [(("manifest",), "Free."), (("coins", "question"), "1 question or $0.005 to $0.05.")],
)
def test_a_tool_of_free_routes_or_of_several_prices_says_so(offers: tuple[str, ...], cost: str) -> None:
    assert msgspec.structs.replace(TOOL_OF["coins"], offers=offers, purpose="Lists.").description == f"Lists. {cost}"


async def test_the_server_says_what_no_single_tool_can(opened: Opened) -> None:
    async with opened() as client:
        assert client.instructions == INSTRUCTIONS
        assert client.server_info is not None
        assert (client.server_info.name, client.server_info.title) == ("verdict", "Verdict")
    assert len(INSTRUCTIONS) < 1_000


def test_enumerations_of_the_wire_stand_in_the_schema() -> None:
    properties = compact_schema(views.VERDICT)["properties"]
    assert set(properties["verdict"]["enum"]) == {
        "strong-bull", "bull", "neutral", "bear", "strong-bear", "insufficient-evidence",
    }  # fmt: skip
    assert properties["rules"]["items"]["properties"]["flips_at"] == {"type": ["string", "number", "null"]}
    assert None in compact_schema(views.RISK)["properties"]["trend_daily"]["enum"]
