"""`verdict usage`: who has asked how many questions."""

from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from service.access.audit import DayUsage, usage_by_day
from service.access.quota import NO_USER
from service.admin.folder import Folder, run_in_folder
from service.admin.output import print_json, print_table
from service.client.errors import DONE
from service.clock import DAY_MS, day_of, iso

_MONTH: Final = 30
_ANONYMOUS: Final = "anonymous"


def show(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """List users with the questions of today, of thirty days and of all time, and the calls they paid for.

    Refused and failed calls cost nothing and are none of these; what was paid for is no question. The row
    `anonymous` is before all users: free questions of devices without a token, and calls that were paid without one.
    """

    async def read(folder: Folder) -> tuple[int, list[DayUsage]]:
        return day_of(folder.clock.now_ms()), await folder.database.inspect(usage_by_day)

    today, used = run_in_folder(environment, read)
    users = _by_user(used, arguments.user)
    if arguments.json:
        print_json({"users": [_plain(user, days, today) for user, days in users.items()]})
        return DONE
    rows = [
        [
            _ANONYMOUS if user == NO_USER else user,
            _questions_on(today, days),
            _questions_since(today - _MONTH + 1, days),
            _questions_since(0, days),
            _paid(days),
            _date(days[-1].day),
        ]
        for user, days in users.items()
    ]
    print_table(
        ["USER", "TODAY", "30 DAYS", "ALL", "PAID", "LAST DAY"], rows, nothing="No question has been asked yet."
    )
    return DONE


def _by_user(used: Iterable[DayUsage], only: int | None) -> dict[int, list[DayUsage]]:
    users: dict[int, list[DayUsage]] = {}
    for row in used:
        if only in {None, row.user_id}:
            users.setdefault(row.user_id, []).append(row)
    return users


def _plain(user: int, days: Sequence[DayUsage], today: int) -> dict[str, object]:
    return {
        "userId": None if user == NO_USER else user,
        "today": _questions_on(today, days),
        "total": _questions_since(0, days),
        "paid": _paid(days),
        "days": {_date(used.day): used.questions for used in days if used.questions},
        "paidDays": {_date(used.day): used.paid for used in days if used.paid},
    }


def _questions_on(day: int, days: Iterable[DayUsage]) -> int:
    return sum(used.questions for used in days if used.day == day)


def _questions_since(day: int, days: Iterable[DayUsage]) -> int:
    return sum(used.questions for used in days if used.day >= day)


def _paid(days: Iterable[DayUsage]) -> int:
    return sum(used.paid for used in days)


def _date(day: int) -> str:
    return iso(day * DAY_MS)[:10]
