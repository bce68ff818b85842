"""The packages whose branches libFuzzer looks at. It has to know them before any of them is loaded."""

from collections.abc import Mapping
from typing import Final

WATCHED: Final[Mapping[str, tuple[str, ...]]] = {
    "access": ("service.access", "service.ethereum", "jwt"),
    "chains": ("service.payments", "service.wallets", "service.upstream.json_rpc", "service.wire.strict"),
    "feeds": ("service.sentiment", "service.transcripts", "service.upstream", "html", "email"),
    "heads": ("service.http", "service.access.authenticator"),
    "payments": ("service.payments", "service.ethereum", "service.wire", "service.client.paying"),
    "questions": ("service.ask",),
    "requests": ("service.http", "service.wire"),
    "transcripts": ("service.transcripts",),
    "venues": ("service.market", "service.sentiment", "service.upstream"),
}
"""By the module here."""
