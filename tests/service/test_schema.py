"""schemathesis against the running service: whatever its document allows or forbids, it keeps to it, with every check.

Two of the tool's expectations are replaced in `schema_hooks`, each with its reason. Streams are left out, since the
tool waits for the end of an answer; nothing else is.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.wire.offers import OFFERS, WATCH
from tests.fakes.handful import handful
from tests.fakes.serving import Serving
from tests.service.asking import whole_market
from tests.service.schema_hooks import sign_in

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]
OPERATIONS = sum(not offer.streaming for offer in OFFERS)
DRAWN = "examples,fuzzing,stateful"
ENUMERATED = "coverage"
CALLERS = {
    "an API key of tier pro": "^/api/cli",
    "a session of tier free": "^/api/(?!cli|auth/login)",
    "nobody": None,
}
"""Who asks, and the paths on which all cases are told off that a schema lets one enumerate.

A key can do on the data routes what a session can, and more of it; nobody is refused before anything is read that the
many cases differ in. What is enumerated for the sign-in are texts of thousands of characters, drawn for ten seconds and
refused alike. The soak enumerates everything for everybody.
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with whole_market(tmp_path_factory.mktemp("data"), fixtures_dir=str(handful())) as whole:
        yield whole.service


def token_of(caller: str, service: Serving, url: str) -> str:
    if caller == "nobody":
        return ""
    return service.make_key("--tier", "pro") if "key" in caller else sign_in(url)


def examine(
    service: Serving, caller: str, examples: int, seed: int, patience_s: float, phases: str, paths: str = "^/"
) -> str:
    """Run phases with every check, on the operations whose paths match; return what it said."""
    url = f"http://127.0.0.1:{service.port}"
    settings = {
        "VERDICT_URL": url,
        "VERDICT_TOKEN": token_of(caller, service, url),
        "SCHEMATHESIS_HOOKS": "tests.service.schema_hooks",
        "PYTHONPATH": str(ROOT),
    }
    options = ["--checks", "all", "--exclude-checks", "missing_required_header", "--generation-database", "none"]
    options += ["--max-examples", str(examples), "--seed", str(seed), "--no-color", "--output-sanitize", "false"]
    options += ["--phases", phases, "--include-path-regex", paths, "--exclude-path", WATCH.path]
    done = subprocess.run(
        [Path(sys.executable).with_name("schemathesis"), "run", f"{url}/openapi.json", *options],
        env={**os.environ, **settings},
        cwd=service.settings["data_dir"],
        capture_output=True,
        text=True,
        timeout=patience_s,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]
    return done.stdout


def check_unharmed(service: Serving) -> None:
    assert [record for record in service.records if record["level"] == "error"] == []
    assert service.ask("/readyz")[0] == 200
    assert service.verdict("admin", "doctor").returncode == 0


@pytest.mark.promise("documents.openapi", "errors.always-json", "auth.none-403", "auth.two-kinds")
@pytest.mark.parametrize("caller", CALLERS)
def test_schemathesis_finds_nothing_that_differs_from_the_document(service: Serving, caller: str) -> None:
    said = examine(service, caller, examples=2, seed=8402, patience_s=110, phases=DRAWN)
    assert f"Tested: {OPERATIONS}\n" in said
    if enumerated := CALLERS[caller]:
        examine(service, caller, examples=1, seed=8402, patience_s=110, phases=ENUMERATED, paths=enumerated)
    check_unharmed(service)


@pytest.mark.soak
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("caller", CALLERS)
def test_schemathesis_finds_nothing_however_long_it_looks(service: Serving, caller: str, patience: int) -> None:
    examine(service, caller, examples=15 * patience, seed=1, patience_s=1_700, phases=f"{DRAWN},{ENUMERATED}")
    check_unharmed(service)
