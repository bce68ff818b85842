"""What the C library is told of freed memory."""

from types import SimpleNamespace

from service.wiring.memory import hand_back


def test_the_c_library_is_told_once_each_to_keep_one_arena_and_thresholds_that_do_not_grow() -> None:
    told: list[tuple[int, int]] = []
    hand_back(SimpleNamespace(mallopt=lambda setting, value: told.append((setting, value))))
    assert sorted(told) == [(-8, 1), (-3, 131_072), (-1, 1_048_576)]


def test_a_c_library_that_has_nothing_to_set_is_left_alone() -> None:
    hand_back(SimpleNamespace())


def test_this_processs_own_library_takes_it() -> None:
    hand_back()
