"""Tests the client with the conformance tables of the core and the TypeScript client."""

import base64
import unittest

from tideover import WebhookRefusal, answer_from, verify_webhook
from tideover.instants import instant
from tideover.passes import Expectation, PassRefusal, answer_of, believe, customer_id, verified_claims
from tideover.snapshots import prompt_in, stated_in

from .support import core_answers, core_edges, core_prompts, iso, merged, table

# The number of cases that the TypeScript client finds in the same files.
COUNTS = {"passes": 48, "signed-passes": 19, "webhooks": 25, "snapshots": 11,
          "prompts": 20}
DEFAULTS = {"issuer": "tideover", "audience": "cards", "customer": "anna", "environment": "production"}


class Conformance(unittest.TestCase):
    def each(self, name, check):
        """Runs `check` with every case of a table and with the rest of the table."""
        found = table(name)
        self.assertEqual(len(found["cases"]), COUNTS[name])
        for case in found["cases"]:
            with self.subTest(case["name"]):
                check(case, found)

    def test_passes(self):
        self.each("passes", self.check_pass)

    def check_pass(self, case, found):
        def claims(of):
            return merged(found["passes"][of["pass"]], of.get("patch", {}))

        expected = Expectation(**{**DEFAULTS, **case.get("expected", {})})
        now = max(instant(case["clock"]), instant(case.get("newestVerified")) or 0)
        held = None
        if "held" in case:
            of = claims(case["held"])
            held = believe(of, Expectation(**{**DEFAULTS, "customer": of["sub"]}), None, now)
        if "refused" in case:
            with self.assertRaises(PassRefusal) as refused:
                believe(claims(case), expected, held, now)
            self.assertEqual(refused.exception.code, case["refused"])
            return
        believed = believe(claims(case), expected, held, now)
        for name, answer in case["answers"].items():
            self.assertEqual(self.stated(answer_of(believed, name, now)), answer)

    def stated(self, answer):
        if answer.entitlement is None:
            return {"kind": answer.kind, "access": False, "confidence": "unknown"}
        confidence = answer.entitlement["confidence"]
        if answer.kind == "presumed" and confidence != "unknown":
            confidence = "presumed"
        return {"kind": answer.kind, "access": answer.entitlement["access"], "confidence": confidence}

    def test_signed_passes(self):
        def check(case, found):
            try:
                verified_claims(case["document"], found["keys"])
                verdict = "accepted"
            except PassRefusal as refused:
                verdict = refused.code
            self.assertEqual(verdict, case["verdict"])

        self.each("signed-passes", check)

    def test_a_header_that_nests_deeper_than_the_parser_goes_is_no_pass(self):
        header = base64.urlsafe_b64encode(b"[" * 40_000).rstrip(b"=").decode()
        with self.assertRaises(PassRefusal) as refused:
            verified_claims(f"{header}.e30.AA", [])
        self.assertEqual(refused.exception.code, "notAPass")

    def test_webhooks(self):
        def check(case, _):
            try:
                message = verify_webhook(case["headers"], case["body"], case["keys"], now=case["at"])
                verdict = "accepted"
                self.assertEqual(message.payload["type"], "entitlement_changed")
            except WebhookRefusal as refused:
                verdict = refused.code
            self.assertEqual(verdict, case["verdict"])

        self.each("webhooks", check)

    def test_snapshots(self):
        def check(case, _):
            answer = answer_from(case["entitlement"])
            self.assertEqual(answer.status, case["expect"]["status"])
            self.assertEqual(answer.is_presumed, case["expect"].get("isPresumed", False))

        self.each("snapshots", check)

    def test_prompts(self):
        def check(case, found):
            snapshot = merged(found["snapshots"][case["snapshot"]], case.get("patch", {}))
            at, as_of = instant(case["at"]), instant(case.get("heldAt", snapshot["asOf"]))
            prompt = prompt_in(snapshot, at, as_of=as_of)
            self.assertEqual(prompt and prompt["kind"], case["expect"]["prompt"])
            for name, access in case["expect"]["access"].items():
                stated = stated_in(snapshot, name, at, as_of=as_of)
                self.assertEqual(stated and stated["access"], access, name)

        self.each("prompts", check)

    def test_boundaries_of_the_core_end_what_a_snapshot_and_a_pass_state(self):
        edges = list(core_edges())
        self.assertGreater(len(edges), 900)
        for name, edge, before in edges:
            at = instant(edge)
            as_of, next_change, not_after = (iso(ms / 1000) for ms in (at - 3_600_000, at, at + 86_400_000))
            premium = {**before, "reason": "any", "nextChange": next_change, "accessUntil": next_change,
                       "notAfter": not_after}
            snapshot = {"entitlements": {"premium": premium}, "prompt": {"kind": "none"}}
            claims = {"iss": "tideover", "aud": "cards", "sub": "anna", "environment": "production",
                      "issued": as_of, "notAfter": not_after, "version": 1,
                      "entitlements": {"premium": premium}}

            def stated(now):
                return stated_in(snapshot, "premium", now, as_of=at - 3_600_000)

            def kind(now):
                return answer_of(believe(claims, Expectation(**DEFAULTS), None, now), "premium", now).kind

            with self.subTest(name):
                self.assertEqual(stated(at - 1)["access"], before["access"])
                self.assertIsNone(stated(at))
                self.assertEqual([kind(at - 1), kind(at), kind(at + 86_399_999)],
                                 ["stated", "presumed", "presumed"])

    def test_prompts_of_the_core_are_shown_until_their_time(self):
        prompts = list(core_prompts())
        self.assertGreater(len(prompts), 20)
        for name, at, prompt in prompts:
            about = {} if prompt["kind"] == "none" else {"entitlement": "premium"}
            snapshot = {"entitlements": {"premium": {"access": True}}, "prompt": {**about, **prompt}}
            with self.subTest(name):
                self.assertEqual(prompt_in(snapshot, instant(at), as_of=instant(at)), snapshot["prompt"])
                if until := instant(prompt.get("arguments", {}).get("until")):
                    self.assertIsNone(prompt_in(snapshot, until, as_of=until - 1))

    def test_answers_of_the_core(self):
        answers = list(core_answers())
        self.assertGreater(len(answers), 2000)
        issued, not_after = "2026-05-06T10:00:00Z", "2026-05-13T10:00:00Z"
        for name, answer in answers:
            state, confidence = answer["state"], answer.get("confidence", "confirmed")
            access = answer.get("access", state in ("active", "grace"))
            status = "granted" if access else "unknown" if confidence == "unknown" else "denied"
            with self.subTest(name):
                stated = {"state": state, "access": access, "confidence": confidence}
                self.assertEqual(answer_from(stated).status, status)
                claims = {"iss": "tideover", "aud": "cards", "sub": "anna", "environment": "production",
                          "issued": issued, "notAfter": not_after, "version": 1, "entitlements": {
                              "premium": {**stated, "access": None, "reason": "any", "notAfter": not_after}}}
                now = instant(issued)
                found = believe(claims, Expectation(**DEFAULTS), None, now)
                self.assertEqual(answer_of(found, "premium", now).entitlement["access"], access)

    def test_ids_compare_as_the_server_compares_them(self):
        upper = "7E3FB20B-4CDB-47CC-936D-99D65F608138"
        self.assertEqual(customer_id(upper), upper.lower())
        self.assertEqual(customer_id("Anna"), "Anna")
