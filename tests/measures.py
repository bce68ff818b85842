"""Measures of the code base and their limits.

`python -m tests.measures` prints the measures. `python -m tests.measures --tighten` lowers the limits in
`tests/limits.toml` to the present values; it never raises one. `tests/test_layers.py` and `tests/test_measures.py` fail
when a limit is exceeded.
"""

import ast
import asyncio
import re
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import median
from types import FrameType
from typing import Any, Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
SERVICE: Final = ROOT / "service"
LIMITS: Final = ROOT / "tests" / "limits.toml"

SMALL_LINES: Final = 40
LARGE_PACKAGE_FILES: Final = 25
SUBJECT_CHARACTERS: Final = 72
ROUND_START: Final = "afdfe4d1"
"""Commit that subjects are counted from."""

_REASON: Final = "Not reviewed yet."
_WORDS: Final = re.compile(r"[a-z]+|[A-Z][a-z]*|[A-Z]+(?![a-z])")
BANNED_WORDS: Final = frozenset({
    *("acquaintances", "anew", "bearings", "cashier", "chronicle", "counterpart", "desk", "desks", "doorkeeper"),
    *("doorkeepers", "drawer", "drawers", "gathering", "giver", "glance", "glancer", "ground", "guest", "guests"),
    *("happening", "happenings", "house", "lane", "lately", "manners", "mend", "nobody", "ourselves", "oversight"),
    *("patience", "purse", "reckoned", "registrar", "room", "rooms", "seats", "shelf", "shelved", "strangers"),
    *("tender", "told", "turnstile", "unkept", "visitor", "vouching", "whoever", "witness"),
})  # fmt: skip
"""Private metaphors and archaic words; use the standard technical term."""
PROPER_NAMES: Final = {"CoinDesk": "A news site."}
"""Names that contain a banned word, by what they name."""


class Trace(NamedTuple):
    """What one request runs in `service/`: distinct files, calls, and calls whose file differs from the one before."""

    files: int
    calls: int
    changes: int


@cache
def sources() -> Mapping[Path, str]:
    """Text of every Python file of `service/`."""
    return {path: path.read_text() for path in sorted(SERVICE.rglob("*.py"))}


@cache
def trees() -> Mapping[Path, ast.Module]:
    """Syntax tree of every Python file of `service/`."""
    return {path: ast.parse(text) for path, text in sources().items()}


def package_of(path: Path) -> str:
    """First part of a file's module name below `service`."""
    return path.relative_to(SERVICE).parts[0].removesuffix(".py")


def small_files() -> set[str]:
    """Files of at most `SMALL_LINES` lines, without `__init__.py`."""
    return {
        str(path.relative_to(SERVICE))
        for path, text in sources().items()
        if path.name != "__init__.py" and len(text.splitlines()) <= SMALL_LINES
    }


def files_by_package() -> Counter[str]:
    """Number of files of each package, subpackages included."""
    return Counter(package_of(path) for path in sources())


def duplicate_classes() -> dict[str, int]:
    """Public class names that more than one class has, with their number."""
    names = Counter(
        node.name
        for tree in trees().values()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return {name: count for name, count in sorted(names.items()) if count > 1}


@cache
def banned_words() -> Mapping[str, Counter[str]]:
    """Banned words in names and docstrings, by package."""
    found: dict[str, Counter[str]] = {}
    for path, tree in trees().items():
        words = Counter(word for word in _words_of(path, tree) if word in BANNED_WORDS)
        if words:
            found.setdefault(package_of(path), Counter()).update(words)
    return found


def _words_of(path: Path, tree: ast.Module) -> Iterator[str]:
    names = [path.stem]
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.append(name)
            case ast.arg(arg=name) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.Name(id=name, ctx=ast.Store()):
                names.append(name)
            case ast.Expr(value=ast.Constant(value=str(docstring))):
                names.append(docstring)
    for name in names:
        for proper in PROPER_NAMES:
            name = name.replace(proper, "")  # noqa: PLW2901 - what is left of it
        yield from (word.lower() for word in _WORDS.findall(name))


def long_subjects() -> tuple[int, int] | None:
    """Commits since `ROUND_START`: subjects that are too long, and all; None without the repository's history."""
    command = ["git", "log", "--no-merges", "--format=%s", f"{ROUND_START}..HEAD"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode:
        return None
    subjects = found.stdout.splitlines()
    return sum(len(subject) > SUBJECT_CHARACTERS for subject in subjects), len(subjects)


class Tracer:
    """Counts calls of functions of `service/` on this thread and on those started later, while `active`.

    Generators and coroutines count each time they are resumed.
    """

    def __init__(self) -> None:
        self.active = False
        self.called: list[str] = []

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Take an event of the interpreter's profiler."""
        if self.active and event == "call" and frame.f_code.co_filename.startswith(str(SERVICE)):
            self.called.append(frame.f_code.co_filename)

    def result(self) -> Trace:
        """Return what was counted, and begin again."""
        called, self.called = self.called, []
        changes = sum(before != after for before, after in pairwise(called))
        return Trace(len(set(called)), len(called), changes)


def traces() -> dict[str, Trace]:
    """One counted GET, one refused with 402, and one paid, each over a new connection with a known key."""
    tracer, before = Tracer(), sys.getprofile()
    threading.setprofile(tracer)
    sys.setprofile(tracer)
    try:
        with tempfile.TemporaryDirectory() as folder:
            return asyncio.run(_trace(Path(folder), tracer))
    finally:
        sys.setprofile(before)
        threading.setprofile(before)


async def _trace(folder: Path, tracer: Tracer) -> dict[str, Trace]:
    from tests.http.stage import RISK, staged  # noqa: PLC0415 - the rest needs no service
    from tests.http.wire import served  # noqa: PLC0415
    from tests.payments.signing import header, pay_v2, row, wallet  # noqa: PLC0415

    found: dict[str, Trace] = {}
    async with staged(folder) as stage, served(stage.app) as wire:
        key = await stage.key()

        async def get(name: str, status: int, *lines: str) -> None:
            peer = await wire.connect()
            head = "\r\n".join(
                (f"GET {RISK} HTTP/1.1", "Host: api.example.org", f"Authorization: Bearer {key}", *lines)
            )
            tracer.active = True
            await peer.say(f"{head}\r\n\r\n".encode())
            reply = await peer.reply()
            tracer.active = False
            peer.close()
            assert reply.status == status, reply
            found[name] = tracer.result()

        await get("first", 200)
        await get("counted", 200, "X-New: 1")
        for _ in range(8):
            await get("spent", 200)
        for _ in range(2):  # the first one builds the challenge
            await get("refused", 402)
        accepted = row(price=5_000, pay_to="0x000000000000000000000000000000000000dEaD")
        for payer in (1, 2):  # the first one fills caches
            payment = header(pay_v2(wallet(payer), accepted, now_ms=stage.clock.now_ms()))
            await get("paid", 200, f"Payment-Signature: {payment}")
    return {name: found[name] for name in ("counted", "refused", "paid")}


def limits() -> dict[str, Any]:
    """The tables of `tests/limits.toml`."""
    return tomllib.loads(LIMITS.read_text())


def tightened(now: Mapping[str, Any], traced: Mapping[str, Trace]) -> str:
    """The text of `limits.toml` with every limit lowered to its present value; traces may vary by a tenth."""
    small, files, duplicates = small_files(), files_by_package(), duplicate_classes()
    banned = {package: words.total() for package, words in banned_words().items()}
    reasons = {name: reason for reason, names in now["small_files"].items() for name in names if name in small}
    by_reason: dict[str, list[str]] = {}
    for name, reason in sorted(reasons.items()):
        by_reason.setdefault(reason, []).append(name)
    lines = ["# Limits of the measures, see tests/measures.py. They may only fall.", ""]
    lines += ["# Files of at most 40 lines, by the reason why each is a file of its own.", "[small_files]"]
    for reason, names in sorted(by_reason.items()):
        lines += [f'"{reason}" = [', *(f'    "{name}",' for name in names), "]"]
    lines += ["", "# Packages of more than 25 files: the number allowed, and why."]
    for package, entry in sorted(now["large_packages"].items()):
        if files[package] > LARGE_PACKAGE_FILES:
            lines += [f"[large_packages.{package}]", f"files = {min(entry['files'], files[package])}"]
            lines.append(f'reason = "{entry["reason"]}"')
    for table, about, found in (
        ("duplicate_classes", "Public class names that several classes share.", duplicates),
        ("banned_words", "Banned words in names and docstrings, by package.", banned),
    ):
        lines += ["", f"# {about}", f"[{table}]"]
        lines += [f"{name} = {min(most, found[name])}" for name, most in sorted(now[table].items()) if found.get(name)]
    lines += ["", "# What one request runs in service/: distinct files, calls, changes of file."]
    for name, trace in traced.items():
        most = now["traced"][name]
        allowed = {key: min(most[key], value + value // 10) for key, value in trace._asdict().items()}
        lines += [f"[traced.{name}]", *(f"{key} = {value}" for key, value in allowed.items())]
    return "\n".join(lines) + "\n"


def report() -> str:
    """The measures as a table in Markdown."""
    lengths = [len(text.splitlines()) for text in sources().values()]
    rows: list[tuple[str, object]] = [
        ("lines in `service/`", f"{sum(lengths):,}"),
        ("Python files in `service/`", len(lengths)),
        ("median length of a file", int(median(lengths))),
        (f"files of at most {SMALL_LINES} lines, `__init__.py` aside", len(small_files())),
        ("public class names that several classes share", len(duplicate_classes())),
        ("banned words in names and docstrings", sum(words.total() for words in banned_words().values())),
    ]
    rows += [
        (f"files / calls / changes of file of a {name} GET", " / ".join(map(str, t))) for name, t in traces().items()
    ]
    subjects = long_subjects()
    if subjects is not None:
        rows.append((f"commit subjects over {SUBJECT_CHARACTERS} characters", f"{subjects[0]} of {subjects[1]}"))
    rows.append(("README", f"{(ROOT / 'README.md').stat().st_size / 1_000:.1f} kB"))
    return "\n".join(["| Measure | Value |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])


if __name__ == "__main__":
    if "--tighten" in sys.argv:
        LIMITS.write_text(tightened(limits(), traces()))
    else:
        print(report())  # noqa: T201 - this is a command
