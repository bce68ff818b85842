import re
import stat
from pathlib import Path

import pytest

from service.client import browser_login
from service.client.errors import RefusalError

URL = "http://127.0.0.1:8402"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(tmp_path)}


def test_each_login_has_a_text_of_its_own_that_a_url_takes_as_it_is(environment: dict[str, str]) -> None:
    states = {browser_login.begin_login(environment, URL) for _ in range(3)}
    assert len(states) == 3
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{43}", state) for state in states)


def test_the_last_one_is_kept_for_its_owner_until_it_ends(environment: dict[str, str], tmp_path: Path) -> None:
    assert browser_login.find_login(environment, URL) is None
    browser_login.begin_login(environment, URL)
    state = browser_login.begin_login(environment, URL)
    assert browser_login.find_login(environment, URL) == state
    assert stat.S_IMODE((tmp_path / "verdict" / "signin.json").stat().st_mode) == 0o600
    browser_login.end_login(environment)
    browser_login.end_login(environment)
    assert browser_login.find_login(environment, URL) is None


def test_it_belongs_to_one_service(environment: dict[str, str]) -> None:
    browser_login.begin_login(environment, URL)
    assert browser_login.find_login(environment, "https://example.org") is None


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", f'{{"url": "{URL}"}}', f'{{"url": "{URL}", "state": 1}}'])
def test_what_cannot_be_read_is_no_login(environment: dict[str, str], tmp_path: Path, content: str) -> None:
    (tmp_path / "verdict").mkdir()
    (tmp_path / "verdict" / "signin.json").write_text(content)
    assert browser_login.find_login(environment, URL) is None


def test_a_folder_that_cannot_be_written_is_told(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "verdict").write_text("in the way")
    with pytest.raises(RefusalError, match=r"signin\.json cannot be written"):
        browser_login.begin_login(environment, URL)
