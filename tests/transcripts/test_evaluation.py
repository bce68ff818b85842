"""How well spoken words are tagged, against labels that a person gave before there was a tagger."""

import hashlib
from typing import NamedTuple

import pytest

from fixtures.coins import CATEGORIES, COINS
from service.market.symbols import canonical
from service.wire.transcripts import MACRO
from tests.transcripts.evaluate import TUNED, main, ours
from tests.transcripts.evaluation import HALVES, PRACTICE, STRANGER, Counts, Labelled, Miss, judge, segments

PRECISION, RECALL = 0.95, 0.85
both = pytest.mark.parametrize("half", HALVES)


class Said(NamedTuple):
    coins: tuple[str, ...] = ()
    sectors: tuple[str, ...] = ()
    macro: tuple[str, ...] = ()


def test_there_are_a_hundred_and_fifty_pieces_of_talk_and_none_stands_twice() -> None:
    texts = [segment.text.casefold() for half in HALVES for segment in segments(half)]
    assert len(texts) == len(set(texts)) == 150
    others = [segment.text.casefold() for half in (PRACTICE, STRANGER) for segment in segments(half)]
    assert len({*texts, *others}) == len(texts) + len(others)


def test_nobody_chose_which_half_a_piece_is_in() -> None:
    dealt = sorted(
        (hashlib.sha256(segment.text.encode()).hexdigest(), half) for half in HALVES for segment in segments(half)
    )
    assert [half for _, half in dealt] == list(HALVES) * 75


def test_labels_are_names_that_the_service_knows_and_every_topic_is_among_them() -> None:
    labelled = [segment for half in (*HALVES, PRACTICE, STRANGER) for segment in segments(half)]
    assert set().union(*(segment.coins for segment in labelled)) <= {canonical(coin.name) for coin in COINS}
    assert set().union(*(segment.sectors for segment in labelled)) <= set(CATEGORIES.values())
    assert set().union(*(segment.macro for segment in labelled)) == set(MACRO)


@both
def test_a_part_of_it_is_about_nothing_at_all(half: str) -> None:
    nothing = [each for each in segments(half) if not each.coins | each.sectors | each.macro]
    assert len(nothing) >= 7


def test_tags_are_counted_one_by_one_over_all_kinds() -> None:
    labelled = [
        Labelled(frozenset({"BTC", "ETH"}), frozenset(), frozenset({"rates"}), "a"),
        Labelled(frozenset(), frozenset({"NFT"}), frozenset(), "b"),
    ]
    said = {"a": Said(("BTC", "SOL"), (), ("rates", "jobs")), "b": Said(sectors=("NFT",))}
    result = judge(labelled, said.__getitem__)
    assert result.of == {"coins": Counts(1, 1, 1), "sectors": Counts(1, 0, 0), "macro": Counts(1, 1, 0)}
    assert (result.all.precision, result.all.recall) == (3 / 5, 3 / 4)
    assert result.misses == [
        Miss("coins", frozenset({"SOL"}), frozenset({"ETH"}), "a"),
        Miss("macro", frozenset({"jobs"}), frozenset(), "a"),
    ]


@pytest.mark.promise("transcripts.tagged")
@both
def test_tags_are_right_and_few_are_missing_also_on_the_half_that_was_never_tuned_on(half: str) -> None:
    found = ours(half).all
    assert found.precision >= PRECISION
    assert found.recall >= RECALL


def test_the_report_tells_all_and_lists_misses_of_what_may_be_tuned_on_only(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main([])
    short = capsys.readouterr().out
    assert short.count("all tags") == len((*HALVES, PRACTICE, STRANGER))
    assert not [segment.text for half in HALVES for segment in segments(half) if segment.text in short]
    main(["--show"])
    long = capsys.readouterr().out
    for tuned in TUNED:
        assert {miss.text for miss in ours(tuned).misses} == {
            each.text for each in segments(tuned) if each.text in long
        }
    unseen = [segment.text for half in ("held-out", STRANGER) for segment in segments(half)]
    assert not [text for text in unseen if text in long]
