"""Standard Webhooks: https://www.standardwebhooks.com"""

import base64
import binascii
import hmac
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

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
    (`whpk_`, for `v1a`); empty ones are ignored. Give the body as it was received, not parsed again.
    Raises `WebhookRefusal` for any other message, and `ValueError` without a usable key."""
    known = _keys_in(keys)
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
    if not any(_holds(signature, signed, key)
               for signature in signatures.split(" ")[:32] for key in known):
        raise WebhookRefusal("signature")
    return Webhook(identifier, int(moment), _object(content))


class _Key(NamedTuple):
    is_public: bool
    data: bytes


def _keys_in(given: str | Iterable[str]) -> list[_Key]:
    """The usable keys. Everyone can sign by an empty secret, so that none may remain."""
    texts = [given] if isinstance(given, str) else given or ()
    # An unset variable of the environment is None.
    keys = [_key(text.strip()) for text in texts if text and text.strip()]
    if not keys:
        raise ValueError("No webhook key is given. Set the secret that `tideover webhooks` prints.")
    return keys


def _key(text: str) -> _Key:
    data = _decoded(text.removeprefix("whpk_").removeprefix("whsec_"))
    if not data:
        raise ValueError("A webhook key is not Base64. Give all of `whsec_...` or `whpk_...`.")
    return _Key(text.startswith("whpk_"), data)


def _holds(signature: str, signed: bytes, key: _Key) -> bool:
    version, _, text = signature.partition(",")
    given = _decoded(text)
    if given is None:
        return False
    if version == "v1" and not key.is_public:
        return hmac.compare_digest(hmac.digest(key.data, signed, "sha256"), given)
    return version == "v1a" and key.is_public and ed25519.verify(key.data, given, signed)


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
