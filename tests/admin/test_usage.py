from collections.abc import Iterator
from pathlib import Path

import pytest

from service.access.audit import DayUsage
from service.admin import accounts
from service.clock import DAY_MS, SystemClock, day_of, iso
from tests.admin.conftest import Verdict
from tests.admin.test_doctor import EVENT, opened

PAID_EVENT = """
INSERT INTO usage_events (user_id, offer_id, at_ms, day, bucket, state, run_id) VALUES (?, 'x', 0, ?, 2, 1, 1)
"""


@pytest.mark.promise("operator.usage")
def test_users_are_listed_with_what_they_asked_today_in_a_month_and_ever_and_what_they_paid_for(
    verdict: Verdict, data_dir: Path
) -> None:
    verdict("admin", "keys", "create", "--name", "first")
    today = day_of(SystemClock().now_ms())
    asked = [(1, today, 1), (1, today, 1), (1, today, 2), (1, today - 29, 1), (1, today - 30, 1), (2, today - 3, 1)]
    with opened(data_dir) as connection:
        connection.executemany(EVENT, asked)
        connection.executemany(PAID_EVENT, [(1, today - 1), (2, today - 1), (2, today)])
    assert [line.split() for line in verdict("admin", "usage").out.splitlines()] == [
        ["USER", "TODAY", "30", "DAYS", "ALL", "PAID", "LAST", "DAY"],
        ["1", "2", "3", "4", "1", iso(today * DAY_MS)[:10]],
        ["2", "0", "1", "1", "2", iso(today * DAY_MS)[:10]],
    ]
    (second,) = verdict("admin", "usage", "--user", "2", "--json").json["users"]
    assert second == {
        "userId": 2,
        "today": 0,
        "total": 1,
        "paid": 2,
        "days": {iso((today - 3) * DAY_MS)[:10]: 1},
        "paidDays": {iso((today - 1) * DAY_MS)[:10]: 1, iso(today * DAY_MS)[:10]: 1},
    }


def test_what_devices_without_a_token_asked_stands_before_all_users(verdict: Verdict, data_dir: Path) -> None:
    verdict("admin", "keys", "create", "--name", "first")
    today = day_of(SystemClock().now_ms())
    with opened(data_dir) as connection:
        connection.executemany(EVENT, [(1, today, 1), (0, today, 1), (0, today, 1), (0, today, 2)])
    devices, user = [line.split() for line in verdict("admin", "usage").out.splitlines()[1:]]
    assert devices == ["anonymous", "2", "2", "2", "0", iso(today * DAY_MS)[:10]]
    assert user[:2] == ["1", "1"]
    users = verdict("admin", "usage", "--json").json["users"]
    assert [(said["userId"], said["total"]) for said in users] == [(None, 2), (1, 1)]


def test_rows_are_gone_through_once_however_many_there_are(verdict: Verdict, monkeypatch: pytest.MonkeyPatch) -> None:
    class Rows(list[DayUsage]):
        passes = 0

        def __iter__(self) -> Iterator[DayUsage]:
            Rows.passes += 1
            return super().__iter__()

    verdict("admin", "keys", "create", "--name", "first")
    rows = Rows(DayUsage(user, day, 1) for user in range(1, 21) for day in range(5))
    monkeypatch.setattr(accounts, "usage_by_day", lambda _: rows)
    assert len(verdict("admin", "usage", "--json").json["users"]) == 20
    assert Rows.passes == 1


def test_before_the_first_question_it_says_so(verdict: Verdict) -> None:
    verdict("admin", "keys", "create", "--name", "first")
    assert verdict("admin", "usage").out == "No question has been asked yet.\n"
