import pytest

from service.access.admin import AccessAdmin
from service.access.factory import open_access, open_admin
from service.access.secrets import FILE_NAME, Secrets, check_key_secret, open_secrets
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
    assert secrets.key_secret_digest == secrets.key_secret_digest != other.key_secret_digest
    assert len(secrets.key_secret_digest) == 16
    assert secrets.key_secret_digest not in secrets.key_pepper


async def test_keys_made_before_any_start_belong_to_the_first_secrets_seen(
    db: Database, secrets: Secrets, clock: FakeClock, admin: AccessAdmin, caplog: pytest.LogCaptureFixture
) -> None:
    await admin.create_key("mine")
    for _ in range(2):
        await check_key_secret(db, secrets, clock)
    assert caplog.records == []


async def test_a_start_with_new_secrets_beside_keys_warns_and_says_what_to_do(
    settings: Settings,
    db: Database,
    secrets: Secrets,
    clock: FakeClock,
    admin: AccessAdmin,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await check_key_secret(db, secrets, clock)
    for _ in range(2):
        await admin.create_key("mine")
    other = replaced(settings)
    await open_access(settings, other, db, clock)
    (warning,) = caplog.records
    assert warning.levelname == "WARNING"
    assert vars(warning)["keys"] == 2
    for said in ("secrets.toml is not the one", "kept with the backup", "verdict admin keys revoke"):
        assert said in warning.getMessage()

    caplog.clear()
    await open_access(settings, secrets, db, clock)
    assert caplog.records == []


async def test_it_warns_at_every_start_until_no_key_is_left_that_worked(
    settings: Settings,
    db: Database,
    secrets: Secrets,
    clock: FakeClock,
    admin: AccessAdmin,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await check_key_secret(db, secrets, clock)
    revoked = await admin.create_key("to be revoked")
    await admin.create_key("expires", expires_ms=START_MS + DAY_MS)
    other = replaced(settings)
    await check_key_secret(db, other, clock)
    await open_admin(settings, other, db, clock).create_key("made since")
    await check_key_secret(db, other, clock)
    assert [vars(record)["keys"] for record in caplog.records] == [2, 2]

    caplog.clear()
    await admin.revoke_key(revoked.prefix)
    clock.at_ms += DAY_MS
    await check_key_secret(db, other, clock)
    assert caplog.records == []
