"""The architecture as tests: ranked packages, imports downward only, one owner per library, small files, plain names.

Change the tables below, and `tests/limits.toml`, in a commit of its own that says why.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests import measures
from tests.measures import SERVICE, package_of

RANKS: tuple[frozenset[str], ...] = (
    frozenset(
        {
            "base62",
            "errors",
            "clock",
            "units",
            "validation_errors",
            "formats",
            "settings",
            "logs",
            "networks",
            "proxies",
            "queued_output",
            "interpreter",
            "scheduler",
        }
    ),
    frozenset({"feeds", "wire"}),
    frozenset({"storage", "upstream", "streams", "analytics", "ethereum"}),
    frozenset({"access", "payments", "market"}),
    frozenset({"rwa", "sentiment", "wallets"}),
    frozenset({"transcripts", "verdict", "walkforward", "watch"}),
    frozenset({"narratives", "notify", "table"}),
    frozenset({"lookup"}),
    frozenset({"ask"}),
    frozenset({"routes"}),
    frozenset({"http", "pages", "client"}),
    frozenset({"mcp"}),
    frozenset({"cli"}),
    frozenset({"wiring"}),
    frozenset({"admin"}),
    frozenset({"__main__"}),
)
RANK_OF = {package: rank for rank, packages in enumerate(RANKS) for package in packages}

CLIENTS = frozenset({"client", "cli", "mcp"})
CLIENT_MAY_IMPORT = frozenset({"client", "mcp", "wire", "ethereum"}) | RANKS[0]

OWNERS: dict[str, frozenset[str]] = {
    "starlette": frozenset({"http", "wiring"}),
    "uvicorn": frozenset({"http", "wiring", "mcp"}),
    "uvloop": frozenset({"wiring", "admin"}),
    "httptools": frozenset({"http"}),
    "aiosqlite": frozenset({"storage"}),
    "sqlite3": frozenset({"storage"}),
    "pysqlite3": frozenset({"storage"}),
    "asyncpg": frozenset({"storage"}),
    "aiohttp": frozenset({"upstream"}),
    "numpy": frozenset({"analytics"}),
    "time": frozenset({"clock"}),
    "datetime": frozenset({"ask", "clock"}),
    "coincurve": frozenset({"ethereum"}),
    "Crypto": frozenset({"ethereum", "payments"}),
    "sha3": frozenset({"ethereum"}),
    "jwt": frozenset({"access"}),
    "prometheus_client": frozenset({"http"}),
    "yarl": frozenset({"upstream"}),
    "defusedxml": frozenset({"upstream"}),
    "vaderSentiment": frozenset({"sentiment"}),
    "jinja2": frozenset({"ask", "pages"}),
    "click": frozenset({"cli", "admin"}),
    "keyring": frozenset({"client"}),
    "mcp": frozenset({"mcp"}),
    "rapidfuzz": frozenset({"ask", "lookup"}),
    "rfc8785": frozenset({"wire"}),
}

CLOCK_FUNCTIONS = {
    **dict.fromkeys(("datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today"), 9),
    **dict.fromkeys(("datetime.date.today", "time.time", "time.time_ns"), 9),
    **dict.fromkeys(("time.localtime", "time.gmtime", "time.ctime", "time.asctime", "email.utils.formatdate"), 0),
    "time.strftime": 1,
}
"""Functions that read the wall clock if they get at most so many arguments."""

IN_SQL = r"\bcurrent_(date|time)|\blocaltimestamp\b|unixepoch\(\)|\('now'|select now\(\)"
IN_SCRIPT = r"\bDate\.now\(|\bnew Date\(\)"
IN_SHELL = r"\bdate [-+]|\$\(date\b"
CLOCK_PATTERNS = {
    ".py": f"{IN_SQL}|{IN_SCRIPT}",
    ".sql": IN_SQL,
    **dict.fromkeys((".js", ".mjs", ".html"), IN_SCRIPT),
    ".jsonl": r"\btime\.time|\b(now|utcnow|today|localtime|gmtime)\(",
    **dict.fromkeys(("", ".sh"), IN_SHELL),
}
"""What reads the wall clock in other languages, by the file's ending."""

READS_CLOCK = {
    "service/clock.py": "It is the clock.",
    "tests/test_layers.py": "It says here what reads the clock.",
    "service/pages/static/candles.js": "A page has its user's clock and no other: whether a bar still runs.",
    "service/pages/static/session.js": "The same: whether the machine slept, and where the server's clock stands.",
    "service/pages/static/signin.js": "The same: how long ago this browser signed in.",
}
"""Files that may read the wall clock, and why."""

LONGEST_FILE = 400
LONGEST_FUNCTION = 60
LAZY_PARTS = frozenset({"utils", "helpers", "common", "manager", "misc", "util", "helper"})

FILES = sorted(SERVICE.rglob("*.py"))
ROOT = SERVICE.parent


def imports_of(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative imports are banned"
            if node.module == "service":
                yield from ((f"service.{alias.name}", node.lineno) for alias in node.names)
            else:
                yield node.module or "", node.lineno


def relative(path: Path) -> str:
    return str(path.relative_to(SERVICE))


@cache
def text_of(path: Path) -> str:
    return path.read_text()


def tree_of(path: Path) -> ast.Module:
    return measures.trees()[path]


def test_every_package_has_a_rank() -> None:
    packages = {package_of(path) for path in FILES} - {"__init__"}
    assert packages <= RANK_OF.keys()


@pytest.mark.slow
def test_imports_go_only_downward() -> None:
    for path in FILES:
        package = package_of(path)
        for name, line in imports_of(tree_of(path)):
            target = re.match(r"service\.(\w+)", name)
            if package == "__init__" or not target or target[1] in {package, "__version__"}:
                continue
            below = RANK_OF[target[1]] < RANK_OF[package] or RANK_OF[package] == 0 == RANK_OF[target[1]]
            assert below, f"{relative(path)}:{line}: {package} must not import {target[1]}"
            if package in CLIENTS:
                assert target[1] in CLIENT_MAY_IMPORT, (
                    f"{relative(path)}:{line}: {package} may import only client, mcp, wire, ethereum and rank 0"
                )


def test_gates_do_not_import_each_other() -> None:
    for gate in (SERVICE / "http" / "gates").glob("*.py"):
        for name, line in imports_of(tree_of(gate)):
            assert not name.startswith("service.http.gates"), f"{gate.name}:{line} imports {name}"


def test_modules_import_each_other_without_a_cycle() -> None:
    graph = {module_name(path): set(module_imports(path)) for path in FILES}
    done: set[str] = set()

    def visit(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, f"import cycle: {' → '.join((*trail, module))}"
        if module not in done:
            for target in graph.get(module, ()):
                visit(target, (*trail, module))
            done.add(module)

    for module in graph:
        visit(module, ())


def module_name(path: Path) -> str:
    parts = path.relative_to(SERVICE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def known_modules() -> frozenset[str]:
    return frozenset(map(module_name, FILES))


def module_imports(path: Path) -> Iterator[str]:
    known = known_modules()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("service"):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                target = full if full in known else str(node.module)
                if target != module_name(path):
                    yield target


def test_a_library_is_imported_only_by_its_owner() -> None:
    for path in FILES:
        for name, line in imports_of(tree_of(path)):
            owners = OWNERS.get(name.split(".")[0])
            if owners is not None and name != "starlette.types":
                assert package_of(path) in owners, f"{relative(path)}:{line}: {name} belongs to {sorted(owners)}"


def test_only_settings_reads_the_environment() -> None:
    readers = {package_of(path) for path in FILES if re.search(r"\b(environ|getenv)\b", text_of(path))}
    # A program that uses the client shares the payment store of the command line, by XDG_STATE_HOME.
    assert readers <= {"settings", "__main__", "client"}


def test_nothing_branches_on_testing() -> None:
    tested = re.compile(r"PYTEST|\btesting\b|under_test|is_test")
    assert [relative(path) for path in FILES if tested.search(text_of(path))] == []


def test_only_the_clock_reads_the_day() -> None:
    """A test that reads the day passes today and fails next month. Take a `Clock`, or an instant."""
    found = {str(path.relative_to(ROOT)): [*clock_readings(path)] for path in clock_files()}
    assert {name: lines for name, lines in found.items() if lines and name not in READS_CLOCK} == {}
    assert [name for name in READS_CLOCK if not found[name]] == [], "These exceptions are not needed any more."


def clock_files() -> Iterator[Path]:
    """Every file that could read the clock; what others wrote is left out."""
    for folder in ("service", "tests", "fixtures", "bench", "release", ".ci"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in CLOCK_PATTERNS and not {"vendor", "node_modules"} & set(path.parts) and path.is_file():
                yield path


def clock_readings(path: Path) -> Iterator[str]:
    """Places where a file reads the wall clock."""
    text = path.read_text(errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(CLOCK_PATTERNS[path.suffix], line, re.IGNORECASE):
            yield f"line {number}: {line.strip()[:100]}"
    if path.suffix == ".py" and re.search(r"^\s*(from|import) (datetime|time|email)\b", text, re.MULTILINE):
        tree = ast.parse(text)
        meant = dict(aliases_of(tree))
        arguments = {id(node.func): len(node.args) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name | ast.Attribute):
                first, *rest = ast.unparse(node).split(".")
                name = ".".join((meant.get(first, ""), *rest))
                if arguments.get(id(node), 0) <= CLOCK_FUNCTIONS.get(name, -1):
                    yield f"line {node.lineno}: {name}"


def aliases_of(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Imported names, and what they stand for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (
                (alias.asname or alias.name.split(".")[0], alias.name if alias.asname else alias.name.split(".")[0])
                for alias in node.names
            )
        elif isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def test_a_file_is_small() -> None:
    long = [relative(path) for path in FILES if len(text_of(path).splitlines()) > LONGEST_FILE]
    assert not long


def test_a_function_is_short() -> None:
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                assert length <= LONGEST_FUNCTION, f"{relative(path)}: {node.name} has {length} lines"


PUBLIC_NAMES = {"client": "`from service.client import Verdict` is what programs write."}
"""Packages whose `__init__` imports public names, when they are first used, and why."""


def test_an_init_holds_only_a_docstring() -> None:
    for path in SERVICE.rglob("__init__.py"):
        if path.parent == SERVICE or relative(path.parent) in PUBLIC_NAMES:
            continue
        assert len(tree_of(path).body) == 1, path
        assert ast.get_docstring(tree_of(path)), path


def test_modules_have_specific_names() -> None:
    assert [relative(path) for path in FILES if LAZY_PARTS & set(Path(relative(path)).with_suffix("").parts)] == []


def test_middleware_is_pure_asgi() -> None:
    assert [relative(path) for path in FILES if "BaseHTTPMiddleware" in text_of(path)] == []


def test_public_class_names_are_unique() -> None:
    allowed = measures.limits()["duplicate_classes"]
    found = measures.duplicate_classes()
    more = {name: count for name, count in found.items() if count > allowed.get(name, 0)}
    assert not more, f"These public classes need unique names: {more}."


def test_a_small_file_has_a_reason() -> None:
    allowed = {name for names in measures.limits()["small_files"].values() for name in names}
    new = measures.small_files() - allowed
    assert not new, (
        f"Merge these files of at most {measures.SMALL_LINES} lines into the module that uses them, "
        f"or give the reason in tests/limits.toml: {sorted(new)}."
    )


def test_a_large_package_has_a_reason() -> None:
    allowed = {package: entry["files"] for package, entry in measures.limits()["large_packages"].items()}
    for package, count in measures.files_by_package().items():
        most = allowed.get(package, measures.LARGE_PACKAGE_FILES)
        assert count <= most, f"{package} has {count} files, more than the {most} of tests/limits.toml."


def test_names_and_docstrings_use_plain_words() -> None:
    allowed = measures.limits()["banned_words"]
    for package, words in measures.banned_words().items():
        most = allowed.get(package, 0)
        assert words.total() <= most, f"{package} may use {most} banned words, but uses {dict(words)}."


@pytest.mark.process
@pytest.mark.parametrize("module", ["numpy", "jwt", "cryptography"])
def test_a_process_starts_without_rarely_needed_libraries(module: str) -> None:
    """numpy costs 60 ms and 30 MB, which only the leading process needs; jwt and cryptography 40 ms, for sessions."""
    code = f"import sys, service.wiring.build; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=SERVICE.parent, check=False).returncode == 0
