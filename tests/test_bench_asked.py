"""What a section of the bench says at its end."""

from bench.asked import at_least, below, short


def test_what_falls_short_is_told_by_its_median_and_what_does_not_is_not() -> None:
    assert at_least("of bare", [9.0, 0.5, 0.7], 0.7) is None
    assert at_least("of bare", [9.0, 0.5, 0.69], 0.7) == "of bare 0.69, asked for at least 0.7"
    assert below("p99, ms", [9.0, 1.0, 1.99], 2) is None
    assert below("p99, ms", [0.1, 2.0, 2.0], 2) == "p99, ms 2, asked for less than 2"


def test_a_section_ends_with_all_that_falls_short_or_says_that_nothing_does() -> None:
    assert short(None, None) == "At the median, nothing of this falls short of what was asked for."
    assert short("a", None, "b") == "Falls short of what was asked for, at the median: a; b."
