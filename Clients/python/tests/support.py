"""Responses and snapshots as a server sends them."""

import datetime
import json
import pathlib

from tideover.client import Response

ROOT = pathlib.Path(__file__).resolve().parents[3]
BEGIN = 1_778_371_200.0  # 2026-05-10T00:00:00Z


def core_answers():
    """The answers that the core's tables require at an instant: what a client gets to read."""
    for file in sorted((ROOT / "Conformance").glob("*.json")):
        for case in json.loads(file.read_text())["cases"]:
            expect = case.get("expect", [])
            for both in expect if isinstance(expect, list) else [expect]:
                sides = [both[side] for side in ("before", "from") if side in both] or [{}]
                for side in sides:
                    answer = {**both, **side}
                    if "state" in answer:
                        yield f"{file.name}: {case['name']}", answer


def iso(seconds):
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def snapshot(at=BEGIN, version=1, **premium):
    stated = {"state": "active", "reason": "paid", "access": True, "confidence": "confirmed",
              "nextChange": None, **premium}
    return {"app": "cards", "customer": "anna", "environment": "production", "asOf": iso(at),
            "customerVersion": version, "entitlements": {"premium": stated}, "prompt": {"kind": "none"}}


def reply(status, body=b"", **headers):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Response(status, {name.replace("_", "-"): value for name, value in headers.items()}, data)


def problem(status, name, **headers):
    return reply(status, {"type": f"/problems/{name}", "title": name, "status": status},
                 **headers)


class Server:
    """Responds with the result or the exception of `route`, and records every request."""

    def __init__(self, route):
        self.route = route
        self.requests = []

    def __call__(self, method, url, headers, body, timeout):
        self.requests.append((method, url, headers, json.loads(body) if body else None))
        return self.route(self.requests[-1], len(self.requests))


def table(name):
    return json.loads((ROOT / "Conformance" / "clients" / f"{name}.json").read_text("utf-8"))


def merged(target, patch):
    """Returns a value with a merge patch applied, RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result
