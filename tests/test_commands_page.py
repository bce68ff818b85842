"""The page of commands is what the commands print of themselves."""

import pytest

from tests.commands_page import EVERY, PAGE, help_of, page


def test_the_page_of_commands_is_what_their_help_prints() -> None:
    assert page() == PAGE.read_text(), "run `make commands`"


@pytest.mark.parametrize("words", EVERY)
def test_every_command_has_help_within_80_columns_with_an_example(words: str) -> None:
    lines = help_of(words).splitlines()
    assert lines[0].startswith(f"Usage: verdict {words}")
    example = lines[lines.index("Example:") + 1]
    assert example.startswith("  verdict ")
    assert max(len(line) for line in lines if line != example) <= 80
