"""A payment that was read, and is not good."""

from service.errors import ServiceError


class PaymentRefusedError(ServiceError):
    """Nothing was taken and nothing will be: the caller may sign another payment.

    Args:
        reason: An x402 reason code.
        message: The same for a person.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__("PAYMENT_REQUIRED", message, details={"reason": reason})
        self.reason = reason
