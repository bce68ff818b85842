import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from service.access.anonymous import AnonymousHasher
from service.access.secrets import Secrets, SecretsError, open_secrets
from tests.fakes.clock import FakeClock


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_they_are_made_once_and_read_ever_after(tmp_path: Path) -> None:
    made = open_secrets(tmp_path / "new")
    assert len(made.key_pepper) == len(made.session_key) == 32
    assert made.key_pepper != made.session_key
    assert open_secrets(tmp_path / "new") == made
    assert names(tmp_path / "new") == ["secrets.toml"]


@pytest.mark.promise("run.data-dir")
def test_file_and_folder_are_for_their_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        open_secrets(tmp_path / "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "new" / "secrets.toml").stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o602, 0o610, 0o644])
def test_a_file_that_others_can_touch_is_refused_with_the_remedy(tmp_path: Path, mode: int) -> None:
    open_secrets(tmp_path)
    path = tmp_path / "secrets.toml"
    path.chmod(mode)
    with pytest.raises(SecretsError, match=f"chmod 600 {path}"):
        open_secrets(tmp_path)


def test_a_stricter_file_is_welcome(tmp_path: Path) -> None:
    made = open_secrets(tmp_path)
    (tmp_path / "secrets.toml").chmod(0o400)
    assert open_secrets(tmp_path) == made


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not toml",
        b"\xff\xfe",
        b'key_pepper = "%s"\n' % (b"a" * 64),
        b'key_pepper = "%s"\nsession_key = "%s"\nmore = 1\n' % (b"a" * 64, b"b" * 64),
        b'key_pepper = "%s"\nsession_key = "%s"\n' % (b"a" * 64, b"b" * 63),
        b'key_pepper = "%s"\nsession_key = 7\n' % (b"a" * 64),
        b'key_pepper = "%s"\nsession_key = "%s\\n"\n' % (b"a" * 64, b"b" * 64),
    ],
)
def test_a_damaged_file_is_refused_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "secrets.toml"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(SecretsError, match=r"damaged.*backup"):
        open_secrets(tmp_path)
    assert path.read_bytes() == content


def test_a_folder_that_cannot_be_made_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SecretsError, match="VERDICT_DATA_DIR"):
        open_secrets(tmp_path / "file" / "data")


def test_many_who_start_at_once_agree_on_one_set(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        assert len(set(map(str, pool.map(lambda _: open_secrets(tmp_path).key_pepper, range(64))))) == 1
    assert names(tmp_path) == ["secrets.toml"]


def test_whoever_comes_second_takes_the_first_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = open_secrets(tmp_path)
    monkeypatch.setattr(Path, "exists", lambda _: False)
    assert open_secrets(tmp_path) == first
    assert names(tmp_path) == ["secrets.toml"]


def test_a_full_disk_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(SecretsError, match="No space left"):
        open_secrets(tmp_path)
    assert names(tmp_path) == []


def test_they_and_their_name_are_on_the_disk_before_anybody_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_ino))
    open_secrets(tmp_path)
    assert synced == [(tmp_path / "secrets.toml").stat().st_ino, tmp_path.stat().st_ino]


def test_folders_above_theirs_are_made_too(tmp_path: Path) -> None:
    open_secrets(tmp_path / "as" / "named")
    assert names(tmp_path / "as" / "named") == ["secrets.toml"]


def test_they_are_not_shown_when_printed(tmp_path: Path) -> None:
    made = open_secrets(tmp_path)
    assert str(made) == repr(made) == "Secrets(…)"


def test_every_purpose_has_a_key_of_its_own(tmp_path: Path) -> None:
    made = open_secrets(tmp_path)
    keys = {made.key_pepper, made.session_key, made.cursor_key, made.receipt_key}
    assert len(keys) == 4
    assert {len(key) for key in keys} == {32}
    assert open_secrets(tmp_path).receipt_key == made.receipt_key


def test_what_a_store_was_written_with_is_the_same_in_every_version() -> None:
    """A new version that made these otherwise would know no key of before, and give each device a second question."""
    made = Secrets(bytes(32), b"\x01" * 32)
    visitor = AnonymousHasher(b"k" * 32, FakeClock()).identify("device-1", "203.0.113.7")
    assert made.key_secret_digest.hex() == "835fda2899e58b38a56ec893544c4523"
    assert visitor.device.hex() == "81d7473c1208cdc89df33c76d5369f2125420ce99eaf9474d64bebf27e879893"
    assert visitor.network.hex() == "44f7b1c11ce885760dac12dd7cf81fba8647d4410b9f48a42ac2cfc6ccb197db"
