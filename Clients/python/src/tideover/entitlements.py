"""A cache of what customers may use, for a back end."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass, field, replace
from typing import Any

from .answers import Answer, answer_from
from .client import Tideover, TideoverError
from .instants import instant
from .passes import customer_id
from .snapshots import prompt_in, stated_in


@dataclass(frozen=True)
class _Entry:
    snapshot: dict
    etag: str | None
    read_at: float
    server_at: float
    """The server's time of its last answer, in seconds since 1970."""


@dataclass(frozen=True)
class _Question:
    """A request about a customer that is under way."""

    begun: float
    entry: "Future[_Entry]" = field(default_factory=Future)
    forgotten: set[str] = field(default_factory=set)
    """The customers that were forgotten since: one can be the one that its id is an alias of."""


_MOST_THREADS = 32
"""How many requests take longer than `max_wait` in threads; beyond them older answers count without
a request."""
_LONGEST_QUESTION = 60
"""Seconds after which a request is not waited for by others: a server can send byte by byte."""


class EntitlementCache:
    """What customers may use, never kept past the instant at which it changes. Threads share it."""

    def __init__(self, api: Tideover, *, max_age: float = 30, max_stale: float = 600,
                 max_wait: float = 2, max_customers: int = 10_000,
                 clock: Callable[[], float] = time.time):
        """`max_age` is how many seconds an answer is used without asking again, `max_stale` how
        many while the server cannot be reached, `max_wait` how many the server is waited for while
        an older answer can be used. The request then goes on in a thread."""
        self.api = api
        self._max_age = max_age
        self._max_stale = max_stale
        self._max_wait = max_wait
        self._max_customers = max_customers
        self._clock = clock
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._asked: dict[str, _Question] = {}
        self._threads = 0
        self._lock = threading.Lock()

    def answer(self, customer: str, name: str) -> Answer:
        """Whether a customer may use something now; `offline` if the server cannot be reached.
        Raises the error of a server that refuses the request, for example `key-unknown`: that does
        not pass by itself. Raises `bad-customer` for an id that no customer can have."""
        held = self._stated(self._entry(customer), name, self._max_age)
        if held is not None:
            return held

        def older() -> Answer | None:
            return self._stated(self._entry(customer), name, self._max_stale)

        try:
            entry = self._newest(customer, older)
        except TideoverError as error:
            held = older()
            if held is None and _is_refused(error):
                raise
            return Answer("unknown", "offline") if held is None else held
        if entry is None:
            held = older()
            return Answer("unknown", "offline") if held is None else held
        # The server has just answered: this counts for this request, even if it changes this instant.
        entitlement = entry.snapshot["entitlements"].get(name)
        return answer_from(entitlement) if entitlement else Answer("unknown", "unnamed")

    def prompt(self, customer: str) -> Mapping[str, Any] | None:
        """The message for a customer with a failed payment; None if that cannot be found out."""
        held = self._prompted(self._entry(customer), self._max_age)
        if held is not None:
            return held

        def older() -> Mapping[str, Any] | None:
            return self._prompted(self._entry(customer), self._max_stale)

        try:
            entry = self._newest(customer, older)
        except TideoverError:
            return older()
        return older() if entry is None else entry.snapshot["prompt"]

    def forget(self, customer: str | None) -> None:
        """Forgets what is kept of a customer and of the aliases of this id, for example when a
        webhook reports a change; a test message names none. An answer that is under way is not kept:
        it can be older than the change."""
        wanted = customer_id(customer or "")
        with self._lock:
            self._asked.pop(wanted, None)
            for question in self._asked.values():
                question.forgotten.add(wanted)
            for key in [key for key, entry in self._entries.items()
                        if key == wanted or entry.snapshot.get("customer") == wanted]:
                del self._entries[key]

    def _entry(self, customer: str) -> _Entry | None:
        with self._lock:
            return self._entries.get(customer_id(customer))

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

    def _newest(self, customer: str, older: Callable[[], object]) -> _Entry | None:
        """What the server answers; None if it takes too long and there is an older answer."""
        question = self._ask(customer, in_background=older() is not None)
        if question is None:
            return None
        left = question.begun + self._max_wait - self._clock()
        wait = None if older() is None else max(0, min(self._max_wait, left))
        try:
            return question.entry.result(wait)
        except Late:
            return None if older() is not None else question.entry.result()

    def _ask(self, customer: str, in_background: bool) -> _Question | None:
        """Asks for a customer once, however many threads wait for it. None if too many requests
        hang in threads."""
        key, now = customer_id(customer), self._clock()
        with self._lock:
            running = self._asked.get(key)
            if running is not None and 0 <= now - running.begun < _LONGEST_QUESTION:
                return running
            if in_background and self._hangs(now):
                return None
            self._threads += in_background
            question = self._asked[key] = _Question(now)
        if not (in_background and self._started(customer, question)):
            self._settle(customer, question)
        return question

    def _hangs(self, now: float) -> bool:
        """Whether too many requests in threads take longer than `max_wait`. Those of a busy server
        do not."""
        if self._threads < _MOST_THREADS:
            return False
        young = sum(now - question.begun < self._max_wait for question in self._asked.values())
        return self._threads - young >= _MOST_THREADS

    def _started(self, customer: str, question: _Question) -> bool:
        """Asks in a thread; False if the process can have no more of them."""
        def work() -> None:
            try:
                self._settle(customer, question)
            finally:
                self._end_thread()

        try:
            threading.Thread(target=work, daemon=True).start()
        except RuntimeError:
            self._end_thread()
            return False
        return True

    def _end_thread(self) -> None:
        with self._lock:
            self._threads -= 1

    def _settle(self, customer: str, question: _Question) -> None:
        entry = None
        failure: Exception = TideoverError("network", "The request was interrupted.")
        try:
            entry = self._read(customer, question.begun)
        except Exception as error:
            failure = error
        finally:
            # A worker that is stopped ends here with another exception: no other thread waits in vain.
            self._keep(customer_id(customer), question, entry)
            if entry is None:
                question.entry.set_exception(failure)
            else:
                question.entry.set_result(entry)

    def _read(self, customer: str, begun: float) -> _Entry:
        held = self._entry(customer)
        answer = self.api.snapshot(customer, held.etag if held else None)
        if answer is not None:
            snapshot, etag = answer
            as_of = instant(snapshot.get("asOf"))
            return _Entry(snapshot, etag, begun, begun if as_of is None else as_of / 1000)
        if held is None:
            raise TideoverError("malformed", "Nothing was asked for by tag, but 304 was answered.", 304)
        return replace(held, read_at=begun, server_at=held.server_at + max(0, begun - held.read_at))

    def _keep(self, key: str, question: _Question, entry: _Entry | None) -> None:
        with self._lock:
            if self._asked.get(key) is not question:
                return
            del self._asked[key]
            if entry is None or entry.snapshot.get("customer") in question.forgotten:
                return
            self._entries[key] = entry
            self._entries.move_to_end(key)
            if len(self._entries) > self._max_customers:
                self._entries.popitem(last=False)


def _is_refused(error: TideoverError) -> bool:
    """Whether the server itself refuses the request, so that the same request never succeeds: the
    key, the app or the customer's id is wrong. A proxy's page with such a status is an outage."""
    return error.code == "bad-customer" or (error.problem is not None and not error.is_transient)
