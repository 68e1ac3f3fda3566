"""The routes of a Tideover server for one app."""

import http.client
import json
import random
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

FIRST_PAUSE = 0.5
"""The first pause is at most this many seconds; each further one at most twice as long."""
LONGEST_PAUSE = 30.0
"""A server that asks for a longer pause gets no further attempt."""
LONGEST_BODY = 16 * 1024 * 1024
MOST_PIECES = 16
"""The most purchases of Google Play that one request takes."""


class Response(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


Send = Callable[[str, str, Mapping[str, str], bytes | None, float], Response]
"""Sends method, URL, headers and body within a timeout in seconds."""


class TideoverError(Exception):
    """Why a request has no answer. `code` is what a program may act on: `network`, `malformed` (not
    an answer of this API), the name of a problem, or `bad-customer` before anything is sent."""

    def __init__(self, code: str, message: str, status: int | None = None,
                 problem: Mapping[str, Any] | None = None, retry_after: float | None = None):
        super().__init__(message)
        self.code = code
        self.status = status
        self.problem = problem
        self.retry_after = retry_after

    @property
    def is_transient(self) -> bool:
        """Whether the same request can succeed later."""
        return self.status is None or self.status in (408, 425, 429, 500, 502, 503, 504)


class Tideover:
    """Reads and reconciles customers of one app. It keeps nothing between calls, and threads may
    share it."""

    def __init__(self, url: str, app: str, key: str, *, environment: str = "production",
                 store: str | None = None, language: str | None = None, timeout: float = 10,
                 attempts: int = 3, send: Send | None = None,
                 sleep: Callable[[float], None] = time.sleep,
                 jitter: Callable[[], float] = random.random):
        self.app = app
        self.environment = environment
        # The store of the device: trial offers are then of its products.
        self.store = store
        self._base = f"{url.rstrip('/')}/v1/apps/{_quoted(app)}"
        # Files of keys end with a new line, which no header can contain.
        self._headers = {"Accept": "application/json", "Authorization": f"Bearer {key.strip()}"}
        # The languages of the texts, as `Accept-Language` writes them.
        if language is not None:
            self._headers["Accept-Language"] = language
        self._timeout = timeout
        self._attempts = attempts
        self._send = send or _send
        self._sleep = sleep
        self._jitter = jitter

    def snapshot(self, customer: str, etag: str | None = None) -> tuple[dict, str | None] | None:
        """What a customer may use now, and the tag to ask with the next time; None if it is still
        what has the tag `etag`."""
        headers = {"If-None-Match": etag} if etag else {}
        response = self._request("GET", self._customer(customer, store=self.store), headers)
        if response.status == 304:
            return None
        return _stated(response), response.headers.get("etag")

    def reconcile(self, customer: str, *, purchases: Iterable[Mapping[str, Any]] = (),
                  **evidence: Any) -> dict:
        """Presents what a device has in hand: purchase objects of react-native-iap as they are, and
        other `evidence` by its name in the API, such as `transactions`. More purchases than one
        request takes are sent in several; the last answer counts, with the items of all of them."""
        pieces = list(purchases)
        device = evidence.pop("device", None)
        answer: dict = {}
        items: list[dict] = []
        for first in range(0, max(1, len(pieces)), MOST_PIECES):
            body = dict(evidence) if first == 0 else {}
            if part := pieces[first:first + MOST_PIECES]:
                body["purchases"] = part
            # The device concluded from all of them: the server compares once it has them too.
            if device is not None and first + MOST_PIECES >= len(pieces):
                body["device"] = device
            answer = _stated(self._request(
                "POST", self._customer(customer, "/reconcile", store=self.store),
                {"Content-Type": "application/json"},
                json.dumps(body).encode()))
            for item in answer.get("items", []):
                if item["kind"] == "purchase":
                    item["index"] += first
                items.append(item)
        return {**answer, "items": items}

    def report_prompt(self, customer: str, id: str, kind: str, *, shown_at: str | None = None,
                      response: str | None = None, environment: str | None = None) -> dict:
        """Reports that a prompt was shown, so that the next one waits as the server's policy says.
        Report it again with the same `id` and the customer's `response`: `opened`, `dismissed`.
        `environment` is the answer's, which a sandbox that answers for production names."""
        report = {"id": id, "kind": kind, "shownAt": shown_at, "response": response}
        body = {name: value for name, value in report.items() if value is not None}
        return _object(self._request(
            "POST", self._customer(customer, "/prompts", environment=environment or self.environment),
            {"Content-Type": "application/json"}, json.dumps(body).encode()))

    def timeline(self, customer: str, **moment: str) -> dict:
        """What a customer lived through. Needs a secret key."""
        return self._get(self._customer(customer, "/timeline", **moment))

    def explain(self, customer: str, **moment: str) -> dict:
        """Why a customer may use what; `at` and `asKnownAt` are RFC 3339. Needs a secret key."""
        return self._get(self._customer(customer, "/explain", **moment))

    def events(self, after: str | None = None, limit: int | None = None) -> dict:
        """A page of the change feed, from the event after `after`. Needs a secret key."""
        return self._get(f"{self._base}/events{_query(after=after, limit=limit)}")

    def events_after(self, after: str | None = None) -> Iterator[dict]:
        """All events after `after`: keep the last one's id and go on from it later."""
        while True:
            page = self.events(after)
            yield from page["events"]
            if not page["more"] or page["next"] is None:
                return
            after = page["next"]

    def pass_keys(self) -> dict:
        """The public keys that passes are checked with."""
        return self._get(f"{self._base}/pass-keys")

    def _get(self, url: str) -> dict:
        return _object(self._request("GET", url, {}))

    def _customer(self, customer: str, path: str = "", **values: str | None) -> str:
        """The URL of a customer. Clients and proxies resolve a segment of dots, also if it is
        encoded, so that the request would concern something else."""
        if customer in ("", ".", ".."):
            raise TideoverError("bad-customer", "A customer's id cannot be empty, '.' or '..'.", 400)
        parameters = _query(**{"environment": self.environment, **values})
        return f"{self._base}/customers/{_quoted(customer)}{path}{parameters}"

    def _request(self, method: str, url: str, headers: Mapping[str, str],
                 body: bytes | None = None) -> Response:
        attempt = 1
        while True:
            try:
                return self._attempt(method, url, headers, body)
            except TideoverError as error:
                pause = self._pause(error, attempt)
                if pause is None:
                    raise
                self._sleep(pause)
                attempt += 1

    def _pause(self, error: TideoverError, attempt: int) -> float | None:
        """How long to wait before the next attempt; None for none."""
        asked = error.retry_after or 0
        if not error.is_transient or attempt >= self._attempts or asked > LONGEST_PAUSE:
            return None
        return asked + self._jitter() * min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (attempt - 1))

    def _attempt(self, method: str, url: str, headers: Mapping[str, str],
                 body: bytes | None) -> Response:
        try:
            response = self._send(method, url, {**self._headers, **headers}, body, self._timeout)
        except (OSError, http.client.HTTPException) as error:
            raise TideoverError("network", f"The server cannot be reached: {error}") from error
        if len(response.body) > LONGEST_BODY:
            raise _malformed(response.status)
        if response.status == 304 or 200 <= response.status < 300:
            return response
        raise _problem(response)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The key goes to the server that was named, and to no other."""

    def redirect_request(self, *_: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirects)


def _send(method: str, url: str, headers: Mapping[str, str], body: bytes | None,
          timeout: float) -> Response:
    request = urllib.request.Request(url, data=body, headers=dict(headers), method=method)
    try:
        with _opener.open(request, timeout=timeout) as answer:
            data = answer.read(LONGEST_BODY + 1)
            if answer.length and len(data) <= LONGEST_BODY:
                raise http.client.IncompleteRead(data, answer.length)
            return Response(answer.status, answer.headers, data)
    except urllib.error.HTTPError as answer:
        with answer:
            return Response(answer.code, answer.headers, answer.read(LONGEST_BODY + 1))


def _problem(response: Response) -> TideoverError:
    asked = response.headers.get("retry-after") or ""
    retry_after = float(asked) if asked.isdecimal() else None
    try:
        problem = json.loads(response.body)
        # Older servers sent `urn:tideover:problem:CODE`.
        code = re.split("[/:]", problem["type"])[-1]
        text = f"{problem['title']} ({response.status}) {problem.get('detail', '')}".rstrip()
    except (ValueError, TypeError, KeyError, AttributeError):
        error = _malformed(response.status)
        error.retry_after = retry_after
        return error
    return TideoverError(code, text, response.status, problem, retry_after)


def _malformed(status: int) -> TideoverError:
    return TideoverError("malformed", f"Status {status} is no answer of Tideover.", status)


def _object(response: Response) -> dict:
    try:
        value = json.loads(response.body)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise _malformed(response.status)
    return value


def _stated(response: Response) -> dict:
    """An answer that states entitlements. Adds an empty prompt if the answer has none."""
    value = _object(response)
    entitlements = value.get("entitlements")
    if not isinstance(entitlements, dict) or not all(
            isinstance(stated, dict) for stated in entitlements.values()):
        raise _malformed(response.status)
    return {"prompt": {"kind": "none"}, **value}


def _quoted(text: str) -> str:
    """Encodes a segment of a path."""
    return urllib.parse.quote(text, safe="")


def _query(**values: object) -> str:
    pairs = {name: value for name, value in values.items() if value is not None}
    return f"?{urllib.parse.urlencode(pairs)}" if pairs else ""
