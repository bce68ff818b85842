import pytest

from service.errors import STATUS, ServiceError


def test_an_error_carries_its_code_status_message_details_and_headers() -> None:
    error = ServiceError("RATE_LIMITED", "Slow down.", details={"a": 1}, headers={"Retry-After": "3"})
    assert (error.code, error.status, error.message, str(error)) == ("RATE_LIMITED", 429, "Slow down.", "Slow down.")
    assert (error.details, error.headers) == ({"a": 1}, {"Retry-After": "3"})


def test_an_error_has_neither_details_nor_headers_unless_given() -> None:
    error = ServiceError("INTERNAL", "A defect.")
    assert error.details is None
    assert error.headers == {}


def test_a_code_outside_the_table_cannot_be_raised() -> None:
    with pytest.raises(KeyError):
        ServiceError("TEAPOT", "No.")


@pytest.mark.promise("errors.table")
def test_every_code_answers_with_a_status_of_failure() -> None:
    assert all(400 <= status < 600 for status in STATUS.values())
    assert all(code == code.upper() for code in STATUS)
