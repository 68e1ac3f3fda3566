"""The response that a back end sends instead of its own, for every framework."""

from dataclasses import dataclass, field
from typing import Literal

from .answers import Answer
from .entitlements import EntitlementCache

Unknown = Literal["allow", "deny"]
"""What happens while it is not known whether the customer may: nothing is assumed for you. `allow`
also admits customers of whom the server knows no purchase yet."""


@dataclass(frozen=True)
class Refusal:
    """A problem (RFC 9457) and its status."""

    status: int
    code: str
    title: str
    headers: dict[str, str] = field(default_factory=lambda: {"Cache-Control": "no-store"})

    @property
    def problem(self) -> dict[str, object]:
        return {"type": f"urn:tideover:client:{self.code}", "title": self.title, "status": self.status}


def refusal(entitlements: EntitlementCache, customer: str | None, name: str,
            unknown: Unknown) -> Refusal | None:
    """None if the customer may use the entitlement."""
    if not customer:
        return Refusal(401, "signed-out", "Sign in first.")
    answer = entitlements.answer(customer, name)
    if answer.status == "granted" or (answer.status == "unknown" and unknown == "allow"):
        return None
    return _denial(answer, name)


def _denial(answer: Answer, name: str) -> Refusal:
    if answer.status == "denied":
        return Refusal(403, "not-entitled", f"This needs {name}.")
    if answer.because == "offline":
        title = f"It cannot be found out now whether you have {name}."
        return Refusal(503, "offline", title, {"Cache-Control": "no-store", "Retry-After": "30"})
    return Refusal(403, answer.because or "unknown", f"It is not confirmed that you have {name}.")
