import pytest

from service.access.sign_in import parse_sign_in_message
from service.client.sign_in import write_message
from tests.client.signin.keys import ADDRESS

AS_THE_STANDARD_HAS_IT = f"""\
api.example.org wants you to sign in with your Ethereum account:
{ADDRESS}

Sign in to Verdict.

URI: https://api.example.org
Version: 1
Chain ID: 84532
Nonce: abcdefgh12345678
Issued At: 2026-01-31T00:00:00.000Z
Expiration Time: 2026-01-31T00:05:00.000Z"""


def written(url: str) -> str:
    return write_message(
        url=url,
        address=ADDRESS,
        chain_id=84_532,
        nonce="abcdefgh12345678",
        issued_at="2026-01-31T00:00:00.000Z",
        expires_at="2026-01-31T00:05:00.000Z",
    )


def test_it_is_written_as_eip_4361_has_it_line_by_line() -> None:
    assert written("https://api.example.org") == AS_THE_STANDARD_HAS_IT


@pytest.mark.parametrize("domain", ["127.0.0.1:8402", "[::1]:8402", "example.org"])
def test_the_service_reads_the_domain_that_was_asked(domain: str) -> None:
    assert parse_sign_in_message(written(f"http://{domain}")).domain == domain
