"""Walks simulated SDK clients of RevenueCat through the life of a customer, against `tideover serve`.

Run by scripts/verify-revenuecat-sdk.sh. The clients for iOS and Android are written from a
description of the protocol and share no code with the server. The stores are those of `tideover
sandbox serve`, on their own clock. At each step `isActive`, as both SDKs compute it, is compared
with `access` of the server's own answer. The first difference ends the walk and prints both.
"""

import base64
import datetime
import hashlib
import hmac
import http.client
import http.server
import json
import pathlib
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import uuid

import revenuecat_union as union
from revenuecat_union import ANDROID, IOS
from served_stores import AUDIENCE, EMAIL, ServedStores

LOOPBACK, PATIENCE, LIMIT = "127.0.0.1", 120, 600  # seconds: of one answer, of the whole walk
BOUNDED = ["timeout", f"{LIMIT + 60}"]  # a server ends also if this program is killed
RETRIES = 5  # of a receipt after a 5xx, unless the store or the server is disturbed on purpose
STORE_BUDGET = 25  # seconds for a receipt while a store is silent; proxies often wait for 30
APPLE, GOOGLE = "/v1/apps/cards/notifications/app-store", "/v1/apps/cards/notifications/google-play"
CLOCK = "Tideover-Clock"
KEYS = {IOS: "appl_VerifyAbCdEf", ANDROID: "goog_VerifyGhIjKl"}
PACKAGE = "com.example.cards"
# By kind and platform: the id in the store, and the one in the catalogue.
PRODUCTS = {
    "pro": {IOS: "cards.pro.monthly", ANDROID: "cards_pro"},
    "coins": {IOS: "cards.coins", ANDROID: "coins_100"},
    "lifetime": {IOS: "cards.lifetime", ANDROID: "pro_lifetime"},
}
CATALOGUE = {
    "cards.pro.monthly": {"entitlements": ["premium"], "group": "pro", "period": "P1M", "grace": "P16D"},
    "cards_pro:monthly": {"entitlements": ["premium"], "group": "cards_pro", "period": "P1M", "grace": "P7D"},
    "cards.coins": {"entitlements": [], "kind": "consumable", "store": "appStore"},
    "coins_100": {"entitlements": [], "kind": "consumable", "store": "googlePlay"},
    "cards.lifetime": {"entitlements": ["archive"], "kind": "nonConsumable", "store": "appStore"},
    "pro_lifetime": {"entitlements": ["archive"], "kind": "nonConsumable", "store": "googlePlay"},
}
ENTITLEMENTS = ("premium", "archive")
OFFERING = {
    "description": "Standard", "packages": {
        "$rc_monthly": ["cards.pro.monthly", "cards_pro:monthly"],
        "$rc_lifetime": ["cards.lifetime", "pro_lifetime"],
    },
}
PRICES = {"price": "9.99 USD"}
STAGE = {
    "scenario": "Stores for the clients of RevenueCat's SDKs", "source": "scripts/verify_revenuecat_sdk.py",
    "app": {"id": "cards", "bundleId": PACKAGE, "appAppleId": 1_234_567_890},
    "products": {
        "cards.pro.monthly": {**CATALOGUE["cards.pro.monthly"], **PRICES},
        "cards.coins": {"kind": "consumable", "entitlements": [], **PRICES},
        "cards.lifetime": {"kind": "nonConsumable", "entitlements": ["archive"], **PRICES},
    },
    "googlePlay": {
        "packageName": PACKAGE,
        "subscriptions": {"cards_pro": {"entitlements": ["premium"], "basePlans": {
            "monthly": {"period": "P1M", "grace": "7 d", "hold": "30 d", **PRICES}}}},
        "products": {"coins_100": {"entitlements": [], "consumable": True, **PRICES},
                     "pro_lifetime": {"entitlements": ["archive"], **PRICES}},
    },
}
START = "2026-01-31T10:00:00Z"  # the last day of a month, so that billing days move
# Milliseconds from the end of access, at which both are compared.
OFFSETS = {"1 s before its end": -1000, "1 ms before its end": -1, "at its end": 0,
           "1 ms after its end": 1, "1 s after its end": 1000}
# The members that RevenueCat documents for each event of a purchase.
EVENT_MEMBERS = (
    "type", "id", "app_id", "event_timestamp_ms", "app_user_id", "original_app_user_id", "aliases",
    "subscriber_attributes", "product_id", "entitlement_ids", "period_type", "purchased_at_ms",
    "expiration_at_ms", "store", "environment", "is_family_share", "transaction_id",
    "original_transaction_id", "country_code", "currency", "price", "price_in_purchased_currency",
    "tax_percentage", "commission_percentage", "takehome_percentage", "offer_code",
    "presented_offering_id", "renewal_number")
TRANSFER_MEMBERS = ("type", "id", "app_id", "event_timestamp_ms", "store", "environment",
                    "transferred_from", "transferred_to")
SECRET, AUTHORIZATION = "whsec_" + base64.b64encode(bytes(range(32))).decode(), "Bearer of the back end"


class Difference(Exception):
    """What differs, and the values that show it."""

    def __init__(self, sentence, **values):
        super().__init__(sentence)
        self.values = values


def expect(sentence, holds, **values):
    """Raises a difference unless it holds."""
    Walk.checks += 1
    if not holds:
        raise Difference(sentence, **values)


def payload(jws):
    part = jws.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def readable(answer):
    """An answer as a value for the report."""
    try:
        body = json.loads(answer.body)
    except ValueError:
        body = answer.body.decode("latin-1")
    return {"status": answer.status, "headers": dict(answer.headers), "body": body}


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body


def exchange(port, method, target, headers, body=None):
    """One request, with headers and target as they are."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=PATIENCE)
    try:
        connection.putrequest(method, target, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        return Answer(response.status, dict(response.getheaders()), response.read())
    finally:
        connection.close()


# ------------------------------------------------------------------------------------------------
# The stores, what they send, and the server.


class Relay(http.server.ThreadingHTTPServer):
    """Passes the stores' messages on to the server, and keeps what a device would have read.

    While `holding`, messages wait, so that a receipt reaches the server first.
    """

    def __init__(self):
        super().__init__((LOOPBACK, 0), RelayHandler)
        self.holding, self.waiting, self.port = False, [], None
        self.lock = threading.Lock()
        self.transactions, self.tokens = queue.Queue(), queue.Queue()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def message(self, path, headers, body):
        """The status for the store."""
        self.keep(path, json.loads(body))
        with self.lock:
            if self.holding:
                self.waiting.append((path, headers, body))
                return 200
        return self.forward(path, headers, body)

    def keep(self, path, body):
        if path == APPLE:
            data = payload(body["signedPayload"]).get("data", {})
            if "signedTransactionInfo" in data:
                self.transactions.put(data["signedTransactionInfo"])
        else:
            content = json.loads(base64.b64decode(body["message"]["data"]))
            for kind in ("subscriptionNotification", "oneTimeProductNotification"):
                if kind in content:
                    self.tokens.put(content[kind]["purchaseToken"])

    def forward(self, path, headers, body):
        try:
            return exchange(self.port, "POST", path, headers, body).status
        except (OSError, http.client.HTTPException):
            return 503

    def release(self):
        """Passes on what waits, in order."""
        with self.lock:
            waiting, self.waiting, self.holding = self.waiting, [], False
        for path, headers, body in waiting:
            status = self.forward(path, headers, body)
            expect(f"a message to {path} is accepted", 200 <= status < 300, status=status)

    def newest(self, platform):
        """The newest signed transaction or purchase token that a store sent."""
        inbox, found = self.transactions if platform == IOS else self.tokens, None
        while not inbox.empty():
            found = inbox.get_nowait()
        expect(f"{platform}: the store reported a purchase", found)
        return found


class RelayHandler(http.server.BaseHTTPRequestHandler):
    timeout = PATIENCE

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        left_out = ("host", "content-length", "connection", "expect")
        headers = {name: value for name, value in self.headers.items() if name.lower() not in left_out}
        self.send_response(self.server.message(self.path, headers, body))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class BackEnd(http.server.ThreadingHTTPServer):
    """Receives the server's webhooks, and checks their headers as receivers of RevenueCat do."""

    daemon_threads = True

    def __init__(self):
        super().__init__((LOOPBACK, 0), BackEndHandler)
        self.events, self.faults = [], []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def take(self, headers, body):
        parts = headers.get("X-RevenueCat-Webhook-Signature", "").split(",")
        fields = dict(part.split("=", 1) for part in parts if "=" in part)
        signed = fields.get("t", "").encode() + b"." + body
        right = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
        if headers.get("Authorization") != AUTHORIZATION or fields.get("v1") != right:
            self.faults.append(dict(headers))
        self.events.append(json.loads(body)["event"])

    def types(self, store):
        """The types of a store's events; those of cancellations with their reason."""
        return {" ".join(filter(None, (one["type"], one.get("cancel_reason"))))
                for one in list(self.events) if one.get("store") == store}


class BackEndHandler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.take(self.headers, self.rfile.read(int(self.headers.get("Content-Length", 0))))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Stores(ServedStores):
    """The served stores with a clock that stops between steps."""

    def __init__(self, program, accounts):
        super().__init__(program, {**STAGE, "customers": accounts}, days=0)
        self.stage["start"] = START
        self.relay = self.back_end = Relay()

    def __enter__(self):
        self.place = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.place.name)
        self.folder = folder / "authority"
        (folder / "store.json").write_text(json.dumps(self.stage))
        self.process = subprocess.Popen(
            [*BOUNDED, self.program, "sandbox", "serve", folder / "store.json", "--listen", f"{LOOPBACK}:0",
             "--target", f"http://{LOOPBACK}:{self.relay.server_port}", "--authority", self.folder,
             "--push-audience", AUDIENCE, "--push-email", EMAIL],
            stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self.listen, daemon=True).start()
        try:
            self.url = self.told(r"the simulated stores listen on (\S+)")[0]
            self.soon("the stores answer", lambda: self.answers("/customers"))
        except BaseException:
            self.__exit__()
            raise
        return self

    def now(self):
        return json.loads(self.get("/clock"))["now"]


class Server:
    """`tideover serve` in the stores' folder, on their clock."""

    def __init__(self, program, stores, back_end):
        self.program, self.stores, self.process = program, stores, None
        self.back_end = back_end
        self.folder = pathlib.Path(stores.place.name)
        self.configure({})
        self.add_key()

    def configure(self, policy):
        products = {name: {"price": "9.99 USD", **one} for name, one in CATALOGUE.items()}
        authority = self.stores.folder
        app = {
            "id": "cards", "environments": ["simulated"], "products": products, "policy": policy,
            "appStore": {
                "bundleId": PACKAGE, "appAppleId": 1_234_567_890, "keyId": "REHEARSAL1",
                "issuerId": "57246542-96fe-1a63-e053-0824d011072a",
                "privateKeyFile": str(authority / "AuthKey_REHEARSAL1.p8")},
            "googlePlay": {
                "packageName": PACKAGE, "push": {"audience": AUDIENCE, "email": EMAIL},
                "serviceAccountFile": str(authority / "service-account.json")},
            "simulatedStore": {"url": self.stores.url, "root": str(authority / "root.der")},
            "revenueCat": {"sdk": {
                "appStoreKeys": [KEYS[IOS]], "googlePlayKeys": [KEYS[ANDROID]],
                "currentOffering": "default", "offerings": {"default": OFFERING},
                "promotionalOffers": ["winback50"]}},
        }
        for name, text in (("whsec.txt", SECRET), ("authorization.txt", AUTHORIZATION)):
            path = self.folder / name
            path.write_text(text + "\n")
            path.chmod(0o600)
        webhook = {
            "id": "back-end", "url": f"http://{LOOPBACK}:{self.back_end.server_port}/rc",
            "format": "revenuecat", "secretFile": "whsec.txt", "authorizationFile": "authorization.txt",
            "allowNetworks": ["127.0.0.0/8"]}
        configuration = {
            "server": {"listen": f"{LOOPBACK}:0"}, "storage": "sqlite:tideover.db", "apps": [app],
            "webhooks": [webhook]}
        self.file = self.folder / "tideover.json"
        self.file.write_text(json.dumps(configuration))

    def add_key(self):
        made = subprocess.run(
            [self.program, "keys", "add", "--kind", "secret", "--app", "cards", "--config", self.file],
            capture_output=True, text=True, timeout=PATIENCE, check=False)
        if made.returncode:
            raise RuntimeError(f"no key was created:\n{made.stderr}")
        self.key = made.stdout.strip()

    def restart(self, policy):
        """Starts again with a policy."""
        self.stop()
        self.configure(policy)
        self.start()

    def start(self):
        self.log, self.port, ready = [], None, threading.Event()
        self.process = subprocess.Popen(
            [*BOUNDED, self.program, "serve", "--config", self.file, "--clock", f"{self.stores.url}/clock"],
            stderr=subprocess.PIPE, text=True)

        def read():
            for line in self.process.stderr:
                self.log.append(line)
                found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
                if found and '"listening"' in line:
                    self.port = self.stores.relay.port = int(found[1])
                    ready.set()
            ready.set()

        threading.Thread(target=read, daemon=True).start()
        ready.wait(PATIENCE)
        if not self.port:
            self.stop()
            raise RuntimeError("the server did not start:\n" + "".join(self.log[-20:]))
        return self

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def snapshot(self, customer, now):
        """The server's own answer for a customer."""
        path = f"/v1/apps/cards/customers/{urllib.parse.quote(customer, safe='')}?environment=simulated"
        answer = exchange(self.port, "GET", path, {"Authorization": f"Bearer {self.key}", CLOCK: now})
        expect("the snapshot route answers", answer.status == 200, answer=readable(answer))
        return json.loads(answer.body)


def written(instant):
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def access(snapshot, entitlement):
    return snapshot["entitlements"].get(entitlement, {}).get("access", False)


# ------------------------------------------------------------------------------------------------
# The clients.


class Device:
    """An app with RevenueCat's SDK: its user id, its caches, and purchases that it has to post."""

    def __init__(self, walk, platform, account, verifies=False):
        """`verifies` is the default of native apps: answers without a signature are used and not stored."""
        self.walk, self.platform, self.account, self.verifies = walk, platform, account, verifies
        self.user, self.stored, self.info, self.mapping = anonymous(), {}, None, None
        self.queue, self.finished = [], []

    def headers(self, method, tag):
        """The header fields of a request, with `tag` on those that can be answered by 304."""
        ios = self.platform == IOS
        fields = {
            "Content-Type": "application/json",
            "Authorization": f"Bearer {KEYS[self.platform]}", "X-Platform": "iOS" if ios else "android",
            "X-Version": "5.86.0" if ios else "10.17.0", "X-Platform-Flavor": "native",
            "X-Platform-Version": "Version 19.1 (Build 23B74)" if ios else "35",
            "X-Client-Bundle-ID": PACKAGE, "X-Client-Version": "3.2.0",
            "X-Observer-Mode-Enabled": "false", "X-Storefront": "NLD" if ios else "NL",
            "X-Unknown-Field": "of a later SDK", CLOCK: self.walk.now, "X-RevenueCat-ETag": tag,
        }
        if self.verifies:
            fields["X-Nonce"] = base64.b64encode(uuid.uuid4().bytes[:12]).decode()
        if ios:
            fields |= {"X-Is-Sandbox": "false", "X-StoreKit2-Enabled": "true", "X-StoreKit-Version": "2",
                       "X-Retry-Count": "0"}
        elif method == "POST":
            # Header fields with an underscore and with bytes outside of ASCII, in both encodings.
            text = "4,99\u00a0\u20ac" if len(self.finished) % 2 else "4,99\u00a0\u00a3"
            fields["price_string"] = text.encode("utf-8" if len(self.finished) % 2 else "latin-1")
            fields["marketplace"] = "NL"
        return fields

    def path(self, rest=""):
        return f"/v1/subscribers/{self.segment(self.user)}{rest}"

    def segment(self, user):
        # iOS leaves the characters of a host name as they are, Android those of java.net.
        return urllib.parse.quote(user, safe="!$&'()*+,;=" if self.platform == IOS else "!'()*")

    def send(self, method, path, body=None, tag=""):
        """An answer; that of the proxy in front, if the server is down."""
        data = None if body is None else json.dumps(body).encode()
        try:
            answer = exchange(self.walk.server.port, method, path, self.headers(method, tag), data)
        except ConnectionRefusedError:
            return Answer(503, {"Content-Type": "application/json"}, b'{"code":7110,"message":"Down."}')
        verdict = union.Verdict()
        union.check_headers(verdict, answer.status, answer.headers, method, tag)
        self.accept(f"{method} {path}: the header fields are right", verdict, answer)
        if answer.status >= 400:
            receipt = path == "/v1/receipts"
            verdict = union.check_error(answer.status, answer.headers, answer.body, receipt)
            self.accept(f"{method} {path}: the error is readable", verdict, answer)
        return answer

    def accept(self, sentence, verdict, answer):
        expect(f"{self.platform}: {sentence}: {'; '.join(verdict.refusals)}" if verdict.refused else sentence,
               not verdict.refused, answer=readable(answer))

    def dated(self):
        """Whether the last answer is of the instant that the request named."""
        at = union.lower(self.info[1]).get("x-revenuecat-request-time", "")
        return at == str(round(self.device_time().timestamp() * 1000))

    def device_time(self):
        return union.date(self.walk.now)

    # Customer info

    def read(self):
        """Asks for customer info as at a start of the app: by 304, anew, or from the cache."""
        path = self.path()
        tag, kept = self.stored.get(path, ("", None))
        answer = self.send("GET", path, tag=tag)
        self.status = answer.status
        if answer.status >= 500:
            return self.cached()
        if answer.status == 304:
            expect("a 304 is only sent for a tag", tag, answer=readable(answer))
            repeated = union.lower(answer.headers)["x-revenuecat-etag"]
            expect("a 304 repeats the tag, with an empty body", repeated == tag and not answer.body,
                   sent=tag, answer=readable(answer))
            return self.take(kept.body, {**kept.headers, **answer.headers}, stored=True)
        expect(f"{self.platform}: customer info is answered", answer.status in (200, 201),
               answer=readable(answer))
        if self.walk.wrong:
            answer.body = without_grace(answer.body)
        new = union.lower(answer.headers).get("x-revenuecat-etag")
        if new and not self.verifies:
            self.stored[path] = (new, answer)
        return self.take(answer.body, answer.headers)

    def take(self, body, headers, stored=False):
        self.info = (body, headers, stored)
        verdict = self.cached()
        self.accept("customer info is accepted by both decoders", verdict, Answer(200, headers, body))
        if not stored:  # iOS reads the date in the body after a failed verification, else the header's
            other = self.judged(not self.verifies)
            same = all(other.active(name) == verdict.active(name) for name in ENTITLEMENTS)
            expect("the date in the body has the same effect", same, body=json.loads(body))
        if self.verifies:
            expect("no answer is signed", "x-signature" not in union.lower(headers), headers=headers)
        return verdict

    def judged(self, verification_failed):
        """What both SDKs conclude from the last answer, by the device's clock."""
        body, headers, stored = self.info
        return union.check_customer(body, headers, now=self.device_time(), catalogue=CATALOGUE, stored=stored,
                                    verification_failed=verification_failed)

    def cached(self):
        """Customer info from the cache, by the device's clock; offline entitlements without one."""
        return self.judged(self.verifies) if self.info else None

    def offline(self, products):
        """The entitlements that the SDK computes from the store's own purchases after a 5xx."""
        found = set()
        for product in products:
            if self.platform == ANDROID:
                one = self.mapping.get(product)
            else:
                keys = {item["product_identifier"]: item for item in self.mapping.values()}
                one = keys.get(product)
            found |= set(one["entitlements"] if one else ())
        return found

    # Purchases

    def post(self, product, evidence, source="purchase", user=None):
        """Posts a receipt. Returns whether the SDK finishes the purchase, and the answer."""
        product_id = PRODUCTS[product][self.platform]
        body = {
            "app_user_id": user or self.user, "fetch_token": evidence, "is_restore": source == "restore",
            "observer_mode": False, "purchase_completed_by": "revenuecat", "initiation_source": source,
            "sdk_originated": True, "payload_version": 1, "currency": "USD", "member_of_a_later_sdk": {},
            "attributes": {"$email": {"value": "a@example.org", "updated_at_ms": 1_767_225_600_000}},
        }
        if self.platform == IOS:
            transaction = payload(evidence)["transactionId"] if evidence.count(".") == 2 else "1"
            body |= {"product_id": product_id, "price": "9.99", "store_country": "USA",
                     "transaction_id": transaction, "normal_duration": "P1M"}
        else:
            plan = {"base_plan_id": "monthly"} if product == "pro" else {}
            body |= {"product_ids": [product_id], "price": 9.99,
                     "platform_product_ids": [{"product_id": product_id, **plan}]}
        answer = self.send("POST", "/v1/receipts", body)
        for _ in range(RETRIES):
            if answer.status < 500 or self.walk.disturbed:
                break
            Walk.repeated += 1  # on a busy machine the store may answer too late
            time.sleep(2)
            answer = self.send("POST", "/v1/receipts", body)
        if answer.status < 300:
            verdict = union.check_receipt(answer.status, answer.headers, answer.body, body, self.platform,
                                          catalogue=CATALOGUE, now=self.device_time())
            self.accept("the receipt's answer is accepted by both decoders", verdict, answer)
            self.take(answer.body, answer.headers)
            self.verdict = verdict
        final = answer.status < 500
        if final:
            self.finished.append(evidence)
        elif evidence not in [kept for _, kept in self.queue]:
            self.queue.append((product, evidence))
        return final, answer

    def resend(self):
        """Posts the purchases that were kept, as at the next start of the app."""
        kept, self.queue = self.queue, []
        return [self.post(product, evidence, "queue" if self.platform == IOS else "unsynced_active_purchases")
                for product, evidence in kept]

    # Identity

    def log_in(self, user):
        """Returns whether the id is new."""
        body = {"app_user_id": self.user, "new_app_user_id": user}
        answer = self.send("POST", "/v1/subscribers/identify", body)
        expect(f"{self.platform}: a log-in is answered", answer.status in (200, 201), answer=readable(answer))
        self.user, self.info = user, None
        self.take(answer.body, answer.headers)
        return answer.status == 201

    def log_out(self):
        self.user, self.info = anonymous(), None


def anonymous():
    return f"$RCAnonymousID:{uuid.uuid4().hex}"


def account_of(device):
    """The account of a purchase in its store: none on iOS, the digest of the user id on Android."""
    digest = hashlib.sha256(device.user.encode()).hexdigest()
    return ({"store": "appStore", "appAccountToken": None} if device.platform == IOS
            else {"store": "googlePlay", "appAccountToken": digest})


# ------------------------------------------------------------------------------------------------
# The walk.


class Walk:
    checks = steps = repeated = 0

    def __init__(self, program, wrong=False):
        """`wrong` plants a fault into the answers, which the walk must find."""
        self.program, self.wrong, self.disturbed = program, wrong, False
        self.main, self.ending, self.buyers, self.rivals, self.moved, self.late, self.lost = (
            [Device(self, IOS, f"{name}-apple"), Device(self, ANDROID, f"{name}-google")]
            for name in ("main", "ending", "buyer", "rival", "moved", "late", "lost"))
        self.away, self.givers = (
            [Device(self, IOS, f"{name}-apple"), Device(self, ANDROID, f"{name}-google")]
            for name in ("away", "giver"))
        self.native = [Device(self, IOS, "native-apple", True), Device(self, ANDROID, "native-google", True)]
        self.devices = (self.main + self.ending + self.buyers + self.rivals + self.moved + self.late
                        + self.lost + self.away + self.givers + self.native)

    def run(self):
        accounts = {device.account: account_of(device) for device in self.devices}
        with Stores(self.program, accounts) as self.stores:
            self.back_end = BackEnd()
            with Server(self.program, self.stores, self.back_end) as self.server:
                self.tick()
                for part in (self.configure, self.errors, self.buy, self.unchanged, self.renew, self.grace,
                             self.hold, self.identity, self.restore, self.boundaries, self.outage,
                             self.refund, self.one_time, self.ids, self.crowd, self.log_in_first,
                             self.messages_first, self.new_installation, self.silence,
                             self.nothing, self.offers, self.sizes, self.days_offline,
                             self.unsigned, self.transfer, self.webhooks):
                    print(f"{part.__doc__}", flush=True)
                    part()

    def tick(self):
        self.now = self.stores.now()

    def act(self, action, devices, **words):
        """An action of the customers of these devices, each in its own store."""
        for device in devices:
            own = {name: value[device.platform] if isinstance(value, dict) else value
                   for name, value in words.items()}
            own = {name: value for name, value in own.items() if value is not None}
            self.stores.step(action, customer=device.account, **own)
        self.tick()

    def advance(self, **words):
        self.stores.step("advance", **words)
        self.tick()

    def compare(self, sentence, devices, access_to_premium=None, entitlement="premium", within=0):
        """Compares both SDKs' conclusions with the server's own answer, for each device.

        `within` allows that the clients keep access so many seconds longer, for rounded ends.
        """
        for device in devices:
            self.compare_one(sentence, device, access_to_premium, entitlement, within)

    def compare_one(self, sentence, device, wanted, entitlement, within):
        end = time.monotonic() + PATIENCE
        late = time.monotonic() + 1
        while True:
            before = self.server.snapshot(device.user, self.now)
            verdict = device.read()
            after = self.server.snapshot(device.user, self.now)
            stable = device.dated() and all(
                access(before, name) == access(after, name) for name in ENTITLEMENTS)
            reached = wanted is None or access(after, entitlement) == wanted
            if (stable and reached) or time.monotonic() > end:
                break
            Walk.repeated += 1
            time.sleep(0.2)  # the server is still asking the store, or has just read its clock
            if not device.dated() and time.monotonic() > late and self.now == self.stores.now():
                # A store's answer to the server was signed some milliseconds ahead.
                self.advance(by="1 s")
                late = time.monotonic() + 1
        values = {"snapshot": after, "info": json.loads(device.info[0]), "headers": device.info[1]}
        for name in ENTITLEMENTS:
            mine, theirs = access(after, name), verdict.active(name)
            longer = within and not mine and all(theirs)
            expect(f"{sentence}: {device.platform}: isActive of {name} is {theirs[0]} on iOS and {theirs[1]} "
                   f"on Android, access is {mine}", theirs == (mine, mine) or longer, **values)
        expect(f"{sentence}: {device.platform}: access to {entitlement} is {access(after, entitlement)}",
               reached, **values)
        self.consistent(sentence, device, verdict, after, values)
        Walk.steps += 1
        found = verdict.conclusions[device.platform]
        one = found["entitlements"].get(entitlement, {})
        print(f"  {self.now}  {device.platform:7}  {sentence:34}  "
              f"access {str(access(after, entitlement)):5}  isActive {str(verdict.active(entitlement)[0]):5} "
              f"{str(verdict.active(entitlement)[1]):5}  "
              f"willRenew {str(one.get('willRenew')):5}  until {one.get('expirationDate')}  {device.status}",
              flush=True)
        return verdict

    def consistent(self, sentence, device, verdict, snapshot, values):
        """Active subscriptions agree with the entitlements that they unlock."""
        premium = snapshot["entitlements"].get("premium", {})
        for found in verdict.conclusions.values():
            one = found["entitlements"].get("premium")
            if one and one["product"] in found["subscriptionInfos"]:
                info = found["subscriptionInfos"][one["product"]]
                expect(f"{sentence}: {device.platform}: the subscription is active as its entitlement is",
                       info["isActive"] == one["isActive"], **values)
            if premium.get("state") == "grace":
                expect(f"{sentence}: {device.platform}: a subscription in grace does not renew",
                       one and not one["willRenew"], **values)

    def purchase(self, device, product):
        """Buys in the store, and holds the store's messages until the receipt was posted."""
        self.stores.relay.holding = True
        plan = {"plan": "monthly"} if product == "pro" and device.platform == ANDROID else {}
        if device.platform == ANDROID:
            plan["acknowledged"] = False
        self.stores.step("buy", customer=device.account, product=PRODUCTS[product][device.platform],
                         **plan)
        self.tick()
        return self.stores.relay.newest(device.platform)

    # The parts, in the order of the customers' lives.

    def configure(self):
        """a new installation"""
        for device in self.main:
            answer = device.send("POST", "/v1/config/app", {
                "fetch_context": "app_start", "app_user_id": device.user, "prefetched_blobs": []})
            expect("remote configuration is switched off by a 4xx", 400 <= answer.status < 500,
                   answer=readable(answer))
            self.offerings(device)
            answer = device.send("GET", "/v1/product_entitlement_mapping")
            device.accept("the mapping is readable", union.check_mapping(answer.body), answer)
            device.mapping = json.loads(answer.body)["product_entitlement_mapping"]
            answer = device.send("POST", device.path("/attributes"), {
                "attributes": {"$email": {"value": "a@example.org", "updated_at_ms": 1_767_225_600_000}}})
            expect("attributes are accepted", answer.status == 200, answer=readable(answer))
            expect("devices read no attributes",
                   b"a@example.org" not in device.send("GET", device.path()).body)
            answer = exchange(self.server.port, "GET", device.path(), {
                "Authorization": f"Bearer {self.server.key}", CLOCK: self.now})
            subscriber = json.loads(answer.body).get("subscriber", {})
            stated = subscriber.get("subscriber_attributes", {}).get("$email", {})
            expect("the back end reads attributes", stated.get("value") == "a@example.org",
                   answer=readable(answer))
            answer = device.send("GET", device.path("/virtual_currencies"))
            expect("there is no virtual currency", json.loads(answer.body) == {"virtual_currencies": {}},
                   answer=readable(answer))
        for path in ("/v1/events", "/v1/diagnostics"):
            answer = self.main[0].send("POST", path, {"events": []})
            expect(f"{path} is accepted", answer.status == 200, answer=readable(answer))
        answer = self.main[0].send("GET", "/v1/health")
        expect("the health check answers", answer.status == 200, answer=readable(answer))
        self.compare("a new anonymous customer", self.main, False)

    def offerings(self, device):
        answer = device.send("GET", device.path("/offerings"))
        device.accept("offerings are readable", union.check_offerings(answer.body), answer)
        value = json.loads(answer.body)
        packages = {one["identifier"]: one for one in value["offerings"][0]["packages"]}
        product = PRODUCTS["pro"][device.platform]
        monthly, lifetime = packages["$rc_monthly"], packages["$rc_lifetime"]
        plan = None if device.platform == IOS else "monthly"
        expect(f"{device.platform}: an offering lists the products of its store",
               value["current_offering_id"] == "default"
               and monthly["platform_product_identifier"] == product
               and monthly.get("platform_product_plan_identifier") == plan
               and "platform_product_plan_identifier" not in lifetime, answer=readable(answer))

    def errors(self):
        """requests that are rejected"""
        for device in self.main:
            answer = device.send("GET", "/v1/no/such/path")
            expect("an unknown path is 404", answer.status == 404, answer=readable(answer))
            answer = device.send("PUT", device.path())
            expect("another method is rejected", 400 <= answer.status < 500, answer=readable(answer))
            kept, KEYS[device.platform] = KEYS[device.platform], "appl_unknown"
            answer = device.send("GET", device.path())
            KEYS[device.platform] = kept
            expect("an unknown key is 401 with code 7225", (answer.status, code(answer)) == (401, 7225),
                   answer=readable(answer))
            final, answer = device.post("pro", "not-a-receipt")
            expect(f"{device.platform}: a forged receipt is 400 with code 7103",
                   final and (answer.status, code(answer)) == (400, 7103), answer=readable(answer))
            answer = device.send("POST", "/v1/receipts", {"app_user_id": device.user, "is_restore": True})
            expect(f"{device.platform}: a receipt without evidence is 400 with code 7103",
                   (answer.status, code(answer)) == (400, 7103), answer=readable(answer))
            answer = device.send("POST", "/v1/offers", {
                "app_user_id": device.user, "fetch_token": "x", "generate_offers": []})
            expect("a request for no offers is 400", (answer.status, code(answer)) == (400, 7226),
                   answer=readable(answer))
            answer = device.send("POST", "/v1/subscribers/redeem_purchase", {
                "app_user_id": device.user, "redemption_token": "abc"})
            expect("a redemption token is 400 with code 7849", (answer.status, code(answer)) == (400, 7849),
                   answer=readable(answer))

    def buy(self):
        """a purchase: the receipt arrives before the store's message"""
        for device in self.main:
            evidence = self.purchase(device, "pro")
            forged = tampered(evidence)
            final, answer = device.post("pro", forged)
            expect(f"{device.platform}: changed evidence is 400 with code 7103",
                   (answer.status, code(answer)) == (400, 7103), answer=readable(answer))
            final, answer = device.post("pro", evidence)
            expect(f"{device.platform}: the receipt is accepted", answer.status == 200 and final,
                   answer=readable(answer))
            expect(f"{device.platform}: the answer has the purchase",
                   device.verdict.active("premium") == (True, True), answer=readable(answer))
            before = json.loads(answer.body)["subscriber"]
            _, answer = device.post("pro", evidence)
            after = json.loads(answer.body)["subscriber"]
            expect(f"{device.platform}: the same receipt has the same answer",
                   {**before, "last_seen": 0} == {**after, "last_seen": 0}, first=before, second=after)
            self.compare("bought, the receipt alone", [device], True)
            if device.platform == ANDROID:
                self.act("acknowledge", [device])
            self.stores.relay.release()
            device.evidence = evidence
        self.compare("bought, and the store's message", self.main, True)

    def unchanged(self):
        """a tag while only time passes"""
        self.compare("asked again", self.main, True)
        self.advance(by="1 h")
        for device in self.main:
            self.compare("an hour later", [device], True)
            expect(f"{device.platform}: the tag is unchanged while only time passes", device.status == 304,
                   status=device.status)
            for tag in ("", "0000000000000000"):
                answer = device.send("GET", device.path(), tag=tag)
                expect("no 304 for an empty or another tag", answer.status == 200, answer=readable(answer))

    def renew(self):
        """renewals"""
        self.advance(by="26 d")
        self.compare("before the renewal", self.main, True)
        for _ in range(2):
            for device in self.main:
                before = device.stored[device.path()][0]
                device.tag_before = before
            self.advance(by="31 d")
            ios = self.main[0]
            renewed = self.stores.relay.newest(IOS)
            final, answer = ios.post("pro", renewed, "queue")
            expect("iOS: a renewal that the device posts is accepted", final and answer.status == 200,
                   answer=readable(answer))
            self.compare("renewed", self.main, True)
            for device in self.main:
                expect(f"{device.platform}: the tag changes with the end of access",
                       device.stored[device.path()][0] != device.tag_before, tag=device.tag_before)

    def until(self, state, device, limit):
        """Advances time by days until the server reports a state."""
        for _ in range(limit):
            found = self.server.snapshot(device.user, self.now)["entitlements"].get("premium", {})
            if found.get("state") == state:
                return
            self.advance(by="1 d")
        raise Difference(f"{device.platform}: {state} is not reached in {limit} days",
                         snapshot=self.server.snapshot(device.user, self.now))

    def grace(self):
        """a failed payment with grace"""
        self.act("failPayments", self.main)
        for device in self.main:
            self.until("grace", device, 40)
            self.compare("in grace", [device], True)
        self.advance(by="2 d")
        self.compare("in grace, 2 days later", self.main, True)
        self.act("fixPayments", self.main)
        self.compare("recovered in grace", self.main, True)

    def hold(self):
        """a failed payment until access ends"""
        self.act("failPayments", self.main)
        for device in self.main:
            self.until("grace", device, 40)
            self.compare("in grace again", [device], True)
        ios, android = self.main
        for device in (android, ios):  # the grace of Google Play is shorter
            if device is android:
                self.past_grace(device)
            else:
                self.around("graceUntil", [device])
            self.until("hold", device, 40)
            self.compare("on hold", [device], False)
        self.act("fixPayments", self.main)
        self.compare("recovered on hold", self.main, True)

    def identity(self):
        """log in and log out"""
        for device in self.main:
            user, before = f"u_{device.platform}", device.user
            expect(f"{device.platform}: the id of a log-in is new", device.log_in(user))
            expect(f"{device.platform}: the answer has the purchase of the anonymous id",
                   device.cached().active("premium") == (True, True), info=json.loads(device.info[0]))
            self.compare("logged in", [device], True)
            first = json.loads(device.info[0])["subscriber"]["original_app_user_id"]
            expect(f"{device.platform}: original_app_user_id is an id of the customer",
                   first in (before, user), found=first)
            device.log_out()
            self.compare("logged out", [device], False)
            expect(f"{device.platform}: the id of a second log-in is known", not device.log_in(user))
            self.compare("logged in again", [device], True)
            device.log_in(f"third_{device.platform}")
            self.compare("logged in as a third", [device], False)
            answer = device.send("POST", "/v1/subscribers/identify", {
                "app_user_id": device.user, "new_app_user_id": ""})
            expect(f"{device.platform}: an empty id is rejected", answer.status == 400,
                   answer=readable(answer))
            device.log_in(user)
            self.compare("logged in once more", [device], True)

    def restore(self):
        """a restore: by the owner on a new device, and by another customer"""
        for device in self.main:
            owner, evidence = device.user, device.evidence
            final, answer = device.post("pro", evidence, "restore")
            expect(f"{device.platform}: the owner restores", final and answer.status == 200,
                   answer=readable(answer))
            self.compare("restored", [device], True)
            device.log_out()
            self.compare("another customer", [device], False)
            device.log_in(f"other_{device.platform}")
            final, answer = device.post("pro", evidence, "restore")
            expect(f"{device.platform}: another customer's purchase is a 4xx with code 7102",
                   final and 400 <= answer.status < 500 and code(answer) == 7102, answer=readable(answer))
            self.compare("restored by another customer", [device], False)
            device.log_in(owner)
            self.compare("the owner again", [device], True)

    def boundaries(self):
        """the last second of access"""
        for device in self.ending:
            evidence = self.purchase(device, "pro")
            final, answer = device.post("pro", evidence)
            expect(f"{device.platform}: the receipt is accepted", final and answer.status == 200,
                   answer=readable(answer))
            if device.platform == ANDROID:
                self.act("acknowledge", [device])
            self.stores.relay.release()
        self.act("cancel", self.ending)
        self.compare("renewal is off", self.ending, True)
        for device in self.ending:
            found = device.cached().conclusions[device.platform]["entitlements"]["premium"]
            expect(f"{device.platform}: a cancelled subscription does not renew", not found["willRenew"],
                   info=json.loads(device.info[0]))
        self.around("accessUntil", self.ending)
        self.compare("a minute later", self.ending, False)

    def around(self, member, devices):
        """Compares at the last instants of access, which a member of the server's answer states.

        Requests name the instant. The stores wait before it, and send nothing yet.
        """
        ends = []
        for device in devices:
            stated = self.server.snapshot(device.user, self.now)["entitlements"]["premium"]
            ends.append((union.date(stated[member]), device))
        self.advance(to=written(min(end for end, _ in ends) - datetime.timedelta(seconds=10)))
        for end, device in sorted(ends, key=lambda pair: pair[0]):
            for name, offset in OFFSETS.items():
                self.now = written(end + datetime.timedelta(milliseconds=offset))
                self.compare(name, [device], offset < 0, within=1 if 0 <= offset < 1000 else 0)
        self.advance(by="1 min")

    def past_grace(self, device):
        """Compares at the end of grace on Google Play, which is presumed for a day past the expiry.

        First the server must have read the expiry that the store moved to that end. An older one
        would end the presumption there, until the server's question is answered.
        """
        end = self.premium(device)["graceUntil"]
        self.advance(to=written(union.date(end) - datetime.timedelta(seconds=10)))
        limit = time.monotonic() + PATIENCE
        while self.premium(device)["accessUntil"] != end or self.premium(device)["rule"] != "in-grace":
            if time.monotonic() > limit:
                raise Difference("Android: the server does not read the last expiry of grace",
                                 snapshot=self.premium(device))
            time.sleep(0.2)
        for name, offset in OFFSETS.items():
            self.now = written(union.date(end) + datetime.timedelta(milliseconds=offset))
            self.compare(name.replace("its end", "grace's end"), [device], True)
        self.advance(by="1 min")

    def premium(self, device):
        return self.server.snapshot(device.user, self.now)["entitlements"]["premium"]

    def outage(self):
        """a server that is down, and a store that does not answer"""
        for device in self.buyers:
            device.mapping = self.main[0 if device.platform == IOS else 1].mapping
            device.evidence = self.purchase(device, "pro")
        ios, android = self.buyers
        self.disturbed = True
        self.server.stop()
        for device in self.buyers:
            final, answer = device.post("pro", device.evidence)
            expect(f"{device.platform}: the purchase is kept while the server is down",
                   not final and device.queue, answer=readable(answer))
            expect(f"{device.platform}: entitlements are computed from the store's purchases",
                   device.offline([PRODUCTS["pro"][device.platform]]) == {"premium"}, mapping=device.mapping)
        for device in self.main:
            verdict = device.read()
            expect(f"{device.platform}: the cached customer info has access",
                   device.status == 503 and verdict.active("premium") == (True, True))
        print(f"  {self.now}  the server is down: two purchases are kept, caches have access", flush=True)
        self.server.start()
        for fault in ({"fault": "unavailable", "status": 503}, {"fault": "unauthorised"},
                      {"fault": "rateLimited", "by": "10 min"}, {"fault": "noAnswer"}):
            self.stores.step("disturbAPI", customer=android.account, **fault)
            begin = time.monotonic()
            [(final, answer)] = android.resend()
            seconds = time.monotonic() - begin
            expect(f"Android: a store with {fault['fault']} is a 5xx with code 7110", not final
                   and answer.status >= 500 and code(answer) == 7110, answer=readable(answer))
            expect("the answer comes before a proxy gives up", seconds < STORE_BUDGET, seconds=seconds)
            print(f"  {self.now}  {fault['fault']}: {answer.status} after {seconds:.1f} s", flush=True)
            self.stores.step("endDisturbances", customer=android.account)
        self.stores.step("disturbServerAPI", customer=ios.account, fault="unavailable")
        [(final, answer)] = ios.resend()
        self.stores.step("endDisturbances", customer=ios.account)
        expect("iOS: a purchase that only the store's API misses is stored or kept",
               answer.status == 200 or not final, answer=readable(answer))
        ios.queue = ios.queue or [("pro", ios.evidence)]
        self.disturbed = False
        for device in self.buyers:
            [(final, answer)] = device.resend()
            expect(f"{device.platform}: the kept purchase is accepted afterwards",
                   final and answer.status == 200 and not device.queue, answer=readable(answer))
        self.act("acknowledge", [android])
        self.stores.relay.release()
        self.compare("posted after the outage", self.buyers, True)

    def refund(self):
        """a refund"""
        self.act("refund", self.main, revokes={IOS: None, ANDROID: True})
        self.compare("refunded", self.main, False)
        for device in self.main:
            found = device.cached().conclusions[device.platform]
            one = found["entitlements"].get("premium")
            expect(f"{device.platform}: a refunded subscription is neither active nor renewing",
                   not found["activeSubscriptions"] and not (one and one["willRenew"]),
                   info=json.loads(device.info[0]))
        self.advance(by="40 d")
        self.compare("refunded, 40 days later", self.main, False)
        self.compare("the other customers", self.buyers, True)

    def one_time(self):
        """consumables and a lifetime purchase"""
        for device in self.buyers:
            bought = []
            for product in ("coins", "coins", "lifetime"):
                evidence = self.purchase(device, product)
                final, answer = device.post(product, evidence)
                expect(f"{device.platform}: the receipt of {product} is accepted",
                       final and answer.status == 200, answer=readable(answer))
                consumes = device.verdict.android["shouldConsume"][PRODUCTS[product][device.platform]]
                expect(f"{device.platform}: should_consume of {product}", consumes == (product == "coins"),
                       answer=readable(answer))
                if device.platform == ANDROID:
                    self.act("consume" if consumes else "acknowledge", [device])
                self.stores.relay.release()
                bought.append(product)
            listed = json.loads(device.info[0])["subscriber"]["non_subscriptions"]
            counts = {name: len(items) for name, items in listed.items()}
            wanted = {PRODUCTS["coins"][device.platform]: 2, PRODUCTS["lifetime"][device.platform]: 1}
            expect(f"{device.platform}: each purchase is listed: {counts}", counts == wanted, listed=listed)
            self.compare("a lifetime purchase", [device], True, "archive")
        self.act("refund", self.buyers, product={IOS: PRODUCTS["lifetime"][IOS], ANDROID: None},
                 revokes={IOS: None, ANDROID: True})
        self.compare("the lifetime purchase refunded", self.buyers, False, "archive")
        for device in self.buyers:
            value = json.loads(device.info[0])["subscriber"]
            product = PRODUCTS["lifetime"][device.platform]
            expect(f"{device.platform}: a refunded one-time purchase is left out",
                   product not in value["non_subscriptions"] and "archive" not in value["entitlements"],
                   subscriber=value)

    def ids(self):
        """ids with characters that paths escape"""
        for device in self.main:
            for user in ("a b", "a/b", "a+b", "a%b", "a%2Fb", "\U0001f600", "a:b", "\u00e9"):
                device.user = user
                device.read()
                found = json.loads(device.info[0])["subscriber"]["original_app_user_id"]
                expect(f"{device.platform}: {user!r} arrives as {found!r}", found == user)
        for form in ("$RCAnonymousID%3A", "%24RCAnonymousID%3A", "$RCAnonymousID:"):
            name = uuid.uuid4().hex
            answer = self.main[0].send("GET", f"/v1/subscribers/{form}{name}")
            found = json.loads(answer.body)["subscriber"]["original_app_user_id"]
            expect(f"{form} is read as the same id", found == f"$RCAnonymousID:{name}", found=found)
        print("  ids arrive as they were sent", flush=True)

    def messages_first(self):
        """the store's message arrives before the receipt"""
        for device in self.late:
            evidence = self.purchase(device, "pro")
            self.stores.relay.release()
            final, answer = device.post("pro", evidence)
            expect(f"{device.platform}: the receipt is accepted", final and answer.status == 200,
                   answer=readable(answer))
            if device.platform == ANDROID:
                self.act("acknowledge", [device])
            self.compare("the message, then the receipt", [device], True)

    def silence(self):
        """no message, and no answer to the server's questions"""
        faults = {IOS: "disturbServerAPI", ANDROID: "disturbAPI"}
        for device in self.late:
            self.stores.step("loseNotifications", customer=device.account)
            self.stores.step(faults[device.platform], customer=device.account, fault="unavailable")
        ends = {device.platform: self.server.snapshot(device.user, self.now)["entitlements"]["premium"]
                ["accessUntil"] for device in self.late}
        self.advance(to=written(union.date(max(ends.values())) + datetime.timedelta(hours=1)))
        self.compare("a renewal is due", self.late, True)
        for _ in range(12):
            self.advance(by="6 h")
            self.compare("no message yet", self.late)
        for device in self.late:
            self.stores.step("deliverNotifications", customer=device.account)
            self.stores.step("endDisturbances", customer=device.account)
        self.tick()
        self.compare("messages arrive again", self.late)

    def new_installation(self):
        """a purchase that is posted only by the next installation, which has another anonymous id"""
        for device in self.lost:
            evidence = self.purchase(device, "pro")
            device.log_out()
            final, answer = device.post("pro", evidence, "restore")
            expect(f"{device.platform}: a purchase of an id that never asked is restored by another",
                   final and answer.status == 200, answer=readable(answer))
            if device.platform == ANDROID:
                self.act("acknowledge", [device])
            self.stores.relay.release()
            self.compare("restored by a new installation", [device], True)

    def nothing(self):
        """requests for what the server does not have"""
        ios, user = self.buyers[0], self.buyers[0].segment(self.buyers[0].user)
        answers = [
            ("POST", f"/v1/subscribers/{user}/attribution", {"network": 1, "data": {}}, 200, {}),
            ("POST", f"/v1/subscribers/{user}/adservices_attribution",
             {"aad_attribution_token": "x"}, 200, {}),
            ("POST", f"/v1/subscribers/{user}/intro_eligibility",
             {"product_identifiers": ["cards.pro.monthly"], "fetch_token": "AQI="}, 200, {}),
            ("POST", "/v1/customercenter/support/create-ticket", {}, 200, {"sent": False}),
            ("POST", f"/v1/subscribers/{user}/restore/eligibility", {"fetch_token": "x"}, 200,
             {"is_purchase_allowed_by_restore_behavior": True}),
            ("GET", "/v1/health/connectivity", None, 200, {}),
            ("GET", f"/v1/subscribers/{user}/health_report_availability", None, 200, {"report_logs": False}),
            ("GET", f"/v1/subscribers/{user}/ads/reward_verifications/7", None, 200, {"status": "failed"}),
            ("GET", f"/rcbilling/v1/subscribers/{user}/products?id=a&id=b", None, 200,
             {"product_details": []}),
            ("POST", "/v1/external_purchase_tokens", {}, 400, {"code": 7000}),
            ("GET", "/v1/offerings", None, 404, {"code": 7259}),
        ]
        for method, path, body, status, members in answers:
            answer = ios.send(method, path, body)
            found = readable(answer)["body"]
            name = path.replace(user, "{id}")
            expect(f"{method} {name} is answered {status} with {json.dumps(members)}",
                   answer.status == status and members.items() <= found.items(), answer=readable(answer))

    def offers(self):
        """promotional offers, verified by OpenSSL"""
        device = self.buyers[0]
        wanted = [{"offer_id": offer, "product_id": PRODUCTS["pro"][IOS], "subscription_group": "pro"}
                  for offer in ("winback50", "not_configured")]
        answer = device.send("POST", "/v1/offers", {
            "app_user_id": device.user, "fetch_token": "x", "generate_offers": wanted})
        expect("offers are answered", answer.status == 200, answer=readable(answer))
        signed, refused = json.loads(answer.body)["offers"]
        expect("an offer that is not configured is refused",
               refused["signature_error"]["code"] == 7232 and refused["signature_data"] is None,
               answer=readable(answer))
        data = signed["signature_data"]
        # Under StoreKit 2 the SDK sets no account for an id that is no UUID.
        message = "\u2063".join([PACKAGE, signed["key_id"], signed["product_id"], signed["offer_id"], "",
                                 str(uuid.UUID(data["nonce"])), str(data["timestamp"])])
        folder = pathlib.Path(self.stores.place.name)
        key, point = str(self.stores.folder / "AuthKey_REHEARSAL1.p8"), str(folder / "offer.pem")
        (folder / "offer.sig").write_bytes(base64.b64decode(data["signature"]))
        subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", point], check=True)
        verified = subprocess.run(
            ["openssl", "dgst", "-sha256", "-verify", point, "-signature", str(folder / "offer.sig")],
            input=message.encode(), capture_output=True, check=False)
        expect("the App Store would accept the signature", verified.returncode == 0, answer=readable(answer))

    def webhooks(self):
        """webhooks in RevenueCat's form"""
        wanted = {"INITIAL_PURCHASE", "RENEWAL", "BILLING_ISSUE", "EXPIRATION", "NON_RENEWING_PURCHASE"} | {
            f"CANCELLATION {reason}" for reason in ("UNSUBSCRIBE", "BILLING_ERROR", "CUSTOMER_SUPPORT")}
        stores = ("APP_STORE", "PLAY_STORE")
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and not all(wanted <= self.back_end.types(store) for store in stores):
            time.sleep(0.5)
        for store in stores:
            missing = wanted - self.back_end.types(store)
            expect(f"{store}: each event arrives, without: {sorted(missing)}", not missing,
                   events=[one for one in self.back_end.events if one["store"] == store])
        expect("each message has RevenueCat's headers", not self.back_end.faults, faults=self.back_end.faults)
        for one in self.back_end.events:
            members = TRANSFER_MEMBERS if one["type"] == "TRANSFER" else EVENT_MEMBERS
            missing = [name for name in members if name not in one]
            expect(f"an event has each documented member, without: {missing}", not missing, event=one)
        types = {}
        for one in self.back_end.events:
            kind = types.setdefault(one["id"], one["type"])
            expect("a repeated event is the same", kind == one["type"], event=one, before=kind)
        print(f"  {len(types)} events, of the types {sorted(set(types.values()))}", flush=True)

    def sizes(self):
        """receipts as long as those of StoreKit 1"""
        device = self.buyers[0]
        for kibibytes in (256, 1_020, 2_048):
            token = base64.b64encode(bytes((kibibytes << 10) * 3 // 4)).decode()
            body = json.dumps({"app_user_id": device.user, "fetch_token": token, "is_restore": False})
            fields = device.headers("POST", "")
            try:
                answer = exchange(self.server.port, "POST", "/v1/receipts", fields, body.encode())
            except OSError as error:
                answer = Answer(0, {}, str(error).encode())
            verdict = union.check_error(answer.status, answer.headers, answer.body, receipt=True)
            # Without a root certificate for receipts the server cannot judge one, and must keep it.
            found = answer.status, code(answer)
            expect(f"a receipt of {kibibytes} KiB is not finished unread",
                   not verdict.refused and found in ((400, 7103), (503, 7110)),
                   reasons=verdict.refusals, answer=readable(answer))
            print(f"  {kibibytes} KiB: {found}", flush=True)

    def log_in_first(self):
        """a purchase that is posted after a log-in"""
        for device in self.moved:
            evidence = self.purchase(device, "pro")
            buyer = device.user
            self.compare("bought, not posted", [device], False)
            device.log_in(f"moved_{device.platform}")
            final, answer = device.post("pro", evidence, "queue" if device.platform == IOS
                                        else "unsynced_active_purchases")
            expect(f"{device.platform}: a purchase of the anonymous id is accepted after its log-in",
                   final and answer.status == 200, buyer=buyer, answer=readable(answer))
            if device.platform == ANDROID:
                self.act("acknowledge", [device])
            self.stores.relay.release()
            self.compare("posted after the log-in", [device], True)

    def bought(self, device):
        """Buys and posts a subscription, and lets the store's message arrive. Returns the evidence."""
        evidence = self.purchase(device, "pro")
        final, answer = device.post("pro", evidence)
        expect(f"{device.platform}: the receipt is accepted", final and answer.status == 200,
               answer=readable(answer))
        if device.platform == ANDROID:
            self.act("acknowledge", [device])
        self.stores.relay.release()
        return evidence

    def days_offline(self):
        """days without a connection"""
        for device in self.away:
            self.bought(device)
        self.compare("bought, then offline", self.away, True)
        self.advance(by="10 d")
        for device in self.away:
            self.unconnected("offline for 10 days", device, True)
        self.act("cancel", self.away)
        self.compare("online, renewal is off", self.away, True)
        day = datetime.timedelta(days=1)
        ends = {device: union.date(self.premium(device)["accessUntil"]) for device in self.away}
        self.advance(to=written(min(ends.values()) - day - datetime.timedelta(seconds=10)))
        for device, end in ends.items():
            asked = end - day
            self.now = written(asked)
            self.compare("a day before its end", [device], True)
            for name, age, wanted in (("after its end", day + day / 24, True), ("for 3 days", 3 * day, True),
                                      ("for longer", 3 * day + datetime.timedelta(milliseconds=1), False)):
                self.now = written(asked + age)
                self.unconnected(f"offline {name}", device, wanted)
        self.advance(to=written(max(ends.values()) + 2 * day))
        self.compare("online after its end", self.away, False)

    def unconnected(self, sentence, device, wanted):
        """Compares what both SDKs conclude from the cached answer."""
        verdict = device.cached()
        expect(f"{sentence}: {device.platform}: isActive is {verdict.active('premium')}",
               verdict.active("premium") == (wanted, wanted), info=json.loads(device.info[0]))
        Walk.steps += 1
        print(f"  {self.now}  {device.platform:7}  {sentence:34}  isActive {wanted}", flush=True)

    def unsigned(self):
        """native apps, which verify signatures and use unsigned answers"""
        for device in self.native:
            self.bought(device)
        self.compare("bought, unsigned", self.native, True)
        self.act("failPayments", self.native)
        for device in self.native:
            self.until("grace", device, 40)
            self.compare("in grace, unsigned", [device], True)
        self.act("fixPayments", self.native)
        self.compare("recovered, unsigned", self.native, True)
        self.act("cancel", self.native)
        self.around("accessUntil", self.native)
        self.compare("ended, unsigned", self.native, False)
        for device in self.native:
            expect(f"{device.platform}: an unsigned answer is not stored", not device.stored)

    def transfer(self):
        """policy that moves a purchase to the last customer who presents it"""
        self.server.restart({"transfer": "transfer 0d"})
        for device in self.givers:
            evidence = self.bought(device)
            self.compare("bought", [device], True)
            taker = Device(self, device.platform, device.account)
            taker.user = f"taker_{device.platform}"
            for sentence, former, new in (("another customer restores it", device, taker),
                                          ("the buyer takes it back", taker, device)):
                final, answer = new.post("pro", evidence, "restore")
                expect(f"{device.platform}: policy that moves purchases: {sentence}",
                       final and answer.status == 200
                       and new.verdict.active("premium") == (True, True), answer=readable(answer))
                self.compare(sentence, [new], True)
                self.compare("the former customer", [former], False)
                self.advance(by="1 min")
        self.server.restart({})

    def crowd(self):
        """one receipt, posted at the same time by two customers"""
        for device in self.rivals:
            evidence = self.purchase(device, "pro")
            # On Android the store names the first of them as the buyer.
            users, results = [device.user, f"rival_{device.platform}"], queue.Queue()
            threads = [
                threading.Thread(target=self.rival, args=(device, evidence, user, results), daemon=True)
                for user in users * 10]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(PATIENCE)
            self.stores.relay.release()
            found = [results.get_nowait() for _ in range(results.qsize())]
            owners = {user for user, status, _ in found if status == 200}
            rejected = [one for one in found if one[1] != 200]
            expect(f"{device.platform}: twenty receipts at once have one owner", len(found) == 20
                   and len(owners) == 1 and all(
                       user not in owners and status < 500 and number == 7102
                       for user, status, number in rejected), found=sorted(map(str, found)))
            device.user = owners.pop()
            self.compare("twenty receipts at once", [device], True)

    def rival(self, device, evidence, user, results):
        client = Device(self, device.platform, device.account)
        try:
            _, answer = client.post("pro", evidence, user=user)
            results.put((user, answer.status, code(answer)))
        except (Difference, OSError) as error:
            results.put((user, 0, str(error)))


def code(answer):
    try:
        return json.loads(answer.body).get("code")
    except (ValueError, AttributeError):
        return None


def without_grace(body):
    """Customer info in which grace is stated, and access ends when the payment failed."""
    value = json.loads(body)
    for kind in ("subscriptions", "entitlements"):
        for one in value["subscriber"][kind].values():
            if one["grace_period_expires_date"]:
                one["expires_date"] = one["purchase_date"]
    return json.dumps(value).encode()


def tampered(evidence):
    """Evidence with one character of its signature changed, or of the token."""
    head, last = evidence[:-20], evidence[-20:]
    return head + ("B" if last[0] != "B" else "C") + last[1:]


def timed_out(*_):
    raise TimeoutError(f"the walk took longer than {LIMIT} s")


def main():
    signal.signal(signal.SIGALRM, timed_out)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.alarm(LIMIT)
    begin = time.monotonic()
    program, wrong = sys.argv[1], "--wrong" in sys.argv[2:]
    try:
        Walk(program, wrong).run()
    except Difference as difference:
        if wrong and "in grace" in str(difference):
            print(f"found: {difference}")
            return 0
        print(f"DIFFERS: {difference}", flush=True)
        for name, value in difference.values.items():
            print(f"{name}: {json.dumps(value, indent=2, default=str)}", flush=True)
        return 1
    if wrong:
        print("the planted fault was not found")
        return 1
    print(f"steps: {Walk.steps}, checks: {Walk.checks}, differences: 0, repeated: {Walk.repeated}, "
          f"seconds: {time.monotonic() - begin:.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
