"""The other end of a connection, for targets that converse."""

import asyncio
from typing import Any


class Peer(asyncio.Transport):
    """A connection to nowhere that remembers what it was told."""

    def __init__(self) -> None:
        super().__init__({"peername": ("192.0.2.7", 50_000), "sockname": ("127.0.0.1", 8402)})
        self.said = b""
        self.ended = False

    def write(self, data: Any) -> None:
        assert not self.ended, "it speaks behind its end"
        self.said += bytes(data)

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.ended = True

    def close(self) -> None:
        self.ended = True

    def abort(self) -> None:
        self.ended = True

    def is_closing(self) -> bool:
        return self.ended

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass
