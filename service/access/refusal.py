"""The refusal of a credential, in the one form every gate and route gives it."""

from service.errors import ServiceError


def invalid(reason: str) -> ServiceError:
    """A 401 that states why, with the challenge RFC 9110 asks for beside it."""
    return ServiceError("AUTH_INVALID", reason, headers={"WWW-Authenticate": "Bearer"})


class UnknownTokenError(ServiceError):
    """A well-formed token that this service never issued."""

    def __init__(self) -> None:
        message = "The token is not known to this service. Run `verdict login` or make a new key."
        super().__init__("AUTH_INVALID", message, headers={"WWW-Authenticate": "Bearer"})


def bad_parameter(parameter: str, reason: str) -> ServiceError:
    """A 400 that names the field it is about."""
    return ServiceError("BAD_REQUEST", reason, details={"parameter": parameter})
