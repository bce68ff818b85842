from urllib.parse import urlencode

import pytest

from service.client.browser_login import read_session
from tests.client.signin.keys import ADDRESS

STATE = "s" * 43
FIELDS = {"state": STATE, "token": "a.b-c_d", "wallet": ADDRESS, "expiresAt": "2026-03-02T00:00:00.000Z"}


def test_what_the_page_gives_is_read_in_any_order() -> None:
    returned = read_session(urlencode(dict(reversed(FIELDS.items()))), STATE)
    assert returned == ("a.b-c_d", ADDRESS, "2026-03-02T00:00:00.000Z", None)


def test_a_notice_may_come_with_it() -> None:
    returned = read_session(urlencode({**FIELDS, "notice": "No free questions."}), STATE)
    assert returned.notice == "No free questions."


def test_no_token_is_shown_where_it_is_printed() -> None:
    assert "a.b-c_d" not in repr(read_session(urlencode(FIELDS), STATE))


@pytest.mark.parametrize("state", ["", "t" * 43, STATE + "s", STATE[1:], "ß" * 43])
def test_what_belongs_to_another_login_is_refused(state: str) -> None:
    with pytest.raises(ValueError, match="another login"):
        read_session(urlencode({**FIELDS, "state": state or " "}), STATE)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "hello",
        STATE,
        urlencode({name: value for name, value in FIELDS.items() if name != "wallet"}),
        urlencode({**FIELDS, "more": "1"}),
        urlencode(FIELDS) + "&token=another",
        urlencode({**FIELDS, "mode": "1"} | {"state": STATE}).replace("mode", "token"),
        urlencode({**FIELDS, "token": "two words"}),
        urlencode({**FIELDS, "token": "tök"}),
        urlencode({**FIELDS, "token": ""}),
        urlencode({**FIELDS, "token": "t" * 9_000}),
        urlencode(FIELDS) + "&token=%ff",
        urlencode(FIELDS).replace("a.b-c_d", "%ff"),
        urlencode({**FIELDS, "expiresAt": "soon"}),
        urlencode({**FIELDS, "expiresAt": "2026-03-02T00:00:00.000Z\x1b[2J"}),
    ],
)
def test_anything_else_is_refused_without_telling_what_it_holds(query: str) -> None:
    with pytest.raises(ValueError, match=r"not what the page gives|an instant is written") as refused:
        read_session(query, STATE)
    assert "a.b-c_d" not in str(refused.value)
