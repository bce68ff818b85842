"""The reference of the API: it says what the OpenAPI document says, all of it, and nothing else."""

import asyncio
import json
import re
import shlex
from html.parser import HTMLParser
from typing import Any

import pytest

from service.pages.reference.curl import curl
from service.pages.reference.document import OperationDoc, ReferencePage, read_reference
from service.pages.rendering import HtmlPage, Templates
from service.pages.static_files import StaticFiles
from service.wire.offers import OFFERS
from tests.pages.stage import LINES, OPENAPI, Stage, text_of

DOCUMENT: dict[str, Any] = json.loads(OPENAPI)
REFERENCE = read_reference(DOCUMENT, LINES)


def operation(offer_id: str) -> OperationDoc:
    return next(each for each in REFERENCE.operations if each.id == offer_id)


@pytest.fixture(scope="module")
def page() -> HtmlPage:
    return asyncio.run(Stage().page("/docs"))


class Anchors(HTMLParser):
    """Every id of a page, and every place on it that is linked to."""

    def __init__(self, page: HtmlPage) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.linked: set[str] = set()
        self.feed(page.body.decode())

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name == "href" and value and value.startswith("#"):
                self.linked.add(value[1:])


async def test_it_is_written_once() -> None:
    stage = Stage()
    assert await stage.page("/docs") is await stage.page("/docs")


def test_every_route_is_there_with_what_it_costs(page: HtmlPage) -> None:
    said = text_of(HtmlPage(page.body.replace(b"<wbr>", b"")))
    assert [each.id for each in REFERENCE.operations] == [offer.id for offer in OFFERS]
    for offer in OFFERS:
        assert f"{offer.method} {offer.path} {f'{offer.price_usdc} USD' if offer.payable else 'free'} " in said
        assert f"{offer.summary}." in said


def test_every_parameter_field_and_code_of_the_document_is_there(page: HtmlPage) -> None:
    said = text_of(page)
    schemas = DOCUMENT["components"]["schemas"]
    named = {name for schema in schemas.values() for name in schema.get("properties", ())}
    codes = set(re.findall(r'"([A-Z]+_[A-Z_]+)"', OPENAPI.decode()))
    parameters = {
        row["name"]
        for methods in DOCUMENT["paths"].values()
        for each in methods.values()
        for row in each.get("parameters", ())
    }
    assert len(codes) > 15
    assert [word for word in sorted(named | codes | parameters) if word not in said] == []


def test_every_link_leads_somewhere_on_the_page_and_no_place_is_there_twice(page: HtmlPage) -> None:
    anchors = Anchors(page)
    assert sorted(anchors.linked - set(anchors.ids)) == []
    assert len(anchors.ids) == len(set(anchors.ids))
    assert {offer.id for offer in OFFERS} | {"schema-RiskContext", "status-402"} <= anchors.linked


def test_a_policy_without_anything_inline_forbids_none_of_it(page: HtmlPage) -> None:
    html = page.body.decode()
    assert re.findall(r"<script(?! src=\"/static/)|<style|\sstyle=|\son[a-z]+=|javascript:", html) == []
    assert re.findall(r"(?:src|href)=\"(?![/#])", html) == []


async def test_what_a_document_says_is_not_taken_for_html() -> None:
    hostile = OPENAPI.replace(b"Bundled risk context", b"<script>`<img>` {{ 1 + 1 }}</script>")
    view = ReferencePage(Templates(StaticFiles().url, "live"), hostile, {"signal": ["<b>verdict"]})
    html = (await view.show("", {})).body.decode()
    assert "&lt;script&gt;<code>&lt;img&gt;</code> {{ 1 + 1 }}&lt;/script&gt;" in html
    assert "<code>&lt;b&gt;verdict</code>" in html


@pytest.mark.parametrize(
    ("offer_id", "typed"),
    [
        ("manifest", ["curl", "https://verdict.example/api/cli/manifest"]),
        ("auth.nonce", ["curl", "-X", "POST", "https://verdict.example/api/auth/nonce"]),
        ("category.info", ["curl", "-H", "Authorization: Bearer $VERDICT_TOKEN",
                           "https://verdict.example/api/cli/category/info/Layer%201%20%28L1%29"]),
        ("keys.revoke", ["curl", "-X", "DELETE", "-H", "Authorization: Bearer $VERDICT_TOKEN",
                         "https://verdict.example/api/keys?prefix=verdict_sk_4kYw0VqG"]),
        ("watch", ["curl", "-N", "-H", "Authorization: Bearer $VERDICT_TOKEN",
                   "https://verdict.example/api/cli/watch/prices"]),
        ("question", ["curl", "-H", "Authorization: Bearer $VERDICT_TOKEN", "-H",
                      "Content-Type: application/json", "-d",
                      '{"messages": [{"role": "user", "content": "How is SOL doing?"}]}',
                      "https://verdict.example/api/cli"]),
    ],
)  # fmt: skip
def test_a_line_calls_a_route_with_what_it_needs_and_no_more(offer_id: str, typed: list[str]) -> None:
    assert shlex.split(operation(offer_id).curl) == typed


def test_a_name_with_a_slash_stays_one_piece_of_the_path() -> None:
    row = {"name": "name", "in": "path", "required": True, "schema": {}, "examples": {"a/b": {"value": "a/b"}}}
    told = {"parameters": [row], "security": [], "responses": {"200": {"content": {}}}}
    assert curl("https://x.example", "/info/{name}", "get", told, None) == "curl https://x.example/info/a%2Fb"


def test_the_token_stands_where_a_shell_puts_it_in() -> None:
    assert '"Authorization: Bearer $VERDICT_TOKEN"' in operation("signal").curl


def test_lines_of_the_command_line_stand_with_their_route() -> None:
    assert operation("coin.risk").lines == LINES["coin.risk"]
    assert operation("signal").lines == ()


def test_callers_are_told_what_they_need() -> None:
    callers = {offer_id: operation(offer_id).callers for offer_id in ("manifest", "coin.risk", "keys.list", "question")}
    assert callers == {
        "manifest": [],
        "coin.risk": ["key", "session"],
        "keys.list": ["session"],
        "question": ["key", "session", ""],
    }


def test_an_answer_is_told_by_what_is_in_its_envelope() -> None:
    (answer,) = operation("walkforward").answers
    assert (answer.media_type, answer.around, answer.meta) == ("application/json", "envelope", "Meta")
    assert {"WalkforwardSignals", "WalkforwardPositions", "WalkforwardOutcomes"} == {kind.name for kind in answer.kinds}


def test_a_stream_is_told_by_its_lines() -> None:
    (answer,) = operation("watch").answers
    assert (answer.media_type, answer.around) == ("application/x-ndjson", "lines")
    assert [kind.name for kind in answer.kinds][:2] == ["OpenLine", "EventLine"]


def test_an_answer_in_several_forms_is_told_by_each() -> None:
    forms = {answer.media_type: [kind.name for kind in answer.kinds] for answer in operation("question").answers}
    assert forms == {"text/plain": [], "text/event-stream": [], "application/json": ["QuestionAnswer", "Findings"]}


def test_a_route_tells_its_own_failures_and_the_page_all_of_them() -> None:
    own = {failing.status: list(failing.codes) for failing in operation("coin.risk").failures}
    assert own["404"] == ["UNKNOWN_SYMBOL", "NOT_FOUND"]
    assert own["503"] == ["UNAVAILABLE", "PAYMENT_PENDING"]
    assert {failing.status: failing.codes for failing in operation("question").failures}["400"] == ()
    every = {failure.status: failure for failure in REFERENCE.failures}
    assert set(own) <= set(every)
    assert {"UNKNOWN_SYMBOL", "UNKNOWN_CATEGORY", "UNKNOWN_STREAM", "NOT_FOUND"} <= set(every["404"].codes)
    assert {"ChallengeV1", "ChallengeV2", "Failure", "Failed"} <= set(every["402"].bodies)


def test_envelopes_are_told_with_their_routes_and_not_again_among_schemas() -> None:
    names = [told.name for told in REFERENCE.schemas]
    assert names == sorted(names)
    assert set(DOCUMENT["components"]["schemas"]) - set(names) == {
        name for name in DOCUMENT["components"]["schemas"] if name.endswith("Envelope")
    }
