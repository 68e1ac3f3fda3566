"""Standard Webhooks: https://www.standardwebhooks.com"""

import base64
import binascii
import hmac
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from . import ed25519

_SENTENCES = {
    "missing": "A header is missing. Send webhook-id, webhook-timestamp and webhook-signature.",
    "timestamp": "The timestamp is more than five minutes from now. Check both clocks.",
    "signature": "No signature matches. Check the secret and that the body is the one received.",
    "malformed": "The body is no JSON object.",
}


class WebhookRefusal(Exception):
    """Why a message is not believed: `missing`, `timestamp`, `signature` or `malformed`."""

    def __init__(self, code: str):
        super().__init__(_SENTENCES[code])
        self.code = code


@dataclass(frozen=True)
class Webhook:
    """A message that was verified. `id` is the same when it is sent again."""

    id: str
    timestamp: int
    payload: dict[str, Any]


def verify_webhook(headers: Mapping[str, str], body: bytes | str, keys: str | Iterable[str], *,
                   tolerance: float = 300, now: float | None = None) -> Webhook:
    """The message, if one of the keys signed it: secrets (`whsec_`, for `v1`) or public keys
    (`whpk_`, for `v1a`). Give the body as it was received, not parsed again."""
    fields = {name.lower(): value for name, value in headers.items()}
    identifier, moment, signatures = (
        fields.get(f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    if not identifier or not moment or not signatures:
        raise WebhookRefusal("missing")
    is_number = moment.isascii() and moment.isdigit() and len(moment) <= 15
    if not is_number or abs((time.time() if now is None else now) - int(moment)) > tolerance:
        raise WebhookRefusal("timestamp")
    content = body.encode() if isinstance(body, str) else body
    signed = f"{identifier}.{moment}.".encode() + content
    known = [keys] if isinstance(keys, str) else list(keys)
    if not any(_holds(signature, signed, key)
               for signature in signatures.split(" ")[:32] for key in known):
        raise WebhookRefusal("signature")
    return Webhook(identifier, int(moment), _object(content))


def _holds(signature: str, signed: bytes, key: str) -> bool:
    version, _, text = signature.partition(",")
    is_public = key.startswith("whpk_")
    secret = _decoded(key.removeprefix("whpk_").removeprefix("whsec_"))
    given = _decoded(text)
    if secret is None or given is None:
        return False
    if version == "v1" and not is_public:
        return hmac.compare_digest(hmac.digest(secret, signed, "sha256"), given)
    return version == "v1a" and is_public and ed25519.verify(secret, given, signed)


def _decoded(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise WebhookRefusal("malformed")
    return value
