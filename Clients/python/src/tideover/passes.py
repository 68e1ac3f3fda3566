"""What a device may believe offline, and when: the rules of TideoverCore/Pass, as the tables in
Conformance/clients state them. Pure functions; instants are milliseconds since 1970."""

import base64
import binascii
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from . import ed25519
from .instants import instant

_TOLERANCE = 24 * 3_600_000
_STATES = {"active": True, "grace": True, "hold": False, "expired": False, "never": False}
_LONGEST = 64 * 1024


class PassRefusal(Exception):
    """A pass was rejected; `code` is the reason."""

    def __init__(self, code: str):
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class Expectation:
    """The claims that a pass must have to be believed."""

    issuer: str
    audience: str
    customer: str
    environment: str


@dataclass(frozen=True)
class Pass:
    """The claims of a pass."""

    issuer: str
    audience: str
    customer: str
    environment: str
    issued: int
    not_after: int
    version: int
    entitlements: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class PassAnswer:
    """`presumed`: what the pass stated has run its time."""

    kind: Literal["stated", "presumed", "nothing"]
    entitlement: Mapping[str, Any] | None = None


def verified_claims(compact: str, keys: Iterable[Mapping[str, str]]) -> Any:
    """The claims of a pass that one of the keys signed; raises `PassRefusal`."""
    parts = compact.split(".")
    if len(compact) > _LONGEST or len(parts) > 3:
        raise PassRefusal("notAPass")
    header, payload, signature = (parts + ["", ""])[:3]
    head = _json(header)
    if not isinstance(head, dict) or head.get("alg") != "EdDSA" or head.get("typ") != "tideover-pass" \
            or "crit" in head:
        raise PassRefusal("notAPass")
    key = next((key for key in keys if key["kid"] == head.get("kid") and key["crv"] == "Ed25519"), None)
    if key is None:
        raise PassRefusal("unknownKey")
    signed = f"{header}.{payload}".encode()
    if not ed25519.verify(_decoded(key["x"]) or b"", _decoded(signature) or b"", signed):
        raise PassRefusal("badSignature")
    claims = _json(payload)
    if claims is None:
        raise PassRefusal("notAPass")
    return claims


def believe(claims: Any, expected: Expectation, held: Pass | None, now: int) -> Pass:
    """The pass of verified claims, if it is believed now; raises `PassRefusal` otherwise. `now` is
    the later of the clock and of the newest verified date."""
    found = _read(claims)
    if found is None:
        raise PassRefusal("malformed")
    if found.issuer != expected.issuer:
        raise PassRefusal("wrongIssuer")
    if found.audience != expected.audience:
        raise PassRefusal("wrongAudience")
    if found.environment != expected.environment:
        raise PassRefusal("wrongEnvironment")
    if found.customer != customer_id(expected.customer):
        raise PassRefusal("wrongCustomer")
    if found.issued > now + _TOLERANCE:
        raise PassRefusal("issuedInFuture")
    if max(now, found.issued) >= found.not_after:
        raise PassRefusal("expired")
    if held is not None and _is_older(found, held):
        raise PassRefusal("older")
    return found


def answer_of(found: Pass, name: str, now: int) -> PassAnswer:
    """What a pass answers, never for a time before it was issued."""
    at = max(now, found.issued)
    entitlement = found.entitlements.get(name)
    if entitlement is None or at >= min(found.not_after, _ms(entitlement["notAfter"])):
        return PassAnswer("nothing")
    end = instant(entitlement.get("accessUntil" if entitlement["access"] else "nextChange"))
    return PassAnswer("presumed" if end is not None and end <= at else "stated", entitlement)


def customer_id(text: str) -> str:
    """An id as the server compares it: UUIDs in lower case."""
    is_uuid = re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", text)
    return text.lower() if is_uuid else text


def _is_older(found: Pass, held: Pass) -> bool:
    same = ("customer", "audience", "environment", "issuer")
    if any(getattr(found, name) != getattr(held, name) for name in same):
        return False
    return (found.version, found.issued) < (held.version, held.issued)


def _read(claims: Any) -> Pass | None:
    """Members that are not known are ignored; nothing that is needed may be missing."""
    if not isinstance(claims, dict) or not isinstance(claims.get("entitlements"), dict):
        return None
    texts = [claims.get(name) for name in ("iss", "aud", "sub", "environment")]
    issued, not_after = instant(claims.get("issued")), instant(claims.get("notAfter"))
    version = claims.get("version")
    entitlements = {name: _entitlement(value) for name, value in claims["entitlements"].items()}
    if not all(isinstance(text, str) for text in texts) or issued is None or not_after is None \
            or type(version) is not int or None in entitlements.values() or texts[2] == "" \
            or texts[3] not in ("production", "sandbox", "simulated"):
        return None
    issuer, audience, customer, environment = texts
    return Pass(issuer, audience, customer_id(customer), environment, issued, not_after, version,
                entitlements)


def _entitlement(value: Any) -> dict | None:
    """`access` follows from the state, whatever the member states."""
    if not isinstance(value, dict):
        return None
    given = {name: member for name, member in value.items() if member is not None}
    dates = [given[name] for name in ("accessUntil", "graceUntil", "nextChange") if name in given]
    is_right = given.get("state") in _STATES and isinstance(given.get("reason"), str) \
        and given.get("confidence") in ("confirmed", "presumed", "unknown") \
        and all(instant(date) is not None for date in [given.get("notAfter"), *dates]) \
        and isinstance(given.get("productId", ""), str) and isinstance(given.get("willRenew", True), bool)
    return {**given, "access": _STATES[given["state"]]} if is_right else None


def _ms(text: str) -> int:
    return instant(text) or 0


def _json(part: str) -> Any:
    data = _decoded(part)
    try:
        value = json.loads(data.decode()) if data is not None else None
    except (ValueError, RecursionError):  # also what nests deeper than the parser goes
        return None
    return value if isinstance(value, (dict, list)) else None


def _decoded(text: str) -> bytes | None:
    """The bytes of base64url without padding."""
    if not re.fullmatch(r"[A-Za-z0-9_-]*", text):
        return None
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return None
