from pathlib import Path

from service.storage.turnstile import Turnstile


def test_one_has_the_turn_until_it_is_given(tmp_path: Path) -> None:
    first, second = Turnstile(tmp_path / "turn"), Turnstile(tmp_path / "turn")
    assert first.take(0)
    assert not second.take(0.001)
    first.give()
    assert second.take(0)
    first.close()
    second.close()


def test_a_turn_whose_holder_is_gone_is_free(tmp_path: Path) -> None:
    first, second = Turnstile(tmp_path / "turn"), Turnstile(tmp_path / "turn")
    assert first.take(0)
    first.close()
    assert second.take(0)
    second.close()
