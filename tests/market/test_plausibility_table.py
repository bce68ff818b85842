"""The published table of rules is the one in the code."""

from pathlib import Path

from service.market.plausibility.rules import RULES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "decisions" / "0001-plausibility.md"


def test_the_published_table_is_the_one_in_the_code() -> None:
    _, _, after = PAGE.read_text().partition("<!-- rules:")
    table, _, _ = after.partition("<!-- end of rules -->")
    shown = [line for line in table.splitlines() if line.startswith("| `")]
    assert shown == [f"| `{rule.id}` | {rule.field} | {rule.limit} | {rule.text} |" for rule in RULES]
