"""The picture of the README is one of the page: taken here, and written anew where VERDICT_SNAPSHOTS is `write`."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import PageAt, Shoot
from tests.browser.harness import DESKTOP
from tests.fakes.serving import WHOLE, serving, wait_until

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
MOST_BYTES = 200_000
_HEIGHT = 826  # as high as a window: the question box, the figures and the first coins
CHARTED = "figure[data-plot] canvas"


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service that stands at the end of its recording, so that each picture of it is the same."""
    with serving(tmp_path_factory.mktemp("picture"), replay="frozen", **WHOLE) as service:
        yield f"http://127.0.0.1:{service.port}/"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_picture_of_the_readme_is_light_enough_and_can_be_taken_again(
    page_at: PageAt, standing: str, shoot: Shoot, dark: bool
) -> None:
    name = f"page-{'dark' if dark else 'light'}.png"
    page = page_at(standing, dark=dark)

    def is_whole() -> bool:
        page.reload()
        return page.get_by_text("Every day as a table").count() == 1 and page.get_by_text("stale").count() == 0

    wait_until(is_whole)
    page.locator(CHARTED).wait_for()
    shoot(page, f"picture-{name}")
    taken = page.screenshot(clip={"x": 0, "y": 0, "width": DESKTOP, "height": _HEIGHT})
    assert len(taken) < MOST_BYTES
    if os.environ.get("VERDICT_SNAPSHOTS") == "write":
        (DOCS / name).write_bytes(taken)
    assert (DOCS / name).read_bytes()[:24] == taken[:24], "not as large as it is on the page"
