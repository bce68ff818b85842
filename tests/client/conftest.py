"""No test of the client reads or writes the folders, the keyring or the settings of the user who runs it."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def _empty_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Use an empty home folder, no keyring, and no variables of the client."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "VERDICT_URL", "VERDICT_TOKEN"):
            patch.delenv(name, raising=False)
        yield
