import pytest

from service.access.pepper import check_pepper
from service.access.registrar import Registrar
from service.access.room import open_access, open_registrar
from service.access.secrets import FILE_NAME, Secrets, open_secrets
from service.clock import DAY_MS
from service.settings import Settings
from service.storage.database import Database
from tests.fakes.clock import START_MS, FakeClock


def replaced(settings: Settings) -> Secrets:
    """The secrets of a folder whose file went missing."""
    (settings.data_dir / FILE_NAME).unlink()
    return open_secrets(settings.data_dir)


def test_a_mark_tells_secrets_apart_and_gives_nothing_away(secrets: Secrets, settings: Settings) -> None:
    other = replaced(settings)
    assert secrets.mark == secrets.mark != other.mark
    assert len(secrets.mark) == 16
    assert secrets.mark not in secrets.key_pepper


async def test_keys_made_before_any_start_belong_to_the_first_secrets_seen(
    db: Database, secrets: Secrets, clock: FakeClock, registrar: Registrar, caplog: pytest.LogCaptureFixture
) -> None:
    await registrar.create_key("mine")
    for _ in range(2):
        await check_pepper(db, secrets, clock)
    assert caplog.records == []


async def test_a_start_with_new_secrets_beside_keys_warns_and_says_what_to_do(
    settings: Settings,
    db: Database,
    secrets: Secrets,
    clock: FakeClock,
    registrar: Registrar,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await check_pepper(db, secrets, clock)
    for _ in range(2):
        await registrar.create_key("mine")
    other = replaced(settings)
    await open_access(settings, other, db, clock)
    (warning,) = caplog.records
    assert warning.levelname == "WARNING"
    assert vars(warning)["keys"] == 2
    for said in ("secrets.toml is not the one", "kept with the backup", "verdict keys revoke"):
        assert said in warning.getMessage()

    caplog.clear()
    await open_access(settings, secrets, db, clock)
    assert caplog.records == []


async def test_it_warns_at_every_start_until_no_key_is_left_that_worked(
    settings: Settings,
    db: Database,
    secrets: Secrets,
    clock: FakeClock,
    registrar: Registrar,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await check_pepper(db, secrets, clock)
    revoked = await registrar.create_key("to be revoked")
    await registrar.create_key("expires", expires_ms=START_MS + DAY_MS)
    other = replaced(settings)
    await check_pepper(db, other, clock)
    await open_registrar(settings, other, db, clock).create_key("made since")
    await check_pepper(db, other, clock)
    assert [vars(record)["keys"] for record in caplog.records] == [2, 2]

    caplog.clear()
    await registrar.revoke_key(revoked.prefix)
    clock.at_ms += DAY_MS
    await check_pepper(db, other, clock)
    assert caplog.records == []
