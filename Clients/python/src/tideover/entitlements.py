"""A cache of what customers may use, for a back end."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .answers import Answer, answer_from
from .client import Tideover, TideoverError
from .instants import instant
from .snapshots import prompt_in, stated_in


@dataclass(frozen=True)
class _Entry:
    snapshot: dict
    etag: str | None
    read_at: float
    server_at: float
    """The server's time of its last answer, in seconds since 1970."""


class EntitlementCache:
    """What customers may use, never kept past the instant at which it changes. Threads share it."""

    def __init__(self, api: Tideover, *, max_age: float = 30, max_stale: float = 600,
                 max_customers: int = 10_000, clock: Callable[[], float] = time.time):
        """`max_age` is how many seconds an answer is used without asking again, `max_stale` how
        many while the server cannot be reached."""
        self.api = api
        self._max_age = max_age
        self._max_stale = max_stale
        self._max_customers = max_customers
        self._clock = clock
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    def answer(self, customer: str, name: str) -> Answer:
        """Whether a customer may use something now; `offline` if that cannot be found out. Raises
        `bad-customer` for an id that no customer can have."""
        held = self._stated(self._entry(customer), name, self._max_age)
        if held is not None:
            return held
        try:
            entry = self._read(customer)
        except TideoverError as error:
            if error.code == "bad-customer":
                raise
            held = self._stated(self._entry(customer), name, self._max_stale)
            return Answer("unknown", "offline") if held is None else held
        # The server has just answered: this counts for this request, even if it changes this instant.
        entitlement = entry.snapshot["entitlements"].get(name)
        return answer_from(entitlement) if entitlement else Answer("unknown", "unnamed")

    def prompt(self, customer: str) -> Mapping[str, Any] | None:
        """The message for a customer with a failed payment; None if that cannot be found out."""
        held = self._prompted(self._entry(customer), self._max_age)
        if held is not None:
            return held
        try:
            return self._read(customer).snapshot["prompt"]
        except TideoverError:
            return self._prompted(self._entry(customer), self._max_stale)

    def forget(self, customer: str) -> None:
        """Forgets what is kept of a customer, for example when a webhook reports a change."""
        with self._lock:
            self._entries.pop(customer, None)

    def _entry(self, customer: str) -> _Entry | None:
        with self._lock:
            return self._entries.get(customer)

    def _stated(self, entry: _Entry | None, name: str, max_age: float) -> Answer | None:
        if entry is None or not self._is_young(entry, max_age):
            return None
        entitlement = stated_in(entry.snapshot, name, self._server_time(entry), as_of=entry.server_at * 1000)
        return None if entitlement is None else answer_from(entitlement)

    def _prompted(self, entry: _Entry | None, max_age: float) -> Mapping[str, Any] | None:
        if entry is None or not self._is_young(entry, max_age):
            return None
        return prompt_in(entry.snapshot, self._server_time(entry), as_of=entry.server_at * 1000)

    def _server_time(self, entry: _Entry) -> float:
        """In milliseconds since 1970."""
        return (entry.server_at + self._clock() - entry.read_at) * 1000

    def _is_young(self, entry: _Entry, max_age: float) -> bool:
        return 0 <= self._clock() - entry.read_at < max_age

    def _read(self, customer: str) -> _Entry:
        held = self._entry(customer)
        begun = self._clock()
        answer = self.api.snapshot(customer, held.etag if held else None)
        if answer is not None:
            snapshot, etag = answer
            as_of = instant(snapshot.get("asOf"))
            entry = _Entry(snapshot, etag, begun, begun if as_of is None else as_of / 1000)
        elif held is not None:
            server_at = held.server_at + max(0, begun - held.read_at)
            entry = replace(held, read_at=begun, server_at=server_at)
        else:
            raise TideoverError("malformed", "Nothing was asked for by tag, but 304 was answered.", 304)
        with self._lock:
            self._entries[customer] = entry
            self._entries.move_to_end(customer)
            if len(self._entries) > self._max_customers:
                self._entries.popitem(last=False)
        return entry
