"""Responses and snapshots as a server sends them."""

import datetime
import json
import pathlib

from tideover.client import Response

ROOT = pathlib.Path(__file__).resolve().parents[3]
BEGIN = 1_778_371_200.0  # 2026-05-10T00:00:00Z


def _expectations():
    """The expectations of the core's tables, with the name of their case."""
    for file in sorted((ROOT / "Conformance").glob("*.json")):
        for case in json.loads(file.read_text())["cases"]:
            expect = case.get("expect", [])
            for one in expect if isinstance(expect, list) else [expect]:
                yield f"{file.name}: {case['name']}", one


def _sides():
    """The answers on both sides of a boundary, or the one at an instant."""
    for name, both in _expectations():
        at = both.get("at", both.get("edge"))
        for side in [both[side] for side in ("before", "from") if side in both] or [{}]:
            yield name, {**both, "at": at, **side}


def core_answers():
    """The answers that the core's tables require at an instant: what a client gets to read."""
    return ((name, answer) for name, answer in _sides() if "state" in answer)


def core_edges():
    """The boundaries of the core's tables, with the answer before each: it must end there."""
    for name, one in _expectations():
        before = one.get("before", {})
        if "edge" in one and "state" in before:
            access = before.get("access", before["state"] in ("active", "grace"))
            confidence = before.get("confidence", "confirmed")
            yield name, _full(one["edge"]), {"state": before["state"], "access": access,
                                             "confidence": confidence}


def core_prompts():
    """The prompts that the core's tables require."""
    for name, answer in _sides():
        if "prompt" in answer:
            prompt = answer["prompt"]
            if until := prompt.get("arguments", {}).get("until"):
                prompt = {**prompt, "arguments": {"until": _full(until)}}
            yield name, _full(answer["at"]), prompt


def _full(text):
    """The tables write midnight as a day."""
    return f"{text}T00:00:00Z" if len(text) == 10 else text


def iso(seconds):
    milliseconds = round(seconds * 1000)
    moment = datetime.datetime.fromtimestamp(milliseconds // 1000, datetime.timezone.utc)
    return moment.strftime(f"%Y-%m-%dT%H:%M:%S.{milliseconds % 1000:03}Z")


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
