"""What the views of the streams show."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from service.cli.terminal import Display, Part
from service.cli.watch.live_view import LiveView
from service.cli.watch.views import VIEWS, PricesView, StreamView, take_event
from service.client.answer import UnreadableAnswerError
from service.client.stream import StreamLine
from tests.cli.recorded import answer, hostile, steering
from tests.cli.snapshots import NARROW, check
from tests.cli.streamed import HEARTBEAT, OPEN, SILENT, event, line, prices, recorded
from tests.fakes.clock import FakeClock

PLAIN = Display(80, colour=False)
META = {"ts": "2025-07-25T12:00:00.000Z", "tick": 1, "data_age_seconds": 0}


def read(raw: bytes) -> StreamLine:
    return StreamLine(raw, json.loads(raw))


def said(parts: Sequence[Part]) -> str:
    return " ".join(part if isinstance(part, str) else part.text for part in parts)


def live(stream: str, clock: FakeClock | None = None) -> LiveView:
    return LiveView(stream, VIEWS[stream](), clock or FakeClock())


def fed(stream: str, *states: Any) -> StreamView:
    view = VIEWS[stream]()
    for data in states:
        view.take(data, META)
    return view


@pytest.mark.parametrize("stream", VIEWS)
def test_a_recorded_stream_is_drawn_as_it_was_read_and_kept(stream: str) -> None:
    def render(screen: Display) -> list[str]:
        shown = live(stream)
        for document in recorded(stream):
            shown.take(StreamLine(b"", document))
        return list(shown.lines(screen, 24))

    check(f"watch.{stream}", render, NARROW)
    assert len(render(PLAIN)) <= 24


@pytest.mark.parametrize("stream", ["prices", "funding", "regime", "sentiment"])
def test_no_text_of_a_stream_steers_the_terminal(stream: str) -> None:
    shown = live(stream)
    for document in recorded(stream):
        shown.take(StreamLine(b"", {**hostile(document), "type": document["type"]}))
    shown.trouble("\x1b[2J")
    assert steering(shown.lines(PLAIN, 24)) == []


def test_before_the_first_event_it_says_what_it_waits_for() -> None:
    shown = live("prices")
    assert list(shown.lines(PLAIN, 24)) == ["prices · opening", "", "", "Ctrl-C ends it"]
    shown.take(read(OPEN))
    assert next(shown.lines(PLAIN, 24)) == "prices · fixtures · waiting for the first event"


def test_data_grows_older_while_nothing_comes() -> None:
    clock = FakeClock()
    shown = live("prices", clock)
    shown.take(read(event(7, age_s=5)))
    clock.elapsed_s += 30
    assert next(shown.lines(PLAIN, 24)) == "prices · event 7 · 35 s old"


def test_an_upstream_that_is_silent_is_said_to_be_until_something_comes() -> None:
    shown = live("prices")
    for raw, quiet in ((event(1), False), (SILENT, True), (HEARTBEAT, False), (SILENT, True), (event(2), False)):
        shown.take(read(raw))
        assert ("nothing comes from upstream" in next(shown.lines(PLAIN, 24))) is quiet
    shown.take(read(line(type="heartbeat", meta=None)))
    assert "nothing comes" in next(shown.lines(PLAIN, 24))


def test_trouble_stands_below_until_the_next_line() -> None:
    shown = live("prices")
    shown.trouble("Reopening the stream at its cursor in 2 s.")
    assert list(shown.lines(PLAIN, 24))[-1] == "Reopening the stream at its cursor in 2 s."
    for raw, below in (
        (OPEN, "Ctrl-C ends it"),
        (line(type="gap", reason="too-old", cursor="c"), "Some events are lost: the service no longer stores them."),
        (line(type="close", reason="end"), "Ctrl-C ends it"),
    ):
        shown.take(read(raw))
        assert list(shown.lines(PLAIN, 24))[-1] == below


@pytest.mark.parametrize("rows", [5, 6, 24])
def test_a_long_message_is_wrapped_and_the_page_keeps_its_height(rows: int) -> None:
    shown = live("prices")
    for raw in (OPEN, event(1)):
        shown.take(read(raw))
    shown.trouble("The connection broke. " * 10 + "This uses one question.")
    page = list(shown.lines(PLAIN, rows))
    assert (len(page) <= rows, page[-1].endswith("question.")) == (True, rows > 6)


@pytest.mark.parametrize("stream", VIEWS)
def test_an_event_of_another_shape_is_refused_with_a_way_to_see_it(stream: str) -> None:
    shapes: list[object] = [{"prices": 1}, {"other": {}}, [1], 5]
    for odd in shapes:
        with pytest.raises(UnreadableAnswerError, match="--json"):
            take_event(VIEWS[stream](), read(event(1, odd)))
    with pytest.raises(UnreadableAnswerError):
        take_event(PricesView(), read(line(type="event", data=prices(), meta={"tick": "x"})))


def test_prices_are_told_against_where_they_began_and_who_moved_most_comes_first_behind_the_two() -> None:
    view = fed("prices", prices(SOL=50.0, XRP=2.0), prices(SOL=51.0, XRP=1.9, BTC=101.0))
    lines = list(view.lines(Display(38, colour=False), 20))
    assert [row.split()[0] for row in lines] == ["COIN", "BTC", "ETH", "XRP", "SOL", "AAVE", "change"]
    assert (lines[1], lines[3]) == ("BTC     101  +1.00 %  ▁█", "XRP     1.9  -5.00 %  █▁")
    assert "AAVE" not in " ".join(fed("prices", prices(), {"prices": {"BTC": None}}).lines(PLAIN, 20))
    assert "0  0.00 %" in " ".join(fed("prices", {"prices": {"X": {"price": 0.0, "ts": META["ts"]}}}).lines(PLAIN, 9))


def test_a_price_that_was_not_seen_for_a_minute_is_marked() -> None:
    old: Any = prices()
    old["prices"]["ETH"]["ts"] = "2025-07-25T11:58:59.000Z"
    shown = " ".join(fed("prices", old).lines(PLAIN, 20))
    assert ("10 old" in shown, "100 old" in shown) == (True, False)


def test_in_a_line_only_prices_that_changed_are_told() -> None:
    view = fed("prices", prices())
    assert said(view.tell(prices())) == "BTC 100 0.00 % , ETH 10 0.00 % , AAVE 5 0.00 %"
    view.take(changed := prices(ETH=11.0), META)
    assert said(view.tell(changed)) == "ETH 11 +10.00 %"
    view.take(changed, META)
    assert said(view.tell(changed)) == "no price changed"
    many = prices(ETH=11.0, **{f"C{number}": 1.0 for number in range(9)})
    view.take(many, META)
    assert said(view.tell(many)).endswith("and 1 more")


def test_funding_says_who_pays_and_who_moved() -> None:
    market = {"temperature": "warm", "avgApr": 12.0, "positive": 60, "negative": 15, "total": 80}
    state = {"market": market, "movers": [{"symbol": "MKR", "funding_apr": 340.0, "change_1h": 12.5}]}
    view = fed("funding", state, {**state, "market": {**market, "avgApr": 14.0}})
    shown = list(view.lines(PLAIN, 20))
    assert shown[0] == "Funding is warm, +14.00 % a year in the mean ▁█"
    assert shown[2] == "█ longs pay on 60 coins   ▓ shorts pay on 15"
    assert shown[5] == "MKR   +340.00 %         +12.50"
    assert said(view.tell(state)) == "Funding is warm , +12.00 % a year in the mean movers: MKR +340.00 % +12.50"
    nobody = {"market": {**market, "temperature": None, "avgApr": None}, "movers": []}
    assert said(view.tell(nobody)) == "Funding is unknown , - a year in the mean no movers"


def held(*sides: tuple[str, str]) -> list[Any]:
    position = answer("regime.active")[0]["positions"][0]
    return [{**position, "symbol": symbol, "direction": side} for symbol, side in sides]


def test_a_regime_that_turned_is_told_once() -> None:
    view = fed("regime", held(("BTC", "long"), ("ETH", "long")))
    assert said(view.tell(None)) == "2 long, 0 short"
    view.take(now := held(("BTC", "short"), ("SOL", "long")), META)
    assert said(view.tell(None)) == "1 long, 1 short turned: BTC short SOL long ETH none"
    view.take(now, META)
    assert said(view.tell(None)) == "1 long, 1 short"
    view.take([], META)
    assert list(view.lines(PLAIN, 20)) == ["0 long, 0 short turned: BTC none SOL none", ""]


def test_more_than_there_is_room_for_is_counted() -> None:
    positions = fed("regime", held(*((f"C{number}", "long") for number in range(30))))
    quotes = fed("prices", prices(**{f"C{number}": 1.0 for number in range(37)}))
    for view, last in ((positions, "… 22 more"), (quotes, "20 more; change since the view began")):
        lines = list(view.lines(PLAIN, 12))
        assert (len(lines), lines[-1]) == (12, last)


def test_a_mood_without_a_score_has_no_gauge() -> None:
    view = fed("sentiment", {"stance": "neutral", "score": None, "summary": "Nothing is written."})
    assert list(view.lines(PLAIN, 20)) == ["neutral, score - (-1 to +1)", "", "Nothing is written."]
    view.take(happy := {"stance": "euphoria", "score": 0.5, "summary": "Everybody buys."}, META)
    shown = list(view.lines(PLAIN, 20))
    assert (shown[1][0], "●" in shown[1], shown[-1][-24:]) == ("├", True, "the score, event by event"[-24:])
    assert said(view.tell(happy)) == "euphoria , score +0.50: Everybody buys."


def test_alerts_and_crossings_come_newest_first() -> None:
    alert = answer("funding.alerts")[0]["events"][0]
    cleared = {**alert, "asset": "NEW", "clearedAt": "2025-07-25T12:00:00.000Z"}
    alerts = fed("alerts", {**alert, "asset": "OLD", "clearedAt": None}, cleared)
    shown = " ".join(alerts.lines(Display(200, colour=False), 20))
    assert shown.index("NEW") < shown.index("OLD")
    assert shown.count("cleared 2025-07-25 12:00 UTC") == 1
    crossing = {"up": 40, "down": 30, "direction": "DOWN over UP", "at": "2025-07-25T00:00:00.000Z", "universe": 80}
    assert list(fed("crossings", crossing, {**crossing, "direction": "UP over DOWN"}).lines(PLAIN, 20)) == [
        "2025-07-25 00:00 UTC UP over DOWN 40 up, 30 down of 80 coins",
        "2025-07-25 00:00 UTC DOWN over UP 40 up, 30 down of 80 coins",
    ]
