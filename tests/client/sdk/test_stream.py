"""A stream is followed over cuts, from where it stopped, and not for ever."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import pytest

from service.cli.watch.command import ending_of
from service.client import stream as stream_client
from service.client.answer import RefusedError, UnreachableError, UnreadableAnswerError
from service.client.connection import ApiConnection
from service.client.stream import StreamClient
from tests.cli.streamed import CLOSE, HEARTBEAT, OPEN, event, line

Opening = Sequence[bytes | Exception]


class Service:
    """Gives each opening what it is told to: pieces, and errors in their midst."""

    def __init__(self, *openings: Opening) -> None:
        self._openings = list(openings)
        self.asked: list[tuple[str, dict[str, object]]] = []
        self.closed = 0

    def pieces(self, method: str, path: str, query: Mapping[str, object]) -> Iterator[bytes]:
        self.asked.append((f"{method} {path}", {name: value for name, value in query.items() if value is not None}))
        for piece in self._openings.pop(0):
            if isinstance(piece, Exception):
                raise piece
            yield piece

    def close(self) -> None:
        self.closed += 1


class Followed:
    def __init__(self, *openings: Opening, **query: object) -> None:
        self.service = Service(*openings)
        self.pauses: list[float] = []
        self.told: list[str] = []
        self.following = StreamClient(
            cast("ApiConnection", self.service), "prices", query, self.pauses.append, self.told.append
        )

    def kinds(self) -> list[str]:
        return [one.kind for one in self.following.lines()]


def refusal(status: int) -> RefusedError:
    return RefusedError(status, {}, {"error": {"code": "X", "message": "said no"}})


CUT = UnreachableError("the line is dead")


def test_lines_are_the_same_however_they_are_cut_into_pieces() -> None:
    whole = OPEN + event(1) + CLOSE
    for size in (1, 7, len(whole)):
        followed = Followed([whole[at : at + size] for at in range(0, len(whole), size)])
        assert [one.raw + b"\n" for one in followed.following.lines()] == [OPEN, event(1), CLOSE]
        assert ending_of(followed.following.reason) == (0, "as many events came as were asked for")
        assert followed.service.asked == [("GET /api/cli/watch/prices", {})]


def test_after_a_cut_it_is_opened_again_behind_the_last_event() -> None:
    followed = Followed([OPEN, event(1), event(2), CUT], [OPEN, event(3), CLOSE], interval=10)
    assert followed.kinds() == ["open", "event", "event", "open", "event", "close"]
    assert followed.service.asked[1][1] == {"interval": 10, "cursor": "c2"}
    assert followed.pauses == [1]
    assert followed.service.closed == 1
    assert followed.told == ["opening it again in 1 s, where it stopped, which uses up a question: the line is dead"]


def test_a_stream_that_ends_without_its_last_line_was_cut() -> None:
    followed = Followed([OPEN, event(1), b'{"type":"ev'], [OPEN, CLOSE])
    assert followed.kinds() == ["open", "event", "open", "close"]
    assert followed.told[0].endswith(": the stream broke off")


def test_a_service_that_stops_is_waited_for() -> None:
    stopped = line(type="close", reason="shutdown", cursor="c9")
    followed = Followed([OPEN, stopped], [refusal(503)], [OPEN, CLOSE])
    assert followed.kinds() == ["open", "close", "open", "close"]
    assert [query.get("cursor") for _, query in followed.service.asked] == [None, "c9", "c9"]
    assert [told.rpartition(": ")[2] for told in followed.told] == ["the service stops", "said no"]
    assert followed.pauses == [1, 2]


def test_it_is_tried_five_times_with_longer_and_longer_pauses() -> None:
    followed = Followed([OPEN, CUT], *[[CUT]] * 5)
    with pytest.raises(UnreachableError, match="the line is dead"):
        followed.kinds()
    assert followed.pauses == [1, 2, 4, 8, 16]


def test_a_service_that_keeps_breaking_off_is_given_up() -> None:
    followed = Followed(*[[OPEN]] * 6)
    assert followed.kinds() == ["open"] * 6
    assert followed.pauses == [1, 2, 4, 8, 16]
    assert ending_of(followed.following.reason) == (5, "it broke off again and again")


def test_tries_are_counted_anew_once_an_event_came() -> None:
    followed = Followed([OPEN, CUT], [CUT], [OPEN, event(1), CUT], [OPEN, CLOSE])
    followed.kinds()
    assert followed.pauses == [1, 2, 1]


def test_what_never_opened_is_not_tried_again() -> None:
    for error in (CUT, refusal(503), refusal(429)):
        followed = Followed([error])
        with pytest.raises(type(error)):
            followed.kinds()
        assert followed.pauses == []


def test_a_refusal_that_waiting_does_not_help_ends_it() -> None:
    followed = Followed([OPEN, CUT], [refusal(429)])
    with pytest.raises(RefusedError):
        followed.kinds()
    assert followed.pauses == [1]


def test_a_service_that_stays_away_is_given_up() -> None:
    followed = Followed([OPEN, CUT], *[[refusal(503)]] * 5)
    with pytest.raises(RefusedError):
        followed.kinds()
    assert len(followed.pauses) == 5


def test_of_so_many_events_only_the_rest_are_asked_for_again() -> None:
    followed = Followed([OPEN, event(1), event(2), CUT], [OPEN, event(3), CLOSE], max=3)
    followed.kinds()
    assert [query["max"] for _, query in followed.service.asked] == [3, 1]


def test_a_cut_behind_the_last_event_that_was_wanted_costs_no_further_question() -> None:
    followed = Followed([OPEN, event(1), CUT], max=1)
    assert followed.kinds() == ["open", "event"]
    assert len(followed.service.asked) == 1
    assert ending_of(followed.following.reason)[0] == 0


def test_heartbeats_and_gaps_and_what_is_new_are_passed_on() -> None:
    gap, new = line(type="gap", reason="too-old", cursor="c5"), line(type="news", text="x")
    followed = Followed([OPEN + HEARTBEAT + gap + new, CUT], [OPEN, CLOSE])
    assert followed.kinds() == ["open", "heartbeat", "gap", "news", "open", "close"]
    assert followed.service.asked[1][1]["cursor"] == "c5"


@pytest.mark.parametrize(
    ("reason", "code"),
    [("end", 0), ("limit", 0), ("revoked", 2), ("quota", 3), ("slow-reader", 4), ("new-reason", 5)],
)
def test_the_reason_of_the_end_is_the_exit_code(reason: str, code: int) -> None:
    followed = Followed([OPEN, line(type="close", reason=reason, cursor=None)])
    followed.kinds()
    assert ending_of(followed.following.reason)[0] == code
    assert followed.following.cursor == "c0"


@pytest.mark.parametrize("raw", [b"<html>\n", b"[1]\n", b"\n"])
def test_what_is_no_stream_is_not_read_as_one(raw: bytes) -> None:
    with pytest.raises(UnreadableAnswerError, match="no stream"):
        Followed([raw]).kinds()


def test_a_line_without_an_end_is_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_client, "_LONGEST", 100)
    with pytest.raises(UnreadableAnswerError, match="does not end"):
        Followed([b"x" * 60, b"x" * 60]).kinds()


def test_an_answer_in_an_odd_shape_has_no_cursor_and_is_still_a_line() -> None:
    odd: list[Any] = [line(type="event", meta=None, cursor=None), line(type="event", meta=[1])]
    followed = Followed([*odd, CLOSE])
    assert followed.kinds() == ["event", "event", "close"]
