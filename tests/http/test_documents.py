"""Documents that machines look for are made from the offers."""

import re
from collections.abc import Mapping

import msgspec
import pytest

from service.http.documents import PublicDocument, build
from service.http.openapi import document
from service.payments.challenge import ChallengeBuilder
from service.wire.manifest import Anonymous
from service.wire.offers import OFFERS
from service.wire.payment import SettlementKind
from service.wire.schema import parameter_rows

BASE = "https://api.example.org"


def said(documents: Mapping[str, PublicDocument]) -> str:
    """What `/llms.txt` says, its lines joined."""
    return " ".join(documents["/llms.txt"].body.decode().split())


@pytest.fixture(scope="module")
def documents() -> Mapping[str, PublicDocument]:
    return build(BASE, ChallengeBuilder("eip155:84532", "0x" + "1" * 40), "ledger")


def test_these_and_no_others_are_published(documents: Mapping[str, PublicDocument]) -> None:
    assert {path: of.content_type for path, of in documents.items()} == {
        "/openapi.json": b"application/json",
        "/llms.txt": b"text/markdown; charset=utf-8",
        "/.well-known/x402": b"application/json",
        "/robots.txt": b"text/plain; charset=utf-8",
    }


def test_openapi_is_the_document_of_the_offers(documents: Mapping[str, PublicDocument]) -> None:
    assert documents["/openapi.json"].body == document(BASE)


@pytest.mark.promise("documents.llms", "documents.one-table")
def test_llms_txt_names_every_route_with_price_freshness_and_parameters(
    documents: Mapping[str, PublicDocument],
) -> None:
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
        assert ("one question a device without a token" in line) == (offer.gate == "question")
        assert all(row.name in line for row in parameter_rows(offer))


def test_llms_txt_says_the_free_plan(documents: Mapping[str, PublicDocument]) -> None:
    assert "10 questions to start with, then 1 a day from 00:00 UTC" in said(documents)


@pytest.mark.promise("documents.llms")
def test_llms_txt_says_how_to_pay_and_to_send_a_payment_again_rather_than_sign_anew(
    documents: Mapping[str, PublicDocument],
) -> None:
    text = said(documents)
    assert all(name in text for name in ("`PAYMENT-REQUIRED`", "`PAYMENT-SIGNATURE`", "`X-PAYMENT`", "`X-Receipt-Id`"))
    assert "PAYMENT_PENDING: the outcome is not known yet. Send the SAME payment again, never a new one" in text


@pytest.mark.promise("pay.settlement")
@pytest.mark.parametrize(
    ("settlement", "what"),
    [("ledger", "no money is taken"), ("remote", "facilitator settles"), ("chain", "settles payments on the chain it")],
)
def test_documents_say_how_payments_are_settled(settlement: SettlementKind, what: str) -> None:
    documents = build(BASE, ChallengeBuilder("eip155:84532", "0x" + "1" * 40), settlement)
    assert what in said(documents)
    assert msgspec.json.decode(documents["/.well-known/x402"].body)["settlement"] == settlement


@pytest.mark.promise("pay.keyless-documents")
@pytest.mark.parametrize(
    ("anonymous", "what"),
    [
        ("login", "Without a token the answer is 403."),
        ("pay", "Without a token a priced route answers 402: pay for the call, without an account."),
    ],
)
def test_documents_say_whether_a_payment_needs_an_account(anonymous: Anonymous, what: str) -> None:
    documents = build(BASE, ChallengeBuilder("eip155:84532", "0x" + "1" * 40), "ledger", anonymous)
    assert what in said(documents)
    assert ("`X-Payer-Signature`" in said(documents)) == (anonymous == "pay")
    assert msgspec.json.decode(documents["/.well-known/x402"].body)["anonymous"] == anonymous
    assert documents["/openapi.json"].body == document(BASE, anonymous=anonymous)


@pytest.mark.promise("documents.llms")
def test_llms_txt_says_how_to_ask_a_question(documents: Mapping[str, PublicDocument]) -> None:
    text = said(documents)
    (line,) = re.findall(r"- \[POST /api/cli\]\(.*?\)\)?: [^-]*", text)
    assert "JSON body messages, walletAddress?, deviceId?, raw?, archetype?, commandContext?; 0.05 USDC" in line
    assert text.count("](https://api.example.org/api/cli)") == 1
    assert all(form in text for form in ("Accept: text/event-stream", "Accept: application/json", "Idempotency-Key"))


def test_every_link_of_llms_txt_is_absolute_and_filled_in(documents: Mapping[str, PublicDocument]) -> None:
    links = re.findall(r"\]\(([^)]*)\)", documents["/llms.txt"].body.decode())
    assert len(links) == len(OFFERS) + 3
    assert all(link.startswith(BASE) and "{" not in link for link in links)


@pytest.mark.promise("documents.x402", "documents.one-table")
def test_x402_lists_every_payable_route_with_its_terms(documents: Mapping[str, PublicDocument]) -> None:
    found = msgspec.json.decode(documents["/.well-known/x402"].body)
    payable = [offer for offer in OFFERS if offer.payable]
    assert found["version"] == 1
    assert found["resources"] == [row["resource"] for row in found["offers"]]
    assert f"{BASE}/api/cli/coin/risk/BTC" in found["resources"]
    assert not any("{" in resource for resource in found["resources"])
    assert [row["template"] for row in found["offers"]] == [offer.path for offer in payable]
    assert [row["accepts"][0]["amount"] for row in found["offers"]] == [str(offer.price) for offer in payable]
    assert {row["accepts"][0]["network"] for row in found["offers"]} == {"eip155:84532"}


@pytest.mark.promise("documents.robots")
def test_robots_stay_out_of_the_metered_routes(documents: Mapping[str, PublicDocument]) -> None:
    assert b"Disallow: /api/\n" in documents["/robots.txt"].body
