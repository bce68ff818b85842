"""The form that an identity is made of, against the published text of RFC 8785 and a second implementation of it."""

import hashlib
import struct

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.verdict.decide import decide
from service.verdict.ruleset import VERSION_1, VERSION_2, RuleSet
from service.wire.canonical import canonical
from service.wire.verdict import VerdictInputs
from tests.verdict.jcs import write
from tests.verdict.knowledge import inputs
from tests.verdict.known import KNOWN, known, without

APPENDIX_B = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}
"""RFC 8785, appendix B: IEEE 754 in hex, and how it is written."""

JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("bits", APPENDIX_B)
def test_numbers_are_written_as_appendix_b_of_the_rfc_has_them(bits: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical(number).decode() == write(number).decode() == APPENDIX_B[bits]


@pytest.mark.parametrize("bits", ["7fffffffffffffff", "7ff0000000000000", "fff0000000000000"])
def test_what_is_no_finite_number_is_refused(bits: str) -> None:
    with pytest.raises(ValueError, match="not representable"):
        canonical(struct.unpack(">d", bytes.fromhex(bits)))


def test_the_rfcs_own_example_comes_out_byte_for_byte() -> None:
    example = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 1e-27],
        "string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/",
        "literals": [None, True, False],
    }
    published = bytes.fromhex(
        "7b226c69746572616c73223a5b6e756c6c2c747275652c66616c73655d2c226e756d62657273223a5b333333333333333333"
        "2e333333333333332c31652b33302c342e352c302e3030322c31652d32375d2c22737472696e67223a22e282ac245c753030"
        "30665c6e4127425c225c5c5c5c5c222f227d"
    )
    assert write(example) == canonical(example)
    assert canonical(example) == published


def test_members_are_sorted_by_utf_16() -> None:
    members = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7}
    published = '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\U0001f600":5,"\ufb33":3}'
    assert canonical(members).decode() == write(members).decode() == published


@given(value=JSON)
def test_any_value_is_written_as_by_a_second_implementation(value: object) -> None:
    assert canonical(value) == write(value)


VERSIONS = pytest.mark.parametrize("rules", [VERSION_1, VERSION_2], ids=["version 1", "version 2"])


def identity(verdict_inputs: VerdictInputs, rules: RuleSet) -> str:
    """The identity, from the published words: of what an answer shows, and the tables."""
    answer = msgspec.json.decode(msgspec.json.encode(decide(verdict_inputs, rules)))
    whole = {
        "inputs": {name: answer[name] for name in ("symbol", "as_of", "sources", "raw")},
        "ruleset": msgspec.to_builtins(rules.tables),
        "output": {
            name: answer[name] for name in ("verdict", "score", "confidence", "confidence_basis", "evidence", "rules")
        },
    }
    return hashlib.sha256(write(whole)).hexdigest()


@pytest.mark.slow
@pytest.mark.promise("signal.verdict-id")
@VERSIONS
def test_the_identity_is_the_digest_of_inputs_rules_and_output_in_canonical_form(rules: RuleSet) -> None:
    for known_inputs in (KNOWN, without(KNOWN, "risk", "regime"), *inputs(100)):
        assert decide(known_inputs, rules).verdict_id == identity(known_inputs, rules)


@VERSIONS
def test_the_digest_of_a_rule_set_is_that_of_its_tables(rules: RuleSet) -> None:
    assert hashlib.sha256(write(msgspec.to_builtins(rules.tables))).hexdigest() == rules.label.digest


def test_what_the_rules_do_not_look_at_is_part_of_the_identity_all_the_same() -> None:
    ids = {
        decide(changed).verdict_id
        for changed in (
            known(),
            known(risk__price=117_345.6),
            known(risk__observed_at="2025-07-25T12:00:00.001Z"),
            known(risk__btc_correlation=0.9999),
            known(funding__percentile_30d=None),
            known(funding__payments=719),
            known(regime__coin_confidence=0.8126),
            known(sentiment__summary="Neutral."),
            known(sources__funding="stale"),
        )
    }
    assert len(ids) == 9


def test_zero_has_one_identity_whatever_its_sign() -> None:
    plus, minus = (decide(known(risk__funding_apr=zero, funding__apr_24h=zero)) for zero in (0.0, -0.0))
    assert plus.verdict_id == minus.verdict_id
    assert plus.evidence == minus.evidence
