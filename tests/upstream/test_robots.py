"""What a robots.txt says to us, held against the examples of RFC 9309 and against what strangers may write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.upstream.robots import EVERYTHING, Robots, Rule, read_robots

OF_THE_RFC = """
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
"""
"""RFC 9309 §5.1."""


@pytest.mark.parametrize(
    ("bot", "path", "allowed"),
    [
        ("verdict", "/a.gif", False),
        ("verdict", "/a.gif?x=1", True),
        ("verdict", "/example/b", False),
        ("verdict", "/publications/x", True),
        ("foobot", "/", False),
        ("foobot", "/example/page.html", True),
        ("foobot", "/example/allowed.gif", True),
        ("foobot", "/example/other", False),
        ("barbot", "/example/page.html", False),
        ("bazbot", "/example/page.html", False),
        ("bazbot", "/a.gif", True),
        ("quxbot", "/example/", True),
    ],
)
def test_the_simple_example_of_the_rfc_is_read_as_it_says(bot: str, path: str, allowed: bool) -> None:
    assert read_robots(OF_THE_RFC.replace(bot, "VERDICT")).allow(path) is allowed


def test_the_longest_match_decides_as_in_the_example_of_the_rfc() -> None:
    rules = read_robots("User-Agent: verdict\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif")
    assert not rules.allow("/example/page/disallowed.gif")
    assert rules.allow("/example/page/other")


@pytest.mark.parametrize("lines", ["Allow: /a\nDisallow: /a", "Disallow: /a\nAllow: /a"])
def test_of_two_rules_of_one_length_the_one_that_allows_decides(lines: str) -> None:
    assert read_robots(f"User-agent: *\n{lines}").allow("/a/b")


@pytest.mark.parametrize(
    ("pattern", "path", "allowed"),
    [
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz", False),
        ("/foo/bar/\u30c4", "/foo/bar/%E3%83%84", False),
        ("/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84", False),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz", False),
        ("/a%2Fb", "/a/b", True),
        ("/fish", "/Fish", True),
        ("/a$", "/a", False),
        ("/a$", "/ab", True),
        ("/*/x*y", "/1/x2y3", False),
        ("/*/x*y$", "/1/x2y3", True),
        ("/*/x*y$", "/1/x2y3y", False),
        ("/a*b*c", "/a c b", True),
        ("/ab*b$", "/ab", True),
        ("*", "/", False),
        ("/%zz", "/%zz", False),
    ],
)
def test_patterns_match_whatever_the_spelling(pattern: str, path: str, allowed: bool) -> None:
    assert read_robots(f"User-agent: *\nDisallow: {pattern}").allow(path) is allowed


def test_groups_of_one_name_are_one_and_comments_and_unknown_lines_are_passed_over() -> None:
    rules = read_robots(
        "\ufeffDisallow: /early\nUser-agent: Verdict/2.0 # us\nCrawl-delay: 9\nDisallow: /a # not here\n"
        "Sitemap: https://a.example/\n\nno colon\nUser-agent: *\nDisallow: /\nUser-agent: VERDICT\nDisallow: /b\n"
        "User-agent: 1337\nDisallow: /c\nDisallow:\n"
    )
    assert [rules.allow(path) for path in ("/a", "/b", "/early", "/c", "/")] == [False, False, True, True, True]


def test_without_rules_everything_is_allowed() -> None:
    assert EVERYTHING.allow("/anything")
    assert read_robots("").allow("/")


@given(st.text(max_size=300), st.text(max_size=60))
def test_no_file_and_no_path_breaks_it(text: str, path: str) -> None:
    assert read_robots(f"User-agent: *\nDisallow: {text}").allow(path) in {True, False}


@given(st.lists(st.sampled_from(["a", "b", "*", "/", "$"]), max_size=6), st.text("ab/$", max_size=8))
def test_a_pattern_matches_what_a_slow_comparison_says(parts: list[str], path: str) -> None:
    pattern = "".join(parts)

    def slow(pattern: str, path: str) -> bool:
        if pattern in {"", "*"}:
            return True
        if pattern == "$":
            return not path
        if pattern[0] == "*":
            return any(slow(pattern[1:], path[at:]) for at in range(len(path) + 1))
        return path[:1] == pattern[0] and slow(pattern[1:], path[1:])

    assert Robots((Rule(allows=False, pattern=pattern),)).allow(path) is not slow(pattern, path)


def test_a_pattern_made_to_hurt_takes_no_time() -> None:
    rules = read_robots("User-agent: *\nDisallow: /" + "*a" * 50_000 + "b")
    assert rules.allow("/" + "a" * 2_000)


def test_a_thousand_names_over_a_thousand_rules_are_a_thousand_rules_at_most() -> None:
    read = read_robots("User-agent: other\nUser-agent: *\n" * 1_000 + "Disallow: /a\n" * 1_000)
    assert len(read.rules) == 1_000
    assert read_robots("User-agent: other\n" * 1_000 + "Disallow: /\n" * 1_000).rules == ()
