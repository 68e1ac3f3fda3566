"""Tests the adapters with the installed frameworks, from Debian or PyPI."""

import base64
import hashlib
import hmac
import time
import unittest

from tideover import EntitlementCache, WebhookRefusal, verify_webhook

from .support import reply, snapshot
from .test_client import client

try:
    import fastapi
    from fastapi.testclient import TestClient
except ImportError:
    fastapi = None
try:
    import django
except ImportError:
    django = None

SECRET = "whsec_" + base64.b64encode(b"a secret for these tests").decode()
BODY = b'{"type":"entitlement_changed"}'
CASES = [({}, "deny", 200), ({"access": False}, "allow", 403),
         ({"access": False, "confidence": "unknown"}, "deny", 403),
         ({"access": False, "confidence": "unknown"}, "allow", 200), (None, "deny", 503),
         (None, "allow", 200)]


def signed(body, secret=b"a secret for these tests"):
    moment = str(int(time.time()))
    mac = hmac.digest(secret, f"msg_1.{moment}.".encode() + body, hashlib.sha256)
    return {"webhook-id": "msg_1", "webhook-timestamp": moment,
            "webhook-signature": "v1," + base64.b64encode(mac).decode()}


def cache(premium):
    def route(*_):
        if premium is None:
            raise OSError("away")
        return reply(200, snapshot(**premium))
    return EntitlementCache(client(route, attempts=1)[0])


class Keys(unittest.TestCase):
    def test_an_empty_secret_verifies_nothing_and_neither_does_one_that_is_not_base64(self):
        forged = signed(BODY, b"")
        for keys in ("", " ", [], [""], None, "whsec_", "whsec_A", "whpk_", "my secret"):
            with self.assertRaises(ValueError, msg=repr(keys)):
                verify_webhook(forged, BODY, keys)
        with self.assertRaises(WebhookRefusal):
            verify_webhook(forged, BODY, [SECRET, ""])

    def test_a_secret_from_a_file_and_an_empty_former_one_beside_it_verify(self):
        for keys in (SECRET + "\n", [SECRET, ""], ["", SECRET], [SECRET, None]):
            self.assertEqual(verify_webhook(signed(BODY), BODY, keys).id, "msg_1")


@unittest.skipUnless(fastapi, "FastAPI is not installed")
class FastAPI(unittest.TestCase):
    def test_only_entitled_customers_have_access(self):
        from tideover.fastapi import require_entitlement
        for premium, unknown, status in CASES:
            app = fastapi.FastAPI()
            needed = require_entitlement("premium", cache(premium), lambda: "anna", unknown=unknown)
            app.get("/export", dependencies=[fastapi.Depends(needed)])(lambda: "exported")
            answer = TestClient(app).get("/export")
            self.assertEqual(answer.status_code, status, (premium, unknown))
            if status == 503:
                self.assertEqual(answer.headers["retry-after"], "30")

    def test_a_request_without_a_customer_gets_401(self):
        from tideover.fastapi import require_entitlement
        for customer in (None, ""):
            app = fastapi.FastAPI()
            needed = require_entitlement("premium", cache({}), lambda it=customer: it, unknown="allow")
            app.get("/export", dependencies=[fastapi.Depends(needed)])(lambda: "exported")
            self.assertEqual(TestClient(app).get("/export").status_code, 401)

    def test_a_signed_message_is_handled_and_any_other_refused(self):
        from tideover import Webhook
        from tideover.fastapi import webhook
        app = fastapi.FastAPI()
        seen = []

        @app.post("/hooks", status_code=204)
        def receive(message: Webhook = fastapi.Depends(webhook(SECRET))):
            seen.append(message.payload["type"])

        browser = TestClient(app)
        self.assertEqual(browser.post("/hooks", content=BODY, headers=signed(BODY)).status_code, 204)
        self.assertEqual(browser.post("/hooks", content=b"{}", headers=signed(BODY)).status_code, 400)
        long = b" " * 1_100_000
        self.assertEqual(browser.post("/hooks", content=long, headers=signed(long)).status_code, 413)
        self.assertEqual(seen, ["entitlement_changed"])

        @app.post("/logged")
        async def log(request: fastapi.Request, _: Webhook = fastapi.Depends(webhook(SECRET))):
            return await request.json()

        answer = browser.post("/logged", content=BODY, headers=signed(BODY))
        self.assertEqual((answer.status_code, answer.content), (200, BODY))


@unittest.skipUnless(django, "Django is not installed")
class Django(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from django.conf import settings
        if not settings.configured:
            settings.configure(ALLOWED_HOSTS=["testserver"], DEFAULT_CHARSET="utf-8")
            django.setup()

    def test_only_entitled_customers_have_access(self):
        from django.http import HttpResponse
        from django.test import RequestFactory
        from tideover.django import require_entitlement
        for premium, unknown, status in [*CASES, ("signed out", "allow", 401)]:
            is_out = premium == "signed out"
            entitlements = cache({} if is_out else premium)

            @require_entitlement("premium", entitlements, lambda _: None if is_out else "anna",
                                 unknown=unknown)
            def export(request, name):
                return HttpResponse(name)

            answer = export(RequestFactory().get("/export"), "cards")
            self.assertEqual(answer.status_code, status, (premium, unknown))

    def test_a_signed_message_is_handled_and_any_other_refused(self):
        from django.test import RequestFactory
        from tideover.django import webhook
        seen = []
        view = webhook(SECRET)(lambda message: seen.append(message.payload["type"]))
        for body, status in ((BODY, 204), (b"{}", 400)):
            fields = {f"HTTP_{name.upper().replace('-', '_')}": value
                      for name, value in signed(BODY).items()}
            request = RequestFactory().post("/hooks", body, content_type="application/json", **fields)
            self.assertEqual(view(request).status_code, status)
        self.assertEqual(seen, ["entitlement_changed"])
        self.assertTrue(view.csrf_exempt)
