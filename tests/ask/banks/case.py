"""Questions of the banks, and what a right answer holds. See the README beside it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

import msgspec

BANKS: Final = ("a", "b", "c", "d", "e", "f")

_FOLDER: Final = Path(__file__).parent
_KNOWN: Final = _FOLDER / "known.toml"


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question.

    Attributes:
        id: Of the bank and its place: `a-001`.
        kind: What it is about, such as `rank`.
        ask: The user's messages; the last is judged.
        answer: `facts`: the data answer it; `refuse`: nothing does; `free`: answered without data and charge.
        facts: Expressions over `Facts`, whose values an answer must hold.
        absent: Expressions whose values it must not hold.
        note: A remark of its author.
    """

    id: str
    kind: str
    ask: tuple[str, ...]
    answer: Literal["facts", "refuse", "free"]
    facts: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    note: str = ""


class Known(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known to fall short of a bank.

    Attributes:
        right: Answerable questions that are answered right, at least.
        wrong: Answerable questions that are answered wrong.
        leaks: Unanswerable questions that are answered.
        misread: Free questions that are answered wrong.
    """

    right: int
    wrong: tuple[str, ...]
    leaks: tuple[str, ...]
    misread: tuple[str, ...]


def cases(bank: str) -> list[Case]:
    """The questions of a bank."""
    lines = (_FOLDER / f"{bank}.jsonl").read_text("utf-8").splitlines()
    return [msgspec.json.decode(line, type=Case) for line in lines]


def known(bank: str) -> Known:
    """What is known to fall short of a bank."""
    return msgspec.toml.decode(_KNOWN.read_bytes(), type=dict[str, Known])[bank]


def record(found: Mapping[str, Known]) -> None:
    """Write down what falls short."""
    lines = [line for bank, each in found.items() for line in (f"[{bank}]", *_lines(each), "")]
    _KNOWN.write_text("\n".join(lines), "utf-8")


def _lines(known: Known) -> Iterator[str]:
    for name, value in msgspec.structs.asdict(known).items():
        if isinstance(value, int):
            yield f"{name} = {value}"
        else:
            yield from (f"{name} = [", *(f'    "{one}",' for one in value), "]")
