import pytest

from service.client.browser_login import open_browser

PAGE = "http://127.0.0.1:8402/auth/cli"


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    pages: list[str] = []

    def note(url: str) -> bool:
        pages.append(url)
        return True

    monkeypatch.setattr("webbrowser.open", note)
    monkeypatch.setattr("sys.platform", "linux")
    return pages


@pytest.mark.parametrize("variable", ["BROWSER", "DISPLAY", "WAYLAND_DISPLAY"])
def test_a_desktops_browser_is_opened(opened: list[str], variable: str) -> None:
    assert open_browser(PAGE, {variable: ":0"})
    assert opened == [PAGE]


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_some_machines_always_have_one(opened: list[str], platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", platform)
    assert open_browser(PAGE, {})


def test_without_a_display_none_is_opened_not_even_one_of_text_in_the_terminal(opened: list[str]) -> None:
    assert not open_browser(PAGE, {"SSH_CONNECTION": "somewhere"})
    assert opened == []
