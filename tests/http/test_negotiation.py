"""Which form of an answer a caller gets, by RFC 9110 §12.5.1 and by what clients really send."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.http.negotiation import MEDIA, Form, choose, form_of


@pytest.mark.promise("question.text", "question.sse", "question.json")
@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("text/plain", "text"),
        ("text/event-stream", "sse"),
        ("application/json", "json"),
        ("Text/Event-Stream", "sse"),
        (" application/json ; q=0.9 ", "json"),
        ("application/json;charset=utf-8", "json"),
        ("text/plain;q=0.5, application/json;q=0.6", "json"),
        ("text/plain;q=0.5,text/event-stream;q=0.501,application/json;q=0.5", "sse"),
        ("application/json, text/plain, */*", "json"),  # axios
        ("application/json, text/event-stream", "json"),  # clients of MCP
        ("text/event-stream, */*;q=0.1", "sse"),
        ("application/*", "json"),
        ("text/*", "text"),
        ("text/*, application/json", "json"),
        ("text/*;q=0.5, text/event-stream;q=0.4, application/json;q=0.3", "text"),
        ("text/plain;q=0, text/*", "sse"),
        ("application/json;q=0.000, */*", "text"),
        ("*/*;q=0.9, application/json;q=0.1", "text"),
        ("text/html, application/xhtml+xml, application/json;q=0.9, */*;q=0.8", "json"),
    ],
)
def test_the_form_that_is_wanted_most_is_chosen(accept: str, form: Form) -> None:
    assert choose(accept, "text") == form


@pytest.mark.promise("question.json")
@pytest.mark.parametrize("default", ["text", "json"])
@pytest.mark.parametrize(
    "accept",
    [
        "", " ", ",", "*/*", "*/*;q=0.3", "image/png", "text/html", "text/plain;q=0", "*/*;q=0", "application/jsonp",
        "json", "text", "/", "text/plain;q=2", "text/plain;q=-1", "text/plain;q=", "text/plain;q=0.1234",
        "text/plain;q=1;q=0.5", "text /plain", "text/pla\xefn", "*/plain",
    ],
)  # fmt: skip
def test_a_caller_that_names_none_of_ours_gets_the_default(accept: str, default: Form) -> None:
    assert choose(accept, default) == default


@pytest.mark.parametrize(("default", "form"), [("text", "text"), ("json", "json")])
def test_any_kind_of_text_is_the_text_and_whatever_there_is_is_the_default(default: Form, form: Form) -> None:
    assert choose("text/*", default) == "text"
    assert choose("*/*, text/html", default) == form


def test_several_lines_count_as_one() -> None:
    lines = [(b"accept", b"text/plain;q=0.2"), (b"host", b"text/event-stream"), (b"accept", b"application/json")]
    assert form_of({"headers": lines}, "text") == "json"
    assert form_of({"headers": []}, "json") == "json"


@given(st.text(), st.sampled_from(["text", "sse", "json"]))
def test_whatever_is_sent_one_of_the_three_is_chosen(accept: str, default: Form) -> None:
    assert choose(accept, default) in MEDIA


NAMES = st.sampled_from([*MEDIA.values(), "text/*", "application/*", "*/*", "text/html"])


@given(st.lists(st.tuples(NAMES, st.integers(0, 1000)), max_size=6, unique_by=lambda row: row[0]))
def test_nothing_is_chosen_that_something_else_is_wanted_more_than(rows: list[tuple[str, int]]) -> None:
    """By the letter of the RFC: the most specific range that matches says the quality."""
    said = dict(rows)

    def quality(media: str) -> int:
        kind = media.split("/", maxsplit=1)[0] + "/*"
        return next((said[name] for name in (media, kind, "*/*") if name in said), 0)

    chosen = choose(",".join(f"{name};q={milli / 1000:.3f}" for name, milli in rows), "text")
    best = max(quality(media) for media in MEDIA.values())
    assert quality(MEDIA[chosen]) == best if best else chosen == "text"
