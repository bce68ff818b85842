"""No test of a client touches what its developer keeps: not a folder, not a keyring, not a setting."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def _stranger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Be somebody who has a home with nothing in it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "VERDICT_URL", "VERDICT_TOKEN"):
            patch.delenv(name, raising=False)
        yield
