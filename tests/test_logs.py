import io
import json
import logging
from collections.abc import Iterator
from types import TracebackType
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.logs import LONGEST_TEXT, REDACTED, JsonFormatter, TextFormatter, configure, redact

KEY = "verdict_sk_Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGhIj"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"


@pytest.fixture
def restored() -> Iterator[None]:
    root, verdict = logging.getLogger(), logging.getLogger("verdict")
    before = (list(root.handlers), root.level, verdict.level, logging.raiseExceptions)
    yield
    logging.captureWarnings(capture=False)
    root.handlers, level, verdict_level, logging.raiseExceptions = before
    root.setLevel(level)
    verdict.setLevel(verdict_level)


ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]


def text_of(message: str, *, colour: bool = False, level: int = logging.INFO, **more: object) -> str:
    """A record of 1970-01-01 19:16:08 UTC as text."""
    fields = {"name": "verdict.market", "levelno": level, "levelname": logging.getLevelName(level), "msg": message}
    return TextFormatter(colour=colour).format(logging.makeLogRecord({**fields, "created": 69_368.5, **more}))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def line_of(message: str, *args: object, exc_info: ExcInfo | None = None, **extra: object) -> dict[str, object]:
    logger = logging.getLogger("verdict.test")
    record = logger.makeRecord(logger.name, logging.INFO, __file__, 1, message, args, exc_info, extra=extra)
    written = JsonFormatter().format(record)
    assert "\n" not in written
    loaded = json.loads(written)
    assert isinstance(loaded, dict)
    return loaded


def test_a_record_is_one_line_with_time_level_logger_message_and_request_id_first() -> None:
    line = line_of("answered %s", "risk", status=200, request_id="r1")
    assert list(line) == ["ts", "level", "logger", "message", "request_id", "status"]
    assert (line["level"], line["logger"], line["message"], line["status"]) == (
        "info",
        "verdict.test",
        "answered risk",
        200,
    )
    assert str(line["ts"]).endswith("Z")


def test_a_key_in_a_text_keeps_only_its_display_prefix() -> None:
    assert line_of(f"refused {KEY}!")["message"] == "refused verdict_sk_Ab3dEf6h…!"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"token {JWT} end", f"token {REDACTED} end"),
        ("Authorization: Bearer abc.def", f"Authorization: {REDACTED}"),
        ("(b'authorization', b'Basic Zm9v')", f"(b'authorization', {REDACTED}"),
        ("sent bearer s3cret, then", f"sent bearer {REDACTED}, then"),
        ("X-PAYMENT=eyJ4NDAyVmVyc2lvbiI6MX0=", f"X-PAYMENT={REDACTED}"),
        ("paid with eyJ4NDAyVmVyc2lvbiI6MX0= today", f"paid with {REDACTED} today"),
        ("GET https://a.example/x?apikey=1&b=2 failed", f"GET https://a.example/x?{REDACTED} failed"),
        ("GET /api/cli/wallets?contract=0x1 failed", f"GET /api/cli/wallets?{REDACTED} failed"),
        ("https://user:pass@a.example/x", f"https://{REDACTED}@a.example/x"),
        ("what is this?", "what is this?"),
        ("authorization was refused", "authorization was refused"),
    ],
)
def test_what_opens_a_door_is_cut_out_of_a_text(text: str, kept: str) -> None:
    assert redact(text) == kept


@pytest.mark.parametrize(
    "name", ["authorization", "Cookie", "session_token", "jwt_secret", "payment-signature", "api_key"]
)
def test_an_extra_named_like_a_secret_is_never_written(name: str) -> None:
    assert line_of("x", where={name: "open sesame"})["where"] == {name: REDACTED}


def test_extras_of_every_kind_become_plain_json() -> None:
    line = line_of(
        "x",
        ratio=0.5,
        worst=float("nan"),
        nothing=None,
        held=True,
        where={"path": f"/x?k={KEY}", "token": "t"},
        many=(1, {"a"}),
        odd=ValueError(KEY),
    )
    assert line["ratio"] == 0.5
    assert line["worst"] == "nan"
    assert line["nothing"] is None
    assert line["held"] is True
    assert line["where"] == {"path": f"/x?{REDACTED}", "token": REDACTED}
    assert line["many"] == [1, ["a"]]
    assert line["odd"] == "verdict_sk_Ab3dEf6h…"


def test_a_traceback_is_redacted_too() -> None:
    error = RuntimeError(f"upstream said {KEY}")
    line = line_of("failed", exc_info=(RuntimeError, error, None))
    assert KEY not in str(line["exception"])
    assert "RuntimeError" in str(line["exception"])


def test_a_hostile_text_is_cut_and_escaped() -> None:
    record = logging.makeLogRecord({"msg": "\x1b[2J\x7f\r\n\x00\u2028\u202e\ud800" + "A" * 100_000})
    written = JsonFormatter().format(record)
    assert len(written) < LONGEST_TEXT + 300
    assert all(" " <= character < "\x7f" for character in written)


def test_what_opens_a_door_is_hidden_before_a_text_is_cut() -> None:
    text = " " * (LONGEST_TEXT - 20) + "https://user:s3cr3ts3cr3t@host.example"
    assert "s3cr3t" not in redact(text)


@given(st.text(max_size=300))
def test_whatever_is_logged_comes_out_as_one_printable_line(text: str) -> None:
    record = logging.makeLogRecord({"msg": text, "extra_text": text})
    written = JsonFormatter().format(record)
    assert all(" " <= character < "\x7f" for character in written)
    json.loads(written)


@given(
    st.from_regex(r"[a-z0-9]{1,20}_sk_[0-9A-Za-z]{30,40}", fullmatch=True), st.text(max_size=20), st.text(max_size=20)
)
def test_no_key_survives_whatever_stands_around_it(key: str, before: str, after: str) -> None:
    assert key not in redact(f"{before}{key}{after}")


@pytest.mark.usefixtures("restored")
def test_every_logger_of_the_process_writes_json_once_configured() -> None:
    stream = io.StringIO()
    configure("info", stream=stream)
    logging.getLogger("verdict.market").info("refreshed")
    logging.getLogger("verdict.market").debug("unheard")
    logging.getLogger("asyncio").info("unheard")
    logging.getLogger("asyncio").warning("slow callback")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["message"] for line in lines] == ["refreshed", "slow callback"]


@pytest.mark.usefixtures("restored")
def test_a_closed_stream_behind_the_log_raises_nothing_and_is_not_complained_of(
    capsys: pytest.CaptureFixture[str],
) -> None:
    stream = io.StringIO()
    configure("info", stream=stream)
    stream.close()
    logging.getLogger("verdict").info("into the void")
    assert capsys.readouterr().err == ""


@pytest.mark.promise("logs.text")
def test_text_is_one_readable_line_with_details_behind_the_message() -> None:
    assert text_of("daily history 80/80") == "19:16:08 INFO market: daily history 80/80"
    told = text_of("refused", level=logging.WARNING, coin="BTC", wait_s=1.5, reason="a b", empty="", held=None)
    assert told == '19:16:08 WARNING market: refused  coin=BTC wait_s=1.5 reason="a b" empty="" held=null'


@pytest.mark.promise("logs.text")
def test_text_colours_the_level_and_dims_time_and_details() -> None:
    told = text_of("late", colour=True, level=logging.ERROR, coin="BTC")
    assert told == "\x1b[2m19:16:08\x1b[0m \x1b[31mERROR\x1b[0m market: late  \x1b[2mcoin=BTC\x1b[0m"
    assert text_of("x", colour=True, level=logging.DEBUG).startswith("\x1b[2m19:16:08\x1b[0m \x1b[2mDEBUG\x1b[0m")


@pytest.mark.promise("logs.redacted")
def test_text_is_redacted_as_json_is() -> None:
    error = RuntimeError(f"upstream said {KEY}")
    told = text_of(f"sent {KEY}", token="sesame", where={"path": f"/x?k={KEY}"}, exc_info=(RuntimeError, error, None))
    assert KEY not in told
    assert "sesame" not in told
    assert told.splitlines() == [
        f'19:16:08 INFO market: sent verdict_sk_Ab3dEf6h…  token={REDACTED} where={{"path": "/x?{REDACTED}"}}',
        "    RuntimeError: upstream said verdict_sk_Ab3dEf6h…",
    ]


@pytest.mark.promise("logs.redacted")
@given(st.text(max_size=300))
def test_whatever_is_logged_as_text_is_printable_and_adds_no_line(text: str) -> None:
    told = text_of(text, extra_text=text, listed=[text])
    assert told.isprintable()
    error = RuntimeError(text)
    with_traceback = text_of("x", exc_info=(RuntimeError, error, None)).split("\n")
    assert all(line.isprintable() and line.startswith("    ") for line in with_traceback[1:])


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize(
    ("form", "stream", "expected"),
    [
        ("auto", Terminal(), " INFO "),
        ("auto", io.StringIO(), "{"),
        ("json", Terminal(), "{"),
        ("text", io.StringIO(), " INFO "),
    ],
)
@pytest.mark.promise("logs.text")
def test_the_form_follows_the_setting_and_else_whether_a_terminal_shows_it(
    form: Literal["auto", "json", "text"], stream: io.StringIO, expected: str
) -> None:
    configure("info", form, stream=stream)
    logging.getLogger("verdict.market").info("refreshed")
    assert expected in stream.getvalue()
    assert "\x1b" not in stream.getvalue()
