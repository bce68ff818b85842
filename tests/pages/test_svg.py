"""Lines and areas."""

import re

import pytest

from service.pages.svg import HEIGHT, WIDTH, line_path, sparkline, stacked_areas


def points(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path)]


def test_a_line_goes_from_edge_to_edge_and_higher_values_lie_higher() -> None:
    drawn = points(line_path([1.0, 3.0, 2.0]).path)
    assert [x for x, _ in drawn] == [0, WIDTH / 2, WIDTH]
    assert drawn[1][1] < drawn[2][1] < drawn[0][1]
    assert all(0 < y < HEIGHT for _, y in drawn)


@pytest.mark.parametrize("value", [5.0, 0.0])
def test_a_line_of_equal_values_lies_in_the_middle(value: float) -> None:
    assert {y for _, y in points(line_path([value, value]).path)} == {HEIGHT / 2}


def test_areas_stand_on_each_other() -> None:
    low, high = stacked_areas([[25.0, 50.0], [25.0, 50.0]])
    assert points(low) == [(0, 135), (WIDTH, 90), (WIDTH, HEIGHT), (0, HEIGHT)]
    assert points(high) == [(0, 90), (WIDTH, 0), (WIDTH, 90), (0, 135)]


def test_a_sparkline_fills_its_field_and_a_flat_one_lies_at_its_foot() -> None:
    assert sparkline([1.0, 3.0, 2.0]) == "M0 24L44 0L87 12"
    assert sparkline([2.0, 2.0]) == "M0 24L87 24"
