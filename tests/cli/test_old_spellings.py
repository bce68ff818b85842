"""Commands that have a new name are answered with it."""

import pytest

from service.cli.error_report import RENAMED
from tests.cli.commanding import typed


@pytest.mark.parametrize(
    ("line", "said"),
    [
        *((old, f"`verdict {old}` is now `verdict {new}`.") for old, new in RENAMED.items()),
        ("backup copy.db", "`verdict backup` is now `verdict admin backup`."),
        ("grants add --user 1 --tier pro", "`verdict grants` is now `verdict admin grants`."),
        ("payments verify receipt.json", "`verdict payments verify` is now `verdict admin receipts verify`."),
        ("keys create --mine --name a", "`verdict keys --mine` is now `verdict keys`."),
        ("keys create --name a --tier=pro", "`verdict keys --tier` is now `verdict admin keys`."),
        ("wallets add 0x00", "`verdict wallets add` is now `verdict admin wallets add`."),
    ],
)
def test_an_old_spelling_is_answered_with_the_new_one(line: str, said: str) -> None:
    told = typed(*line.split())
    assert (told.code, told.out) == (1, "")
    assert said in told.err


def test_the_words_of_an_old_spelling_may_be_values_elsewhere() -> None:
    assert "is now" not in typed("resolve", "backup", "--dry-run").err
    assert "is now" not in typed("wallets", "movements", "--contract", "list", "--dry-run").err
