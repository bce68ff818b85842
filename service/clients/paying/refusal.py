"""Why nothing was paid, or why nobody can say yet."""


class UnpaidError(Exception):
    """Nothing new was signed, or what was signed was refused; the message is one line that says what to do."""


class OpenPaymentError(Exception):
    """A payment is out and nobody can say yet what becomes of it; it is kept, and sent again by the same request.

    Args:
        message: One line that says what to do.
        unreachable: Whether no answer came at all.
    """

    def __init__(self, message: str, *, unreachable: bool) -> None:
        super().__init__(message)
        self.unreachable = unreachable
