"""Decorators for views of Django."""

import functools
from collections.abc import Callable, Iterable
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from .entitlements import EntitlementCache
from .refusals import Unknown, refusal
from .webhooks import Webhook, WebhookRefusal, verify_webhook

View = Callable[..., HttpResponse]


def require_entitlement(name: str, entitlements: EntitlementCache,
                        customer: Callable[[HttpRequest], str | None], *,
                        unknown: Unknown) -> Callable[[View], View]:
    """Admits only customers with `name`; `customer` returns the id of the signed-in one, or None."""
    def decorate(view: View) -> View:
        @functools.wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            refused = refusal(entitlements, customer(request), name, unknown)
            if refused is None:
                return view(request, *args, **kwargs)
            return JsonResponse(refused.problem, status=refused.status, headers=refused.headers,
                                content_type="application/problem+json")
        return guarded
    return decorate


def webhook(keys: str | Iterable[str]) -> Callable[[Callable[[Webhook], None]], View]:
    """Makes a view of a function that takes a verified message; answers 204, or 400 for what is not
    believed."""
    def decorate(handle: Callable[[Webhook], None]) -> View:
        @csrf_exempt
        @functools.wraps(handle)
        def view(request: HttpRequest) -> HttpResponse:
            try:
                message = verify_webhook(request.headers, request.body, keys)
            except WebhookRefusal as error:
                return HttpResponse(str(error), status=400, content_type="text/plain")
            handle(message)
            return HttpResponse(status=204)
        return view
    return decorate
