"""Whether a customer may use something, in three cases."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NoReturn


@dataclass(frozen=True)
class Answer:
    """`granted`, `denied` or `unknown`. It has no truth value: `unknown` is neither a reason to
    lock a paying customer out nor to sell again, so ask for `status`."""

    status: Literal["granted", "denied", "unknown"]
    because: Literal["unconfirmed", "offline", "unnamed"] | None = None
    """Only of `unknown`. `unconfirmed`: the server could not find out, or knows no purchase yet;
    `offline`: it cannot be reached; `unnamed`: the catalogue has no such entitlement."""
    is_presumed: bool = False
    """Assumed within a bound that the server stated."""
    entitlement: Mapping[str, Any] | None = None
    """What the server stated."""

    def __bool__(self) -> NoReturn:
        raise TypeError("An answer has three cases: compare answer.status.")


def answer_from(entitlement: Mapping[str, Any]) -> Answer:
    """The answer that an entitlement of a snapshot states."""
    is_presumed = entitlement.get("confidence") != "confirmed"
    if entitlement.get("access"):
        return Answer("granted", is_presumed=is_presumed, entitlement=entitlement)
    if entitlement.get("confidence") == "unknown":
        return Answer("unknown", "unconfirmed", entitlement=entitlement)
    return Answer("denied", is_presumed=is_presumed, entitlement=entitlement)
