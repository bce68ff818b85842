from pathlib import Path

from service.storage.sqlite_session import WriteLock


def test_one_has_the_turn_until_it_is_given(tmp_path: Path) -> None:
    first, second = WriteLock(tmp_path / "turn"), WriteLock(tmp_path / "turn")
    assert first.acquire(0)
    assert not second.acquire(0.001)
    first.release()
    assert second.acquire(0)
    first.close()
    second.close()


def test_a_turn_whose_holder_is_gone_is_free(tmp_path: Path) -> None:
    first, second = WriteLock(tmp_path / "turn"), WriteLock(tmp_path / "turn")
    assert first.acquire(0)
    first.close()
    assert second.acquire(0)
    second.close()
