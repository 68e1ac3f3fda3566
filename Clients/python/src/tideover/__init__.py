"""What may this customer use right now, until when, and why?

Client of a Tideover server for back ends. It needs the standard library only; `tideover.fastapi`
and `tideover.django` need their frameworks.
"""

from .answers import Answer, answer_from
from .client import Tideover, TideoverError
from .entitlements import EntitlementCache
from .webhooks import Webhook, WebhookRefusal, verify_webhook

__all__ = [
    "Answer", "EntitlementCache", "Tideover", "TideoverError", "Webhook", "WebhookRefusal",
    "answer_from", "verify_webhook",
]
