"""The reference of the API, as a browser shows it: whole under the site's policy, searched, walked through, copied."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from service.wire.offers import OFFERS
from tests.browser.conftest import PageAt, Shoot
from tests.browser.harness import DESKTOP, PHONE, Look, overflow

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Axe = Callable[["Page"], None]


def test_it_fits_and_nobody_is_kept_out(page_at: PageAt, site: str, look: Look, axe: Axe, shoot: Shoot) -> None:
    page = page_at(f"{site}/docs", look.width, look.dark)
    assert overflow(page) == 0
    axe(page)
    shoot(page, f"docs-{look.name}")
