import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.client.address import Address, read_address


@pytest.mark.parametrize(
    ("written", "shown", "host", "port"),
    [
        ("http://127.0.0.1:8402", "http://127.0.0.1:8402", "127.0.0.1", 8402),
        ("http://127.0.0.1:8402/", "http://127.0.0.1:8402", "127.0.0.1", 8402),
        (" HTTP://Verdict.Example\n", "http://verdict.example", "verdict.example", 80),
        ("https://verdict.example:443", "https://verdict.example", "verdict.example", 443),
        ("https://verdict.example:80", "https://verdict.example:80", "verdict.example", 80),
        ("http://[::1]:8402", "http://[::1]:8402", "::1", 8402),
        ("http://[::1]", "http://[::1]", "::1", 80),
        ("https://bücher.example", "https://xn--bcher-kva.example", "xn--bcher-kva.example", 443),
    ],
)
def test_an_address_is_written_in_one_way(written: str, shown: str, host: str, port: int) -> None:
    address = read_address(written)
    assert (str(address), address.host, address.port) == (shown, host, port)
    assert read_address(shown) == address


@pytest.mark.parametrize(
    "written",
    [
        "", "127.0.0.1:8402", "localhost", "ftp://h", "http://", "http://:80", "http://h:port", "http://h:99999", "http://h:0",
        "http://[::1", f"http://{'a' * 64}.example", "file:///etc/passwd", "http://h:-1", "http://a..b",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match=r"not a valid service URL\. Write it like"):
        read_address(written)


@pytest.mark.parametrize("written", ["http://h/api/cli", "http://h?x=1", "http://h/#x"])
def test_a_path_after_the_host_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="path or query after the host"):
        read_address(written)


@pytest.mark.parametrize("written", ["http://me:s3cret@h", "https://s3cret@h/", "http://me:s3cret@h:port"])
def test_a_secret_in_an_address_is_refused_and_not_told_again(written: str) -> None:
    with pytest.raises(ValueError, match="service URL") as caught:
        read_address(written)
    assert "s3cret" not in str(caught.value)


@settings(max_examples=60)
@given(st.text())
def test_any_text_is_an_address_or_refused_with_a_reason(text: str) -> None:
    try:
        address = read_address(text)
    except ValueError as refused:
        assert not isinstance(refused, UnicodeError)  # noqa: PT017 - either is well
    else:
        assert isinstance(address, Address)
        assert read_address(str(address)) == address
