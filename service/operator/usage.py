"""`verdict usage`: who has asked how many questions."""

from argparse import Namespace
from collections.abc import Iterable, Mapping

from service.access.audit import DayUsage, usage_by_day
from service.clock import DAY_MS, day_of, iso
from service.operator.folder import Folder, run_in_folder
from service.operator.output import print_json, print_table
from service.operator.refusal import DONE

_MONTH: int = 30


def show(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """List users with the questions of today, of thirty days, and of all time; refused and failed calls cost none."""

    async def read(folder: Folder) -> tuple[int, list[DayUsage]]:
        return day_of(folder.clock.now_ms()), await folder.database.inspect(usage_by_day)

    today, used = run_in_folder(environment, read)
    users = _by_user(used, arguments.user)
    if arguments.json:
        print_json({"users": [_plain(user, days, today) for user, days in users.items()]})
        return DONE
    rows = [
        [user, days.get(today, 0), _sum_since(days, today - _MONTH), sum(days.values()), _date(max(days))]
        for user, days in users.items()
    ]
    print_table(["USER", "TODAY", "30 DAYS", "ALL", "LAST DAY"], rows, nothing="No question has been asked yet.")
    return DONE


def _by_user(used: Iterable[DayUsage], only: int | None) -> dict[int, dict[int, int]]:
    users: dict[int, dict[int, int]] = {}
    for row in used:
        if only in {None, row.user_id}:
            users.setdefault(row.user_id, {})[row.day] = row.questions
    return users


def _plain(user: int, days: Mapping[int, int], today: int) -> dict[str, object]:
    return {
        "userId": user,
        "today": days.get(today, 0),
        "total": sum(days.values()),
        "days": {_date(day): questions for day, questions in days.items()},
    }


def _sum_since(days: Mapping[int, int], before: int) -> int:
    return sum(questions for day, questions in days.items() if day > before)


def _date(day: int) -> str:
    return iso(day * DAY_MS)[:10]
