"""One answer as other programs save it, and with a character changed: the first is the same, the second never is."""

import json
import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest

from service.__main__ import run
from service.verdict.decide import decide
from service.wire.envelope import Answer, success
from service.wire.verdict import VerdictInputs
from tests.verdict.jcs import write
from tests.verdict.knowledge import inputs
from tests.verdict.known import known, without

Code = Callable[[bytes], int]
ODD = {
    "negative zero": known(risk__funding_apr=-0.0),
    "an exponent": known(risk__price=1e21),
    "21 digits": known(risk__price=123456789012345680000.0),
    "beyond 2^53": known(risk__price=9007199254740994.0),
    "the smallest": known(risk__price=5e-324),
    "the largest": known(risk__price=1.7976931348623157e308),
    "a sum": known(funding__apr_24h=0.1 + 0.2),
    "almost a bound": known(risk__funding_apr=21.89996),
    "any text": known(sentiment__summary='Ü😀\u2028\x7f\u009b31m "q" \\ / \x00 {symbol} %s'),
    "half of it": without(known(), "sentiment", "regime"),
}


@pytest.fixture
def code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Code:
    """The exit code for a file; what is printed cannot steer a terminal."""

    def verified(content: bytes) -> int:
        path = tmp_path / "saved.json"
        path.write_bytes(content)
        found = run(["verify", str(path)], {})
        assert capsys.readouterr().out.replace("\n", "").isprintable()
        return found

    return verified


def answer(known_of_it: VerdictInputs) -> bytes:
    return success(Answer(decide(known_of_it), as_of_ms=0), 1)


def with_numbers(value: Any, change: Callable[[float], object]) -> Any:
    if isinstance(value, dict):
        return {name: with_numbers(item, change) for name, item in value.items()}
    if isinstance(value, list):
        return [with_numbers(item, change) for item in value]
    return change(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


@pytest.mark.parametrize("inputs", ODD.values(), ids=ODD)
def test_whoever_saved_it_in_whichever_form_it_is_the_same(code: Code, inputs: VerdictInputs) -> None:
    sent = answer(inputs)
    document = json.loads(sent)
    forms = [
        sent,
        b"\xef\xbb\xbf" + sent,
        json.dumps(document).encode(),
        json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False).encode("utf-16"),
        write(document),  # as JavaScript's JSON.stringify
        json.dumps(with_numbers(document, float)).encode(),  # as Gson reads into maps
        json.dumps(document["data"]).encode(),
    ]
    assert [code(form) for form in forms] == [0] * len(forms)


def test_no_digit_of_it_can_be_changed(code: Code) -> None:
    changed = 0
    for known_of_it in [known(), *islice(inputs(), 2)]:
        text = msgspec.json.encode(decide(known_of_it)).decode()
        meant = json.loads(text)
        for found in islice(re.finditer(r"[0-9]", text), 0, None, 3):
            at = found.start()
            other = f"{text[:at]}{(int(text[at]) + 1) % 10}{text[at + 1 :]}"
            if json.loads(other) != meant:  # the seventeenth digit may be another way to write the same double
                assert code(other.encode()) != 0, other[max(0, at - 60) : at + 10]
                changed += 1
    assert changed > 200


@pytest.mark.parametrize("price", ["1e999", "1" + "0" * 400, "-1e999", "NaN", "1" * 5_000])
def test_a_number_that_is_none_is_refused(code: Code, price: str) -> None:
    assert code(answer(known()).replace(b'"price":117345.5', f'"price":{price}'.encode())) == 4
