"""The 402 of a priced route: the challenge of a spent quota, and of a payment that is not good.

The meter answers with it when a quota is spent, and so does the gate of payments when a payment is refused.
"""

from typing import Final

from starlette.types import Receive, Scope, Send

from service.access.standing import Standing
from service.clock import iso
from service.errors import ServiceError
from service.http.errors import JSON, NO_STORE
from service.http.exchange import Exchange
from service.http.quota import NO_FREE_QUESTIONS
from service.http.resource import resource_url
from service.http.whole import Whole, whole
from service.payments.challenge import Challenge, Challenger, Refusal, X402Version
from service.wire.offers import Offer
from service.wire.payment import Gate, Quota, ThisQuery, Unlock

_PAYMENT_REQUIRED: Final = 402
_REMEMBERED: Final = 256
MAX_VERSION: Final = b"x-x402-max-version"
_PAY: Final = "sign what `accepts` asks for and send this request again with the payment in PAYMENT-SIGNATURE"
_LOGIN: Final = "run `verdict login`: an account has free questions"
_ACCOUNTLESS: Final = "no token was sent; pay for this call as `accepts` says, or run `verdict login`"
_UPGRADE: Final = "ask the operator for the access tier (50 questions a day) or pro (no limit)"

Asked = tuple[Standing | None, bytes, bytes, bytes | None, bytes | None]
"""All that a challenge is made of: who asks, path, query, host, and the version of x402 that is read."""


class PaymentDue:
    """Answers 402 on one priced route.

    Args:
        offer: The route.
        challenger: Writes the challenge.
        public_url: Scheme and host that callers use, where the service stands behind a proxy.

    Callers whose quota is spent stand alike, so a few challenges are remembered for each route.
    """

    def __init__(self, offer: Offer, challenger: Challenger, public_url: str | None) -> None:
        self._offer = offer
        self._challenger = challenger
        self._public_url = public_url
        self._remembered: dict[Asked, Whole] = {}

    async def __call__(
        self,
        scope: Scope,
        receive: Receive,  # noqa: ARG002 -- the form of an application
        send: Send,
        standing: Standing | None,
        refused: ServiceError | None = None,
    ) -> None:
        """Send the 402: for HEAD the same headers without the body.

        Args:
            scope: The request.
            receive: Not used.
            send: Takes the answer.
            standing: How the caller stands. None: it has no account.
            refused: What is wrong with the payment that came with the request: PAYMENT_REQUIRED, its `details` with a
                `reason`. None: the quota is spent, or there is none.
        """
        answer = self.written(scope, standing) if refused is None else self._refusal(scope, standing, refused)
        await answer.send(send, bodiless=scope["method"] == "HEAD")

    def written(self, scope: Scope, standing: Standing | None) -> Whole:
        """The 402 of a spent quota, or of a caller without an account."""
        named = scope["verdict"].headers
        asked = standing, scope["raw_path"], scope["query_string"], named.get(b"host"), named.get(MAX_VERSION)
        answer = self._remembered.get(asked)
        if answer is None:
            if len(self._remembered) >= _REMEMBERED:
                self._remembered.clear()
            answer = self._remembered[asked] = _answer(self._write(scope, standing))
        return answer

    def _refusal(self, scope: Scope, standing: Standing | None, refused: ServiceError) -> Whole:
        refusal = Refusal(str((refused.details or {})["reason"]), refused.message)
        url, version = resource_url(scope, self._public_url), _version(scope)
        return _answer(self._challenger.refusal(self._offer, gate(self._offer, standing), refusal, url, version))

    def _write(self, scope: Scope, standing: Standing | None) -> Challenge:
        url, version = resource_url(scope, self._public_url), _version(scope)
        return self._challenger.challenge(self._offer, gate(self._offer, standing), _sentence(standing), url, version)


def gate(offer: Offer, standing: Standing | None) -> Gate:
    """Say why the gate is shut for this caller, when it opens, and what opens it now."""
    if standing is None:
        return Gate(
            tier="free",
            quota=Quota(used=0, limit=0, remaining=0, period="lifetime"),
            reset_at=None,
            upgrade_url=None,
            this_query=ThisQuery(route=offer.id, price_usdc=offer.price_usdc),
            unlock=[Unlock(method="pay", description=_PAY), Unlock(method="login", description=_LOGIN)],
        )
    reset_at = None if standing.reset_ms is None else iso(standing.reset_ms)
    unlock = [Unlock(method="pay", description=_PAY), Unlock(method="upgrade", description=_UPGRADE)]
    if reset_at is not None:
        unlock.insert(1, Unlock(method="wait", description="a question becomes free again", at=reset_at))
    return Gate(
        tier=standing.tier,
        quota=Quota(standing.used, standing.limit, standing.remaining, standing.period),
        reset_at=reset_at,
        upgrade_url=None,
        this_query=ThisQuery(route=offer.id, price_usdc=offer.price_usdc),
        unlock=unlock,
    )


def _version(scope: Scope) -> X402Version:
    exchange: Exchange = scope["verdict"]
    return 2 if exchange.headers.get(MAX_VERSION) == b"2" else 1


def _sentence(standing: Standing | None) -> str:
    if standing is None:
        return _ACCOUNTLESS
    if standing.limit == 0:
        return f"{NO_FREE_QUESTIONS}; pay for this call as `accepts` says"
    spent = f"your questions are spent ({standing.used} of {standing.limit} used)"
    until = "" if standing.reset_ms is None else f", or wait: the next question is free at {iso(standing.reset_ms)}"
    return f"{spent}; pay for this call as `accepts` says{until}"


def _answer(challenge: Challenge) -> Whole:
    return whole(_PAYMENT_REQUIRED, [JSON, NO_STORE, (b"payment-required", challenge.header)], challenge.body)
