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

CUT = UnreachableError("The line is dead.")
STOPPED = line(type="close", reason="shutdown", cursor="c9")
GAP, NEW = line(type="gap", reason="too-old", cursor="c5"), line(type="news", text="x")


class Followed:
    """A stream of scripted openings: pieces, and errors in their midst."""

    def __init__(self, *openings: Sequence[bytes | Exception], **query: object) -> None:
        self._openings = list(openings)
        self.asked: list[tuple[str, dict[str, object]]] = []
        self.closed = 0
        self.pauses: list[float] = []
        self.told: list[str] = []
        connection = cast("ApiConnection", self)
        self.stream = StreamClient(connection, "prices", query, self.pauses.append, self.told.append)

    def kinds(self) -> str:
        return " ".join(one.kind for one in self.stream.lines())

    def pieces(self, method: str, path: str, query: Mapping[str, object]) -> Iterator[bytes]:
        self.asked.append((f"{method} {path}", {name: value for name, value in query.items() if value is not None}))
        for piece in self._openings.pop(0):
            if isinstance(piece, Exception):
                raise piece
            yield piece

    def close(self) -> None:
        self.closed += 1


def refusal(status: int) -> RefusedError:
    return RefusedError(status, {}, {"error": {"code": "X", "message": "said no."}})


def test_lines_are_the_same_however_they_are_cut_into_pieces() -> None:
    whole = OPEN + event(1) + CLOSE
    for size in (1, 7, len(whole)):
        followed = Followed([whole[at : at + size] for at in range(0, len(whole), size)])
        assert [one.raw + b"\n" for one in followed.stream.lines()] == [OPEN, event(1), CLOSE]
        assert (followed.stream.reason, followed.asked) == ("end", [("GET /api/cli/watch/prices", {})])


def test_after_a_cut_it_is_opened_again_behind_the_last_event() -> None:
    followed = Followed([OPEN, event(1), event(2), CUT], [OPEN, event(3), CLOSE], interval=10)
    assert followed.kinds() == "open event event open event close"
    assert (followed.asked[1][1], followed.closed) == ({"interval": 10, "cursor": "c2"}, 1)
    assert followed.told == ["The line is dead. Reopening the stream at its cursor in 1 s. This uses one question."]


@pytest.mark.parametrize(
    ("openings", "kinds", "pauses", "why"),
    [
        ([[OPEN, event(1), b'{"type":"ev'], [OPEN, CLOSE]], "open event open close", [1], ["The connection broke."]),
        ([[OPEN, STOPPED], [refusal(503)], [OPEN, CLOSE]], "open close open close", [1, 2],
         ["The service is stopping.", "said no."]),
        ([[OPEN]] * 6, " ".join(["open"] * 6), [1, 2, 4, 8, 16], ["The connection broke."] * 5),
        ([[OPEN, CUT], *[[CUT]] * 4, [OPEN, event(1), CUT], [OPEN, CLOSE]], "open open event open close",
         [1, 2, 4, 8, 16, 1], ["The line is dead."] * 6),
        ([[OPEN + HEARTBEAT + GAP + NEW, CUT], [OPEN, CLOSE]], "open heartbeat gap news open close", [1],
         ["The line is dead."]),
        ([[line(type="event", meta=None, cursor=None), line(type="event", meta=[1]), CLOSE]], "event event close", [],
         []),
    ],
)  # fmt: skip
def test_it_is_opened_again_five_times_at_most_counted_anew_after_an_event(
    openings: list[Any], kinds: str, pauses: list[int], why: list[str]
) -> None:
    followed = Followed(*openings)
    assert followed.kinds() == kinds
    assert (followed.pauses, [told.partition(" Reopening")[0] for told in followed.told]) == (pauses, why)


@pytest.mark.parametrize(
    ("openings", "pauses"),
    [
        ([[CUT]], []), ([[refusal(503)]], []), ([[refusal(429)]], []), ([[OPEN, CUT], [refusal(429)]], [1]),
        ([[OPEN, CUT], *[[CUT]] * 5], [1, 2, 4, 8, 16]), ([[OPEN, CUT], *[[refusal(503)]] * 5], [1, 2, 4, 8, 16]),
    ],
)  # fmt: skip
def test_what_never_opened_stays_away_or_is_refused_for_good_ends_it(openings: list[Any], pauses: list[int]) -> None:
    followed = Followed(*openings)
    with pytest.raises(type(openings[-1][-1])):
        followed.kinds()
    assert followed.pauses == pauses


def test_only_the_rest_of_the_wanted_events_is_asked_for_again() -> None:
    followed = Followed([OPEN, event(1), event(2), CUT], [OPEN, event(3), CUT], max=3)
    assert followed.kinds() == "open event event open event"
    assert ([query["max"] for _, query in followed.asked], followed.stream.reason) == ([3, 1], "end")


@pytest.mark.parametrize(
    ("reason", "code"), [("end", 0), ("limit", 0), ("revoked", 2), ("quota", 3), ("slow-reader", 4), ("new-reason", 5)]
)
def test_the_reason_of_the_end_is_the_exit_code_and_its_cursor_is_kept(reason: str, code: int) -> None:
    followed = Followed([OPEN, line(type="close", reason=reason, cursor=None)])
    followed.kinds()
    assert (ending_of(followed.stream.reason)[0], followed.stream.cursor) == (code, "c0")
    assert ending_of(None) == (5, "the connection broke again and again")


@pytest.mark.parametrize("raw", [b"<html>\n", b"[1]\n", b"\n", b"[" * 100_000 + b"\n", b'{"type": "\xff"}\n'])
def test_what_is_no_stream_is_an_error(monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    with pytest.raises(UnreadableAnswerError, match="not a stream"):
        Followed([raw]).kinds()
    monkeypatch.setattr(stream_client, "_LONGEST", 100)
    with pytest.raises(UnreadableAnswerError, match="is too long"):
        Followed([b"x" * 60, b"x" * 60]).kinds()
