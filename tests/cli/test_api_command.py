"""A command about an offer: what is sent, what is shown, and what happens where it is to be paid for."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from service.cli import payment_prompt
from service.cli.show import coin, market
from service.client.answer import RawAnswer, RefusedError
from service.client.errors import UNPAID, RefusalError
from tests.cli.commanding import Told, typed
from tests.cli.recorded import ANSWERS, HOSTILE
from tests.client.sdk.peer import Peer, Reply, answers, peer, says


def recorded(name: str) -> Reply:
    return answers((ANSWERS / f"{name}.json").read_bytes())


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "VERDICT_TOKEN": "verdict_sk_x", "NO_COLOR": "1"}


def told_by(there: Peer, home: Mapping[str, str], *words: str, terminal: bool = False) -> Told:
    return typed(*words, environment={**home, "VERDICT_URL": there.url}, terminal=terminal)


@pytest.mark.parametrize(
    ("words", "target"),
    [
        ("coin risk btc", "/api/cli/coin/risk/btc"),
        ("coin risk a/b?c", "/api/cli/coin/risk/a%2Fb%3Fc"),
        ("coin historical BTC", "/api/cli/coin/historical/BTC"),
        ("coin historical BTC --count 7 --unit d", "/api/cli/coin/historical/BTC?count=7&unit=d"),
        ("coin historical BTC --count 0", "/api/cli/coin/historical/BTC?count=0"),
        ("regime", "/api/cli/regime?action=active"),
        ("regime history SOL", "/api/cli/regime?action=history&symbol=SOL"),
        ("market health", "/api/cli/market/health"),
        ("market health --context", "/api/cli/market/health?context=1"),
        ("signal SOL --as-of 2026-01-31T00:00:00Z", "/api/cli/signal/SOL?as_of=2026-01-31T00%3A00%3A00Z"),
        ("billing receipts --limit 2", "/api/receipts?limit=2"),
    ],
)
def test_what_was_typed_is_what_is_asked(home: dict[str, str], words: str, target: str) -> None:
    with peer(says({"schemaVersion": 1, "data": {}, "meta": {}})) as there:
        assert told_by(there, home, *words.split()).code == 0
        [heard] = there.heard
        assert (heard.method, heard.target) == ("GET", target)
        assert heard.headers["authorization"] == "Bearer verdict_sk_x"


def test_what_is_empty_is_refused_before_it_is_asked_somewhere_else(home: dict[str, str]) -> None:
    told = typed("coin", "risk", "", environment=home, terminal=True)
    assert (told.code, told.err) == (1, "verdict: SYMBOL is empty\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["BTC", "--max-price", "lots"], "'--max-price': 'lots' is no amount of USDC; write it like 0.10"),
        (["BTC", "--fields", " ,"], "'--fields': names no field; write it like price,trend_daily"),
        (["BTC", "--url", ""], "--url: '' is not a valid service URL"),
        (["\udcff"], "'SYMBOL': not valid UTF-8."),
        (["BTC", "--fields", "\udcff"], "'--fields': not valid UTF-8."),
    ],
)
def test_what_cannot_be_meant_is_refused_before_a_question_is_spent(
    home: dict[str, str], words: list[str], said: str
) -> None:
    told = typed("coin", "risk", *words, environment={**home, "VERDICT_URL": "http://127.0.0.1:1"}, terminal=True)
    assert (told.code, told.out) == (1, "")
    assert said in told.err


def test_what_is_public_is_asked_as_nobody(home: dict[str, str]) -> None:
    with peer(recorded("manifest")) as there:
        assert told_by(there, home, "manifest").code == 0
        assert "authorization" not in there.heard[0].headers


def test_the_address_may_be_typed(home: dict[str, str]) -> None:
    with peer(recorded("coin.risk")) as there:
        environment = {**home, "VERDICT_URL": "http://127.0.0.1:9"}
        assert typed("coin", "risk", "BTC", "--url", there.url, environment=environment).code == 0


def test_people_see_the_view_of_the_offer_and_programs_the_answer(home: dict[str, str]) -> None:
    with peer(recorded("coin.risk"), recorded("coin.risk")) as there:
        shown = told_by(there, home, "coin", "risk", "BTC", terminal=True)
        assert (shown.code, "as of 2025-07-25" in shown.out) == (0, True)
        printed = told_by(there, home, "coin", "risk", "BTC")
        assert printed.out == (ANSWERS / "coin.risk.json").read_text().rstrip("\n") + "\n"


@pytest.mark.promise("scorecard.http")
def test_the_scorecard_is_asked_of_a_service_without_a_data_folder(home: dict[str, str], tmp_path: Path) -> None:
    nowhere = {**home, "VERDICT_DATA_DIR": str(tmp_path / "nowhere")}
    with peer(recorded("signal.quality.verdict"), recorded("signal.quality.verdict")) as there:
        shown = told_by(there, nowhere, "scorecard", terminal=True)
        assert (shown.code, shown.err) == (0, "")
        assert shown.out.startswith("Live: one verdict a day on every coin")
        assert there.heard[0].target == "/api/cli/signal-quality?asset=BTC&signal_type=verdict"
        assert told_by(there, nowhere, "signal-quality", "--asset", "ETH", "--signal-type", "verdict").code == 0
        assert there.heard[1].target == "/api/cli/signal-quality?asset=ETH&signal_type=verdict"
    assert not (tmp_path / "nowhere").exists()


def test_figures_of_another_schema_are_not_read_as_those_of_this_one(home: dict[str, str]) -> None:
    document = json.loads((ANSWERS / "coin.risk.json").read_text())
    with peer(says({**document, "schemaVersion": 2})) as there:
        shown = told_by(there, home, "coin", "risk", "BTC", terminal=True)
    assert (shown.code, "shown plainly" in shown.err, "funding_apr" in shown.out) == (0, True, True)


def test_an_answer_that_the_view_does_not_know_is_shown_all_the_same(home: dict[str, str]) -> None:
    document = {"schemaVersion": 1, "data": {"price": 5, "new": [1], "rows": [{"a": HOSTILE}]}, "meta": {"ts": "now"}}
    with peer(says(document)) as there:
        shown = told_by(there, home, "coin", "risk", "BTC", terminal=True)
    assert shown.code == 0
    assert shown.err == "verdict: shown plainly: not as this version knows it (KeyError)\n"
    assert "price  5\n" in shown.out
    assert "new    [1]\n" in shown.out
    assert "\x07" not in shown.out


def test_a_number_that_is_none_is_shown_all_the_same(home: dict[str, str]) -> None:
    """JSON knows no Infinity, Python's reader does: a broken service must not look like a defect here."""
    document = json.loads((ANSWERS / "coin.risk.json").read_text())
    document["data"]["price"] = float("inf")
    with peer(says(document)) as there:
        shown = told_by(there, home, "coin", "risk", "BTC", terminal=True)
    assert (shown.code, "Infinity" in shown.out) == (0, True)


def test_a_defect_of_a_view_that_is_none_of_the_answers_is_told_as_one(
    home: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> Iterator[str]:
        raise RuntimeError

    monkeypatch.setattr(coin, "coin_risk", broken)
    with peer(recorded("coin.risk")) as there:
        assert told_by(there, home, "coin", "risk", "BTC", terminal=True).code == 7


def test_a_view_is_told_what_was_asked(home: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def lines(data: object, meta: object, screen: object, chosen: object) -> Iterator[str]:
        seen.append(chosen)
        yield "one"

    monkeypatch.setattr(market, "market_crossing", lines)
    with peer(recorded("market.crossing")) as there:
        assert told_by(there, home, "market", "crossing", terminal=True).out == "one\n"
    assert seen == [{}]


Settle = Callable[[RefusedError, Callable[[Mapping[str, str]], RawAnswer], Any, Mapping[str, str]], RawAnswer]


def test_a_call_that_is_to_be_paid_for_is_sent_again_by_whoever_pays(
    home: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def settle(
        refused: RefusedError,
        send: Callable[[Mapping[str, str]], RawAnswer],
        environment: Mapping[str, str],
        **options: Any,
    ) -> RawAnswer:
        assert (refused.status, options["yes"], environment["HOME"]) == (402, True, home["HOME"])
        return send({"PAYMENT-SIGNATURE": "signed"})

    monkeypatch.setattr(payment_prompt, "pay", settle)
    unpaid = says(json.loads((ANSWERS / "refused.402.json").read_text()), 402)
    with peer(unpaid, recorded("coin.risk")) as there:
        assert told_by(there, home, "coin", "risk", "BTC", "--yes").code == 0
        first, second = there.heard
        assert (first.target, first.headers["authorization"]) == (second.target, second.headers["authorization"])
        assert "payment-signature" not in first.headers
        assert second.headers["payment-signature"] == "signed"


def test_a_call_that_is_not_paid_for_ends_with_3(home: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    def settle(*_: object, **__: object) -> RawAnswer:
        raise RefusalError("nothing was paid", UNPAID)

    monkeypatch.setattr(payment_prompt, "pay", settle)
    with peer(says({}, 402)) as there:
        told = told_by(there, home, "coin", "risk", "BTC")
    assert told.code == 3
    assert json.loads(told.err)["error"] == {"code": "PAYMENT_REQUIRED", "message": "nothing was paid"}


def test_what_is_free_is_never_paid_for(home: dict[str, str]) -> None:
    with peer(says({"error": {"code": "PAYMENT_REQUIRED", "message": "pay"}}, 402)) as there:
        assert told_by(there, home, "billing").code == 3
        assert len(there.heard) == 1


def test_a_refusal_is_told_with_its_code(home: dict[str, str]) -> None:
    refused = json.loads((ANSWERS / "refused.unknown.json").read_text())
    with peer(says(refused, 404), says(refused, 404)) as there:
        assert json.loads(told_by(there, home, "coin", "risk", "NOPE").err) == refused
        assert told_by(there, home, "coin", "risk", "NOPE", terminal=True) == (
            4,
            "",
            "verdict: No coin 'NOPE' is listed. The closest are NOT, NEAR, OP, ONE, HYPE.\n",
        )


def test_what_is_no_service_is_told_so(home: dict[str, str]) -> None:
    with peer(says(["hello"])) as there:
        told = told_by(there, home, "coin", "risk", "BTC", "--ndjson")
    assert (told.code, told.out) == (5, "")
    assert "is that address a Verdict service?" in told.err
