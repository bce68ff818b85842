"""The house law: rooms are ranked, imports go only downward, each library has one owner, files and functions are small.

The table below is the plan. It may be changed, but only knowingly: in a commit of its own that says why.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.unmeasured

SERVICE = Path(__file__).resolve().parent.parent / "service"

RANKS: tuple[frozenset[str], ...] = (
    frozenset({"errors", "clock", "units", "settings", "logs", "interpreter"}),
    frozenset({"wire"}),
    frozenset({"storage", "upstream", "streams", "analytics", "ethereum"}),
    frozenset({"access", "payments", "market"}),
    frozenset({"rwa", "sentiment", "wallets"}),
    frozenset({"transcripts", "verdict", "walkforward", "watch"}),
    frozenset({"table"}),
    frozenset({"ask"}),
    frozenset({"routes"}),
    frozenset({"http", "pages", "clients"}),
    frozenset({"wiring"}),
    frozenset({"operator"}),
    frozenset({"__main__"}),
)
RANK_OF = {room: rank for rank, rooms in enumerate(RANKS) for room in rooms}

CLIENT_MAY_IMPORT = frozenset({"wire", "ethereum"}) | RANKS[0]

OWNERS: dict[str, frozenset[str]] = {
    "starlette": frozenset({"http", "wiring"}),
    "uvicorn": frozenset({"http", "wiring", "clients"}),
    "uvloop": frozenset({"wiring", "operator"}),
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
    "defusedxml": frozenset({"sentiment", "transcripts", "upstream"}),
    "vaderSentiment": frozenset({"sentiment"}),
    "jinja2": frozenset({"ask", "pages"}),
    "keyring": frozenset({"clients"}),
    "mcp": frozenset({"clients"}),
    "rapidfuzz": frozenset({"ask"}),
    "rfc8785": frozenset({"wire"}),
}

LONGEST_FILE = 400
GENERATED = frozenset({"clients/cli/catalogue.py"})
"""Written by `make commands`: as long as the table of offers makes it."""

LONGEST_FUNCTION = 60
LAZY_PARTS = frozenset({"utils", "helpers", "common", "manager", "misc", "util", "helper"})

FILES = sorted(SERVICE.rglob("*.py"))


def room_of(path: Path) -> str:
    first = path.relative_to(SERVICE).parts[0]
    return first.removesuffix(".py")


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


def where(path: Path) -> str:
    return str(path.relative_to(SERVICE))


@cache
def text_of(path: Path) -> str:
    return path.read_text()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(text_of(path))


def test_every_room_has_a_place_in_the_plan() -> None:
    rooms = {room_of(path) for path in FILES} - {"__init__"}
    assert rooms <= RANK_OF.keys()


def test_imports_go_only_downward() -> None:
    for path in FILES:
        room = room_of(path)
        for name, line in imports_of(tree_of(path)):
            target = re.match(r"service\.(\w+)", name)
            if room == "__init__" or not target or target[1] in {room, "__version__"}:
                continue
            below = RANK_OF[target[1]] < RANK_OF[room] or RANK_OF[room] == 0 == RANK_OF[target[1]]
            assert below, f"{where(path)}:{line}: {room} must not import {target[1]}"
            if room == "clients":
                assert target[1] in CLIENT_MAY_IMPORT, f"{where(path)}:{line}: a client knows only wire and HTTP"


def test_gates_do_not_import_each_other() -> None:
    for gate in (SERVICE / "http" / "gates").glob("*.py"):
        for name, line in imports_of(tree_of(gate)):
            assert not name.startswith("service.http.gates"), f"{gate.name}:{line} imports {name}"


def test_modules_of_a_room_import_each_other_without_a_cycle() -> None:
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
                assert room_of(path) in owners, f"{where(path)}:{line}: {name} belongs to {sorted(owners)}"


def test_only_settings_reads_the_environment() -> None:
    readers = {room_of(path) for path in FILES if re.search(r"\b(environ|getenv)\b", text_of(path))}
    assert readers <= {"settings", "__main__"}


def test_nothing_branches_on_testing() -> None:
    tested = re.compile(r"PYTEST|\btesting\b|under_test|is_test")
    assert [where(path) for path in FILES if tested.search(text_of(path))] == []


def test_only_the_clock_reads_the_time() -> None:
    """Whoever computes with days may import `datetime`, but gets the present from a `Clock`."""
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Attribute) and node.attr in {"now", "utcnow", "today"}:
                owner = node.value.id if isinstance(node.value, ast.Name) else ""
                assert owner not in {"date", "datetime"} or room_of(path) == "clock", f"{where(path)}:{node.lineno}"


def test_a_file_is_small() -> None:
    long = [where(path) for path in FILES if len(text_of(path).splitlines()) > LONGEST_FILE]
    assert set(long) <= GENERATED


def test_a_function_is_short() -> None:
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                assert length <= LONGEST_FUNCTION, f"{where(path)}: {node.name} has {length} lines"


def test_an_init_holds_only_a_docstring() -> None:
    for path in SERVICE.rglob("__init__.py"):
        if path.parent == SERVICE:
            continue
        body = ast.parse(path.read_text()).body
        assert len(body) == 1, path
        assert ast.get_docstring(ast.parse(path.read_text())), path


def test_names_say_what_a_thing_is() -> None:
    assert [where(path) for path in FILES if LAZY_PARTS & set(Path(where(path)).with_suffix("").parts)] == []


def test_middleware_is_pure_asgi() -> None:
    assert [where(path) for path in FILES if "BaseHTTPMiddleware" in text_of(path)] == []


@pytest.mark.parametrize("module", ["numpy", "jwt", "cryptography"])
def test_a_process_starts_without_what_few_need(module: str) -> None:
    """60 ms and 30 MB that only the first number needs, in the process that leads; 40 ms that sessions need."""
    said = f"import sys, service.wiring.build; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", said], cwd=SERVICE.parent, check=False).returncode == 0
