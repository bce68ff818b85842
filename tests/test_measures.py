"""The measures of the code base: what a request runs stays under its limits, and the report is complete."""

import tomllib

import pytest

import tests.http.stage  # noqa: F401 -- its imports start a process, which no test may
from tests import measures
from tests.measures import Trace


@pytest.fixture(scope="module")
def traces() -> dict[str, Trace]:
    return measures.traces()


@pytest.mark.parametrize("request_", ["counted", "refused", "paid"])
def test_a_request_runs_no_more_files_and_calls_than_allowed(traces: dict[str, Trace], request_: str) -> None:
    allowed = Trace(**measures.limits()["traced"][request_])
    found = traces[request_]
    assert all(count <= most for count, most in zip(found, allowed, strict=True)), f"{found} exceeds {allowed}"


def test_tightening_raises_no_limit(traces: dict[str, Trace]) -> None:
    now = measures.limits()
    then = tomllib.loads(measures.tightened(now, traces))
    for table in ("duplicate_classes", "banned_words"):
        assert all(count <= now[table][name] for name, count in then[table].items())
    assert {name for names in then["small_files"].values() for name in names} <= {
        name for names in now["small_files"].values() for name in names
    }
    assert all(entry["files"] <= now["large_packages"][name]["files"] for name, entry in then["large_packages"].items())


def test_tightening_lowers_a_limit_and_drops_what_is_gone(traces: dict[str, Trace]) -> None:
    (small, *_) = sorted(measures.small_files())
    now = {
        "small_files": {"A reason.": [small, "gone.py"]},
        "large_packages": {"cli": {"files": 10_000, "reason": "Another."}},
        "duplicate_classes": {"Gone": 5},
        "banned_words": {"gone": 5},
        "traced": {name: {"files": 10_000, "calls": 10_000, "changes": 1} for name in traces},
    }
    then = tomllib.loads(measures.tightened(now, traces))
    files = measures.files_by_package()["cli"]
    assert then["small_files"] == {"A reason.": [small]}
    assert then["large_packages"] == {"cli": {"files": files, "reason": "Another."}}
    assert then["duplicate_classes"] == then["banned_words"] == {}
    assert then["traced"]["counted"]["changes"] == 1
    assert then["traced"]["counted"]["files"] < 10_000


@pytest.mark.process
def test_the_report_names_every_measure() -> None:
    report = measures.report()
    for name in ("lines", "median length", "public class names", "counted GET", "refused GET", "paid GET", "README"):
        assert name in report
