"""How every answer is shown, on a wide and on a narrow terminal, and whatever a service writes into it."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from service.cli.show.plain import plain, view_of
from service.cli.terminal import Display
from tests.cli.cases import CASES, Case
from tests.cli.recorded import hostile, steering
from tests.cli.snapshots import NARROW, check

_CUT_FIGURE = re.compile(r"[-+$]?[\d,.]+ ?…")


def shown(case: Case, screen: Display, data: Any, meta: Any) -> Iterator[str]:
    return iter(view_of(case.view)(data, meta, screen, case.chosen()))


@pytest.mark.parametrize("name", CASES)
def test_an_answer_is_shown_as_it_was_read_and_kept(name: str) -> None:
    case = CASES[name]
    data, meta = case.given()
    check(name, lambda screen: shown(case, screen, data, meta), NARROW)
    assert list(shown(case, Display(20, colour=False), data, meta))


@pytest.mark.parametrize("name", CASES)
def test_no_text_of_a_service_steers_the_terminal(name: str) -> None:
    data, meta = map(hostile, CASES[name].given())
    screen = Display(80, colour=False)
    lines = list(shown(CASES[name], screen, data, meta))
    assert lines
    assert steering(iter([*lines, *plain(data, meta, screen, {})])) == []


def test_a_wide_terminal_shows_more_columns_of_coins() -> None:
    case = CASES["coins"]
    check("coins", lambda screen: shown(case, screen, *case.given()), [120])


def test_coins_show_what_they_are_ordered_by() -> None:
    data, meta = CASES["coins"].given()
    for sort, header in (("score", "SCORE"), ("market_cap", "CAP"), ("streak_days", "DAYS"), ("rank", "7 D")):
        lines = [*view_of("coins")(data, meta, Display(80, colour=False), {"sort": sort})]
        assert header in lines[2]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"record.backtested": None, "record.live": {}}, "No verdict of this kind has an outcome yet."),
        (
            {"record.backtested.all_coins.0": {"days_seen": 999, "hit_rate": None, "says": "Too few."}}
            | {"record.backtested.this_coin": [], "record.live": {}}
            | {f"record.backtested.all_coins.{place}.hit_rate": None for place in (1, 2)},
            "Too few.",
        ),
        ({"record.backtested.all_coins.0.hit_rate_low": None}, "days all alike"),
    ],
)
def test_a_record_without_figures_says_why(changed: dict[str, Any], said: str) -> None:
    case = CASES["signal"]._replace(changed=changed)
    assert said in "\n".join(shown(case, Display(80, colour=False), *case.given()))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_no_figure_is_cut_on_a_narrow_terminal(case: Case) -> None:
    lines = shown(case, Display(40, colour=False), *case.given())
    cut = [word for line in lines for word in line.split() if _CUT_FIGURE.match(word)]
    assert cut == []
