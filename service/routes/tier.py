"""GET /api/cli/billing/tier: what the caller is entitled to."""

from service.access.desk import AccessDesk
from service.routes.call import Call
from service.wire.envelope import Answer
from service.wire.queries import NoParameters


def tier(access: AccessDesk, call: Call[NoParameters, None]) -> Answer:
    """Report the tier the gate applies to the credential; its `meta` has no age, for there is no underlying data."""
    return Answer(access.entitlement(call.known_caller()))
