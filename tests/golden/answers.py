"""Recorded answers: their files, what in them is of the moment, and the difference between two recordings."""

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
"""Fields of a route whose difference is shown; the rest is counted."""

OF_THE_MOMENT: Final[Sequence[tuple[re.Pattern[str], str]]] = (
    (re.compile(r"\r\n"), "\n"),
    (re.compile(r"(?m)^date: .*$"), "date: <date>"),
    (re.compile(r"(?m)^x-request-id: \S+$"), "x-request-id: <request-id>"),
    (re.compile(r"(?m)^content-length: \d+$"), "content-length: <length>"),
    (re.compile(r"\b[0-9a-f]{10}[0-9a-f]{7}\b(?=[\"'. )]|$)"), "<request-id>"),
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
"""What differs between two runs of the same service, and what stands for it: ids, secrets, addresses, real time."""


class Answer(NamedTuple):
    """One answer: who asked what, and what was said, as text."""

    title: str
    text: str


def normalised(text: str, known: Mapping[str, str] | None = None) -> str:
    """Replace what is of the moment.

    Args:
        text: What was said.
        known: More texts of this run, and what stands for each.
    """
    for value, name in (known or {}).items():
        text = text.replace(value, name)
    for pattern, name in OF_THE_MOMENT:
        text = pattern.sub(name, text)
    return text


def numbered(answers: Sequence[Answer]) -> list[Answer]:
    """Replace ids of receipts, which are drawn, by the order in which they are first told."""
    numbers: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        return numbers.setdefault(found[0], f"<receipt {len(numbers) + 1}>")

    return [Answer(*(_RECEIPT.sub(name, text) for text in answer)) for answer in answers]


def written(answers: Sequence[Answer]) -> str:
    """The text of a file. Titles must differ.

    Raises:
        ValueError: If two answers have one title.
    """
    titles = [answer.title for answer in answers]
    twice = {title for title in titles if titles.count(title) > 1}
    if twice:
        raise ValueError(f"recorded twice: {', '.join(sorted(twice))}")
    return "".join(f"{_TITLE}{answer.title}\n{answer.text.rstrip()}\n\n" for answer in answers)


def parsed(text: str) -> dict[str, str]:
    """Title → text of a file's answers."""
    blocks = re.split(rf"(?m)^{_TITLE}", text)[1:]
    return {title: rest.rstrip("\n") for title, _, rest in (block.partition("\n") for block in blocks)}


def path_of(name: str) -> Path:
    """The file of one recording."""
    return FOLDER / f"{name}.txt"


def recorded(name: str) -> str:
    """What a file holds; empty where there is none yet."""
    path = path_of(name)
    return path.read_text("utf-8") if path.exists() else ""


def expect_as_recorded(made: Mapping[str, Sequence[Answer]]) -> None:
    """Compare what was said with what is recorded, byte by byte.

    Raises:
        AssertionError: If it differs; the message says where, by route and field.
    """
    for name, answers in made.items():
        before, after = recorded(name), written(answers)
        assert before == after, f"{name} differs (`make golden` records it anew):\n{difference(before, after)}"


class Change(NamedTuple):
    """One difference: of which route, which field, in which answer, and both values."""

    route: str
    field: str
    title: str
    before: str
    after: str


def difference(before: str, after: str) -> str:
    """Describe how one recording differs from another, by route and field; empty where they are equal."""
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
    """A title without what differs among the answers of a route: query, caller, values of the path."""
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
        told = [*_of_values("", _json(one), _json(other))]
        yield from told or [(field, one, other)]


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
