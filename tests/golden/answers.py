"""Recorded answers: file format, normalization of values that change from run to run, and differences."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple

FOLDER: Final = Path(__file__).resolve().parent / "answers"

_TITLE: Final = "=== "
_RECEIPT: Final = re.compile(r"\brcp_(?!4kYw0)[0-9A-Za-z]{22}\b")
_SHOWN_FIELDS: Final = 12
"""Most fields that are listed for a route; the others are counted."""

NORMALIZATION: Final[Sequence[tuple[re.Pattern[str], str]]] = (
    (re.compile(r"\r\n"), "\n"),
    (re.compile(r"(?m)^date: .*$"), "date: <date>"),
    (re.compile(r"(?m)^x-request-id: \S+$"), "x-request-id: <request-id>"),
    (re.compile(r"(?m)^content-length: \d+$"), "content-length: <length>"),
    (re.compile(r"\b[0-9a-f]{17}\b(?=[\"'. )]|$)"), "<request-id>"),
    (re.compile(r"verdict_sk_[0-9A-Za-z]{12,}"), "<key>"),
    (re.compile(r"verdict_sk_[0-9A-Za-z]{8}\b"), "<key prefix>"),
    (re.compile(r"\beyJ[0-9A-Za-z_-]+\.[0-9A-Za-z_-]+\.[0-9A-Za-z_-]*"), "<session>"),
    (re.compile(r"(\"(?:next_)?cursor\": ?\")[0-9A-Za-z_-]{16,}(?=\")"), r"\g<1><cursor>"),
    (re.compile(r"(--cursor[= ])[0-9A-Za-z_-]{16,}"), r"\g<1><cursor>"),
    (re.compile(r"\brcp_[0-9A-Za-z]{8,21}…"), "<receipt>…"),
    (re.compile(r"(?i)(\bsignature +)0x[0-9a-f]+(?:\n +[0-9a-f]{2,}$)+", re.MULTILINE), r"\g<1><signature>"),
    (re.compile(r"(/paying/receipts/)[0-9a-f]{40,}"), r"\g<1><hash>"),
    (re.compile(r"(\bstate=)[0-9A-Za-z_-]{20,}"), r"\g<1><state>"),
    (re.compile(r"\b[0-9.]+ GiB free"), "<free> GiB free"),
    (re.compile(r"\([0-9,]+ bytes\)"), "(<size> bytes)"),
    (re.compile(r"(\blog(?:\", ?\"said\": ?\"|: ))[0-9.]+ [KM]iB"), r"\g<1><size>"),
    (re.compile(r"(\"nonce\": ?\")[0-9A-Za-z]{16,}(?=\")"), r"\g<1><nonce>"),
    (re.compile(r"(\"(?:receiptSigner|signer)\\?\": ?\\?\")0x[0-9A-Fa-f]{40}\b"), r"\g<1><signer>"),
    (re.compile(r"\b0x[0-9a-f]{130}\b"), "<signature>"),
    (re.compile(r"\bwhsec_[0-9A-Za-z+/=]+"), "<secret>"),
    (re.compile(r"(127\.0\.0\.1|localhost|\[::1\]):\d{4,5}\b"), r"\g<1>:8402"),
)
"""Patterns of values that differ between two runs (ids, secrets, ports, real time), and their placeholders."""


class Answer(NamedTuple):
    """An answer as text, under a title that is unique in its file."""

    title: str
    text: str


def normalised(text: str, known: Mapping[str, str] | None = None) -> str:
    """Replace values that change from run to run.

    Args:
        text: An answer or a title.
        known: More values of this run, with their placeholders.
    """
    for value, name in (known or {}).items():
        text = text.replace(value, name)
    for pattern, name in NORMALIZATION:
        text = pattern.sub(name, text)
    return text


def numbered(answers: Sequence[Answer]) -> list[Answer]:
    """Number receipts in the order in which they first appear: their ids are random."""
    numbers: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        return numbers.setdefault(found[0], f"<receipt {len(numbers) + 1}>")

    return [Answer(*(_RECEIPT.sub(name, text) for text in answer)) for answer in answers]


def written(answers: Sequence[Answer]) -> str:
    """The content of a file.

    Raises:
        ValueError: If two answers have the same title.
    """
    titles = [answer.title for answer in answers]
    twice = {title for title in titles if titles.count(title) > 1}
    if twice:
        raise ValueError(f"recorded twice: {', '.join(sorted(twice))}")
    return "".join(f"{_TITLE}{answer.title}\n{answer.text.rstrip()}\n\n" for answer in answers)


def parsed(text: str) -> dict[str, str]:
    """Read the content of a file: title → text."""
    blocks = re.split(rf"(?m)^{_TITLE}", text)[1:]
    return {title: rest.rstrip("\n") for title, _, rest in (block.partition("\n") for block in blocks)}


def path_of(name: str) -> Path:
    """The file of one recording."""
    return FOLDER / f"{name}.txt"


def recorded(name: str) -> str:
    """The content of a file; empty if the file does not exist."""
    path = path_of(name)
    return path.read_text("utf-8") if path.exists() else ""


def expect_as_recorded(made: Mapping[str, Sequence[Answer]]) -> None:
    """Compare answers with the recorded ones.

    Raises:
        AssertionError: If they differ; the message lists the differences by route and field.
    """
    for name, answers in made.items():
        before, after = recorded(name), written(answers)
        assert before == after, f"{name} differs (`make golden` records it again):\n{difference(before, after)}"


class Change(NamedTuple):
    """A difference: route, field, title of the answer, old and new value."""

    route: str
    field: str
    title: str
    before: str
    after: str


def difference(before: str, after: str) -> str:
    """List the differences of two recordings by route and field; empty if they are equal."""
    groups: dict[str, dict[str, list[Change]]] = {}
    for change in _changes(parsed(before), parsed(after)):
        groups.setdefault(change.route, {}).setdefault(change.field, []).append(change)
    lines = []
    for route, fields in groups.items():
        answers = {change.title for changes in fields.values() for change in changes}
        lines.append(f"{route} ({len(answers)} {'answer' if len(answers) == 1 else 'answers'})")
        for field, changes in list(fields.items())[:_SHOWN_FIELDS]:
            first = changes[0]
            more = f", and {len(changes) - 1} more" if len(changes) > 1 else ""
            lines.append(f"  {field}: {_short(first.before)} -> {_short(first.after)} in {_short(first.title)}{more}")
        if len(fields) > _SHOWN_FIELDS:
            lines.append(f"  and {len(fields) - _SHOWN_FIELDS} more fields")
    if before != after and not lines:
        lines.append("Only the order of the answers or the space around them differs.")
    return "\n".join(lines)


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Change]:
    for title in {**before, **after}:
        old, new = before.get(title), after.get(title)
        route = _route(title)
        if old is None or new is None:
            yield Change(route, "answer", title, *("there" if each else "none" for each in (old, new)))
        elif old != new:
            for field, *values in _of_answer(old, new):
                yield Change(route, field, title, *values)


def _route(title: str) -> str:
    """The part of a title that all answers of a route share: method and path without its last values."""
    target = title.partition(" · ")[0].partition("?")[0]
    words = target.split("/")
    return "/".join(words[:5]) if len(words) > 5 else target


def _of_answer(old: str, new: str) -> Iterator[tuple[str, str, str]]:
    (old_head, _, old_body), (new_head, _, new_body) = old.partition("\n\n"), new.partition("\n\n")
    yield from _of_lines("head", old_head, new_head)
    yield from _of_lines("text", old_body, new_body)


def _of_lines(field: str, old: str, new: str) -> Iterator[tuple[str, str, str]]:
    if old == new:
        return
    lines = [*unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm="")][2:]
    gone, come = ([line[1:] for line in lines if line[0] == sign] for sign in "-+")
    for one, other in zip_longest(gone, come, fillvalue="nothing"):
        values = [*_of_values("", _json(one), _json(other))]
        yield from values or [(field, one, other)]


def _json(line: str) -> Any:
    """The object or list of a line; null where it holds none."""
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict | list) else None


def _of_values(path: str, old: Any, new: Any) -> Iterator[tuple[str, str, str]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in {**old, **new}:
            inner = f"{path}.{name}" if path else name
            if name in old and name in new:
                yield from _of_values(inner, old[name], new[name])
            else:
                yield inner, _shown(old, name), _shown(new, name)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for one, other in zip(old, new, strict=True):
            yield from _of_values(f"{path}[]", one, other)
    elif path and (old != new or type(old) is not type(new)):
        yield path, json.dumps(old), json.dumps(new)


def _shown(fields: Mapping[str, Any], name: str) -> str:
    return json.dumps(fields[name]) if name in fields else "nothing"


def _short(text: str, length: int = 90) -> str:
    return text if len(text) <= length else f"{text[:length]}..."
