from pathlib import Path

import pytest

from service.client import config, credentials
from service.client.caller import open_client
from service.client.config import Config
from service.client.credentials import StoredCredential
from service.client.errors import FAILED, UNKNOWN_CALLER, RefusalError


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path)}


@pytest.mark.promise("clients.settings")
def test_what_is_typed_goes_before_the_environment_that_before_the_configuration_and_that_before_here(
    home: dict[str, str],
) -> None:
    assert open_client(None, home).url == "http://127.0.0.1:8402"
    config.write(home, Config(url="http://configured.test"))
    assert open_client(None, home).url == "http://configured.test"
    home["VERDICT_URL"] = "http://environment.test:80/"
    assert open_client(None, home).url == "http://environment.test"
    assert open_client("https://TYPED.test", home).url == "https://typed.test"


@pytest.mark.promise("clients.settings")
def test_the_environments_token_goes_before_the_one_that_is_kept_for_the_address(home: dict[str, str]) -> None:
    here, there = "http://here.test", "http://there.test"
    assert open_client(here, home).token is None
    credentials.keep(home, here, StoredCredential("kept", "session", None, None))
    assert open_client(here, home).token == "kept"
    assert open_client(there, home).token is None
    home["VERDICT_TOKEN"] = " told\n"
    assert open_client(here, home).token == "told"
    home["VERDICT_TOKEN"] = " "
    assert open_client(here, home).token == "kept"


def test_what_is_public_is_asked_by_nobody(home: dict[str, str]) -> None:
    home["VERDICT_TOKEN"] = "told"
    assert open_client(None, home, token=False).token is None


def test_a_token_that_is_none_is_refused_and_not_told_again(home: dict[str, str]) -> None:
    home["VERDICT_TOKEN"] = "s3cret\r\nX-Evil: 1"
    with pytest.raises(RefusalError, match="VERDICT_TOKEN is no token") as caught:
        open_client(None, home)
    assert caught.value.code == UNKNOWN_CALLER
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(("typed", "told", "named"), [("h", "http://x", "--url"), (None, "h", "VERDICT_URL")])
def test_an_address_that_is_none_is_refused_by_where_it_stands(
    home: dict[str, str], typed: str | None, told: str, named: str
) -> None:
    with pytest.raises(RefusalError, match=f"{named}: .*Write it like") as caught:
        open_client(typed, home | {"VERDICT_URL": told})
    assert caught.value.code == FAILED


def test_an_address_that_is_given_needs_no_configuration(home: dict[str, str]) -> None:
    config.path(home).parent.mkdir(parents=True)
    config.path(home).write_text("{")
    assert open_client("http://x", home).url == "http://x"
    with pytest.raises(RefusalError, match="cannot be understood"):
        open_client(None, home)
