"""Dependencies for FastAPI."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from fastapi import Depends, HTTPException, Request

from .entitlements import EntitlementCache
from .refusals import Unknown, refusal
from .webhooks import Webhook, WebhookRefusal, verify_webhook

LONGEST_BODY = 1024 * 1024


def require_entitlement(name: str, entitlements: EntitlementCache, customer: Callable[..., Any], *,
                        unknown: Unknown) -> Callable[..., None]:
    """A dependency that admits only customers with `name`. `customer` is a dependency of yours that
    returns the id of who is signed in, or None.

        @app.get("/export", dependencies=[Depends(require_entitlement("premium", ...))])
    """
    def dependency(signed_in: str | None = Depends(customer)) -> None:
        refused = refusal(entitlements, signed_in, name, unknown)
        if refused is not None:
            raise HTTPException(refused.status, refused.problem, refused.headers)

    return dependency


def webhook(keys: str | Iterable[str]) -> Callable[[Request], Awaitable[Webhook]]:
    """A dependency with the verified message; what is not believed is answered 400, and 413 a body
    that is longer than any message.

        @app.post("/hooks", status_code=204)
        def receive(message: Webhook = Depends(webhook(secret))): ...
    """
    async def dependency(request: Request) -> Webhook:
        try:
            return verify_webhook(request.headers, await _body(request), keys)
        except WebhookRefusal as error:
            raise HTTPException(400, str(error)) from error

    return dependency


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_BODY:
            raise HTTPException(413, "The body is longer than a message.")
    # Where Starlette's `body()` keeps it: other dependencies and the handler can read it again.
    request._body = bytes(body)
    return request._body
