"""How long a snapshot answers while the server cannot be reached, as the table
Conformance/clients/prompts.json states it. Pure functions; instants are milliseconds since 1970, on
the server's clock."""

from collections.abc import Mapping
from typing import Any

from .instants import instant

_LIFE = 24 * 3_600_000
"""How long a snapshot answers by itself: a day."""


def stated_in(snapshot: Mapping[str, Any], name: str, at: float, *, as_of: float) -> Mapping[str, Any] | None:
    """What a snapshot states of an entitlement, until that changes by itself. `as_of` is the server's
    time at which the snapshot last held."""
    entitlement = snapshot["entitlements"].get(name)
    if entitlement is None or at - as_of >= _LIFE:
        return None
    change = instant(entitlement.get("nextChange"))
    return None if change is not None and change <= at else entitlement


def prompt_in(snapshot: Mapping[str, Any], at: float, *, as_of: float) -> Mapping[str, Any] | None:
    """The prompt of a snapshot, until its time is over or what it is about changes; None after
    that."""
    prompt = snapshot["prompt"]
    if at - as_of >= _LIFE:
        return None
    if "entitlement" not in prompt:
        return prompt
    until = instant(prompt.get("arguments", {}).get("until"))
    is_over = until is not None and until <= at
    return None if is_over or stated_in(snapshot, prompt["entitlement"], at, as_of=as_of) is None else prompt
