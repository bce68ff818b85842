"""Queries as the service decodes them, of routes that take some."""

import pytest
from msgspec import Struct

from service.errors import ServiceError
from service.http.gates.parameters import ParameterDecoder
from service.wire.offer import Offer
from service.wire.queries import NoParameters


class Asked:
    """One route, asked by query strings.

    Args:
        parameters: What it takes.
        path: Its template.
        values: What stands in the path.
    """

    def __init__(self, parameters: type[Struct], path: str = "/api/cli/test", **values: str) -> None:
        self._offer = Offer(id="test", path=path, summary="Of the tests", result=NoParameters, parameters=parameters)
        self._values = values

    def decode(self, query: str) -> Struct:
        return ParameterDecoder(self._offer).decode(self._values, query.encode())

    def error(self, query: str) -> ServiceError:
        """What a query is refused with."""
        with pytest.raises(ServiceError) as caught:
            self.decode(query)
        return caught.value

    def refusal(self, query: str) -> str:
        """The parameter that is named as the caller's mistake."""
        error = self.error(query)
        assert error.code == "BAD_REQUEST"
        assert error.details is not None
        return str(error.details["parameter"])


NO_WHOLE_NUMBERS = (
    "1_0", "%D9%A1%D9%A0", "nan", "inf", "1e400", "1e2", "-1", "0", "1000000000", "1.0", "0x10", "+5", "%205", "",
)  # fmt: skip
"""Malformed values of a count or a limit."""
