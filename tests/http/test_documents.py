"""Documents that machines look for are made from the offers."""

import re
from collections.abc import Mapping

import msgspec
import pytest

from service.http.documents import Document, build
from service.http.openapi import document
from service.payments.challenge import Challenger
from service.wire.offers import OFFERS
from service.wire.schema import parameter_rows

BASE = "https://api.example.org"


@pytest.fixture(scope="module")
def documents() -> Mapping[str, Document]:
    return build(BASE, Challenger("eip155:84532", "0x" + "1" * 40))


def test_these_and_no_others_are_published(documents: Mapping[str, Document]) -> None:
    assert {path: of.content_type for path, of in documents.items()} == {
        "/openapi.json": b"application/json",
        "/llms.txt": b"text/markdown; charset=utf-8",
        "/.well-known/x402": b"application/json",
        "/robots.txt": b"text/plain; charset=utf-8",
    }


def test_openapi_is_the_document_of_the_offers(documents: Mapping[str, Document]) -> None:
    assert documents["/openapi.json"].body == document(BASE)


@pytest.mark.promise("documents.llms", "documents.one-table")
def test_llms_txt_names_every_route_with_price_freshness_and_parameters(documents: Mapping[str, Document]) -> None:
    text = documents["/llms.txt"].body.decode()
    assert text.startswith("# Verdict ")
    assert re.search(r"^> .+", text, re.MULTILINE)
    lines = [line for line in text.splitlines() if line.startswith("- [")]
    for offer in OFFERS:
        (line,) = (line for line in lines if line.startswith(f"- [{offer.method} {offer.path}]"))
        assert offer.summary in line
        assert (f"{offer.price_usdc} USDC" in line) == offer.payable
        assert (f"refreshed every {offer.refresh_seconds} s" in line) == bool(offer.refresh_seconds)
        assert ("no token" in line) == (offer.gate == "public")
        assert ("needs a session" in line) == (offer.gate == "session")
        assert all(row.name in line for row in parameter_rows(offer))


def test_llms_txt_says_the_free_plan_and_that_nothing_is_charged(documents: Mapping[str, Document]) -> None:
    text = " ".join(documents["/llms.txt"].body.decode().split())
    assert "10 questions to start with, then 1 a day from 00:00 UTC" in text
    assert "nothing is ever charged" in text


def test_every_link_of_llms_txt_is_absolute_and_filled_in(documents: Mapping[str, Document]) -> None:
    links = re.findall(r"\]\(([^)]*)\)", documents["/llms.txt"].body.decode())
    assert len(links) == len(OFFERS) + 3
    assert all(link.startswith(BASE) and "{" not in link for link in links)


@pytest.mark.promise("documents.x402", "documents.one-table")
def test_x402_lists_every_payable_route_with_its_terms(documents: Mapping[str, Document]) -> None:
    found = msgspec.json.decode(documents["/.well-known/x402"].body)
    payable = [offer for offer in OFFERS if offer.payable]
    assert found["version"] == 1
    assert found["settlement"] == "none"
    assert found["resources"] == [row["resource"] for row in found["offers"]]
    assert f"{BASE}/api/cli/coin/risk/BTC" in found["resources"]
    assert not any("{" in resource for resource in found["resources"])
    assert [row["template"] for row in found["offers"]] == [offer.path for offer in payable]
    assert [row["accepts"][0]["amount"] for row in found["offers"]] == [str(offer.price) for offer in payable]
    assert {row["accepts"][0]["network"] for row in found["offers"]} == {"eip155:84532"}


@pytest.mark.promise("documents.robots")
def test_robots_stay_out_of_the_metered_routes(documents: Mapping[str, Document]) -> None:
    assert b"Disallow: /api/\n" in documents["/robots.txt"].body
