from pathlib import Path

import pytest

from service.client.errors import RefusalError
from service.client.files import config_dir, state_dir


def test_folders_are_where_xdg_says() -> None:
    environment = {"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "HOME": "/home/ada"}
    assert config_dir(environment) == Path("/c/verdict")
    assert state_dir(environment) == Path("/s/verdict")


@pytest.mark.parametrize("relative", ["", "relative/path", "."])
def test_where_xdg_says_nothing_that_is_valid_they_are_below_home(relative: str) -> None:
    environment = {"XDG_CONFIG_HOME": relative, "XDG_STATE_HOME": relative, "HOME": "/home/ada"}
    assert config_dir(environment) == Path("/home/ada/.config/verdict")
    assert state_dir(environment) == Path("/home/ada/.local/state/verdict")


def test_without_a_home_in_the_environment_the_systems_is_taken() -> None:
    assert config_dir({}) == Path.home() / ".config/verdict"


def test_where_there_is_no_home_at_all_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    with pytest.raises(RefusalError, match="set HOME"):
        state_dir({})
