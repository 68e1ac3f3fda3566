"""Asks Apple's own library and `tideover inspect` about the same inputs, and lists where they differ.

Run by scripts/compare-apple.sh, which installs what it imports. An input is one JWS, valid or changed in
one way; everything in it is made here from a seed, certificates included, and drawn anew for each input.
Half of the inputs have a certificate that was changed and then signed again by the right issuer.

Where Tideover accepts, Apple's verifier of the kind that the input was made as must accept too: anything
else is `looser`, and a failure. Where both accept, the values that both decode must be equal: anything else
is `unequal`, and a failure. Where Apple accepts what Tideover refuses, the case must be one that we refuse
on purpose, with the reason beside it in STRICTER; a case that is not listed there is a failure too.

With --planted the script changes Tideover's answers before it compares them. It must then fail: that shows
that it would find such a fault.
"""

import argparse
import base64
import collections
import concurrent.futures
import datetime
import itertools
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import warnings

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.x509.oid import NameOID

from compare_certificates import changed as changed_certificate

LEAF_MARKER = x509.ObjectIdentifier("1.2.840.113635.100.6.11.1")
INTERMEDIATE_MARKER = x509.ObjectIdentifier("1.2.840.113635.100.6.2.1")
BUNDLE, APPLE_ID = "com.example.cards", 1234567890
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
NOW = datetime.datetime.now(datetime.timezone.utc)
DAY = datetime.timedelta(days=1)
MARK = b"\x05\x00"

# Why Tideover rejects an input that Apple's library accepts, by the name of the case.
STRICTER = {
    "text padded": "base64url in a JWS has no padding",
    "header jku": "the key comes from the pinned chain only",
    "header jwk": "the key comes from the pinned chain only",
    "header x5u": "the key comes from the pinned chain only",
    "header kid": "Apple's signed data names no key beside the chain",
    "header zip": "a header that changes the meaning of what is signed is refused",
    "header b64": "a header that changes the meaning of what is signed is refused",
    "header doubled key": "a document in which a key stands twice has two readings",
    "header other algorithm first": "a document in which a key stands twice has two readings",
    "header with a byte order mark": "JSON begins with no mark (RFC 8259)",
    "certificate with bytes behind": "an entry of x5c is one certificate and nothing behind it",
    "intermediate with RSA key": "keys of this chain are on NIST curves",
    "intermediate constraints not critical": "an authority says critically that it is one (RFC 5280)",
    "leaf for clients of TLS, critical": "a critical extension that is not known here is not passed over",
    "leaf without digital signature": "a leaf that says what it is for must be for signing",
    "payload doubled key": "a document in which a key stands twice has two readings",
    "payload doubled key escaped": "a document in which a key stands twice has two readings",
    "payload with a number that is none": "NaN and Infinity are not JSON",
    "payload too deep": "documents are at most 32 levels deep",
    "payload with a surrogate alone": "text that is no text is refused",
    "payload with a byte order mark": "JSON begins with no mark (RFC 8259)",
    "payload of UTF-16": "JSON between systems is UTF-8 (RFC 8259)",
    "payload other bundle": "a renewal info names no app: what does is judged as what does",
    "payload bundle in capitals": "a renewal info names no app: what does is judged as what does",
    "payload other app number": "a renewal info names no app: what does is judged as what does",
    "payload date null": "without a signed date, words of the store cannot be put in order",
    "payload without date": "without a signed date, words of the store cannot be put in order",
    "payload date as text": "a date is a number of milliseconds",
    "payload wrong types": "a field of another type than documented is refused",
    "type no text": "a field of another type than documented is refused",
    "no id": "without its id a notification cannot be told from its repetition",
    "parts of two subscriptions": "the parts of a notification must speak of one subscription",
    "two contents": "a notification has one content",
}

# The same for random inputs: a pattern of the name, Tideover's codes, and the reason.
STRICTER_DRAWN = [
    ("signed again", ["certificate-malformed"],
     "a certificate is X.509 version 3 in DER, with names and extensions of the forms that stores use"),
    ("signed again (leaf, issuer|intermediate, subject)", ["leaf-not-issued"],
     "the issuer's name is compared byte by byte, not by its letters"),
    ("signed again intermediate, basicConstraints", ["certificate-path"],
     "an authority says critically that it is one (RFC 5280)"),
    ("signed again leaf, subject", ["certificate-path"],
     "a certificate without a subject has a critical alternative name (RFC 5280)"),
    ("member.* (signedDate|receiptCreationDate) ", ["missing-member"],
     "without a signed date, words of the store cannot be put in order"),
    ("member.* notificationUUID ", ["missing-member"],
     "without its id a notification cannot be told from its repetition"),
    ("member.* notificationType ", ["missing-member"], "a notification says what it announces"),
    ("member.* originalTransactionId ", ["nested-mismatch"],
     "the parts of a notification must speak of one subscription"),
    ("member.* (bundleId|appAppleId|environment) ", ["nested-mismatch"],
     "the parts of a notification must speak of one app and environment"),
    ("member", ["malformed"], "a field of another type than documented, or beyond its range, is refused"),
]


def b64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def compact(value):
    return json.dumps(value, separators=(",", ":")).encode()


def name(text):
    if isinstance(text, x509.Name):
        return text
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)]) if text else x509.Name([])


class Minted:
    """A certificate and its key; what is signed below it is signed by that key."""

    def __init__(self, subject, key, certificate):
        self.subject, self.key, self.certificate = subject, key, certificate

    @property
    def der(self):
        return self.certificate.public_bytes(serialization.Encoding.DER)


def mint(subject, issuer=None, *, key=None, authority=None, markers=(), start=None, end=None,
         digest=None, constraints="critical", usage="fit", identifiers=True, extra=(), path=None):
    """One certificate; `issuer` None signs itself. Every deviation is a parameter."""
    key = key or ec.generate_private_key(ec.SECP256R1())
    signer = issuer.key if issuer else key
    builder = (
        x509.CertificateBuilder()
        .subject_name(name(subject))
        .issuer_name(name(issuer.subject if issuer else subject))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start or NOW - 400 * DAY)
        .not_valid_after(end or NOW + 400 * DAY)
    )
    if constraints:
        builder = builder.add_extension(
            x509.BasicConstraints(ca=bool(authority), path_length=path), constraints == "critical")
    if usage:
        signs = usage == "fit" and bool(authority) or usage == "certificates"
        words = usage == "fit" and not authority or usage == "documents"
        builder = builder.add_extension(
            x509.KeyUsage(words, False, usage == "agreement", False, usage == "agreement", signs,
                          signs, False, False), True)
    if identifiers:
        builder = builder.add_extension(
            x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        builder = builder.add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), False)
    for marker in markers:
        builder = builder.add_extension(x509.UnrecognizedExtension(marker, MARK), False)
    for extension, critical in extra:
        builder = builder.add_extension(extension, critical)
    return Minted(subject, key, builder.sign(signer, digest or hashes.SHA256()))


class Chain:
    """Root, intermediate and leaf, sound unless told otherwise by what `leaf` and `middle` change."""

    def __init__(self, root, leaf=None, middle=None, third=None):
        self.root = root
        self.middle = mint(**{
            "subject": "Intermediate", "issuer": root, "authority": True, "markers": [INTERMEDIATE_MARKER], "path": 0,
            "key": ec.generate_private_key(ec.SECP384R1()), "digest": hashes.SHA384(), **(middle or {})})
        self.leaf = mint(**{"subject": "Signer", "issuer": self.middle, "markers": [LEAF_MARKER], **(leaf or {})})
        self.entries = [base64.b64encode(c).decode()
                        for c in (self.leaf.der, self.middle.der, third or root.der)]


def sign(key, text):
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        return bytes(64)
    digest = hashes.SHA256()
    r, s = decode_dss_signature(key.sign(text, ec.ECDSA(digest)))
    size = (key.curve.key_size + 7) // 8
    return r.to_bytes(size, "big") + s.to_bytes(size, "big")


class Document:
    """A JWS in the making: header, payload, key, and what is done to the finished text."""

    def __init__(self, chain, payload, kind, environment):
        self.chain, self.kind, self.environment = chain, kind, environment
        self.header = {"alg": "ES256", "x5c": list(chain.entries)}
        self.header_bytes = None
        self.payload = payload
        self.payload_bytes = None
        self.signature = None
        self.key = chain.leaf.key

    def text(self):
        header = self.header_bytes if self.header_bytes is not None else compact(self.header)
        payload = self.payload_bytes if self.payload_bytes is not None else compact(self.payload)
        signed = f"{b64url(header)}.{b64url(payload)}"
        signature = sign(self.key, signed.encode())
        if self.signature:
            signature = self.signature(signature)
        return f"{signed}.{b64url(signature)}"


class World:
    """Everything made from one seed. Keys and signatures are random; what is tried is not."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.root = mint("Root", authority=True, key=ec.generate_private_key(ec.SECP384R1()),
                         digest=hashes.SHA384(), start=NOW - 3000 * DAY, end=NOW + 3000 * DAY)
        self.stranger = mint("Root", authority=True, key=ec.generate_private_key(ec.SECP384R1()),
                             digest=hashes.SHA384())
        self.sound = Chain(self.root)
        self.rsa_key = rsa.generate_private_key(65537, 2048)
        self.sound_chains = [self.sound, *self.other_chains()]

    def milliseconds(self, days=0.0):
        return int((NOW + days * DAY).timestamp() * 1000)

    def transaction(self, environment, lineage):
        r = self.random
        start = self.milliseconds(-r.uniform(2, 40))
        payload = {
            "transactionId": str(r.randrange(10**14)), "originalTransactionId": lineage,
            "webOrderLineItemId": str(r.randrange(10**14)), "bundleId": BUNDLE,
            "productId": r.choice(["cards.pro.monthly", "cards.pro.yearly", "cards.unknown"]),
            "subscriptionGroupIdentifier": "20", "purchaseDate": start,
            "originalPurchaseDate": start - r.randrange(10**9), "expiresDate": start + 2592000000,
            "quantity": 1, "type": "Auto-Renewable Subscription",
            "inAppOwnershipType": r.choice(["PURCHASED", "FAMILY_SHARED"]),
            "signedDate": self.milliseconds(-r.uniform(0.01, 1)), "environment": environment,
            "transactionReason": r.choice(["PURCHASE", "RENEWAL"]), "storefront": "USA",
            "storefrontId": "143441", "price": r.randrange(100000), "currency": "USD",
        }
        for field, value in [("offerType", r.randint(1, 4)), ("isUpgraded", True),
                             ("appAccountToken", "7e3fb20b-4cdb-47cc-936d-99d65f608138"),
                             ("offerDiscountType", r.choice(["FREE_TRIAL", "PAY_AS_YOU_GO", "NEW_WORD"])),
                             ("revocationReason", r.randint(0, 3)), ("somethingNew", {"a": [1, None]})]:
            if r.random() < 0.3:
                payload[field] = value
        return payload

    def renewal(self, environment, lineage):
        r = self.random
        payload = {
            "originalTransactionId": lineage, "autoRenewProductId": "cards.pro.monthly",
            "productId": "cards.pro.monthly", "autoRenewStatus": r.randint(0, 1),
            "renewalDate": self.milliseconds(r.uniform(-5, 30)), "environment": environment,
            "signedDate": self.milliseconds(-r.uniform(0.01, 1)),
        }
        for field, value in [("expirationIntent", r.randint(1, 7)), ("isInBillingRetryPeriod", r.random() < 0.5),
                             ("gracePeriodExpiresDate", self.milliseconds(r.uniform(-5, 20))),
                             ("priceIncreaseStatus", r.randint(0, 2)), ("currency", "EUR")]:
            if r.random() < 0.4:
                payload[field] = value
        return payload

    def app_transaction(self, environment):
        return {"receiptType": environment, "appAppleId": APPLE_ID, "bundleId": BUNDLE,
                "applicationVersion": "1.2", "receiptCreationDate": self.milliseconds(-0.2),
                "originalPurchaseDate": self.milliseconds(-300), "originalApplicationVersion": "1.0",
                "deviceVerification": "AAAA", "deviceVerificationNonce": "48ccfa42-7431-4f22-9908-7e88983e105a"}

    def notification(self, environment, lineage):
        r = self.random
        kind, subtype = r.choice([("DID_RENEW", None), ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"), ("EXPIRED", "VOLUNTARY"),
                                  ("SUBSCRIBED", "INITIAL_BUY"), ("REFUND", None), ("SOMETHING_NEW", "AS_WELL"),
                                  ("TEST", None)])
        data = {"bundleId": BUNDLE, "appAppleId": APPLE_ID, "bundleVersion": "7", "environment": environment}
        if kind != "TEST":
            data["status"] = r.randint(1, 5)
            data["signedTransactionInfo"] = Document(
                self.sound, self.transaction(environment, lineage), "transaction", environment).text()
            data["signedRenewalInfo"] = Document(
                self.sound, self.renewal(environment, lineage), "renewalInfo", environment).text()
        payload = {"notificationType": kind, "notificationUUID": "%08x-0000-4000-8000-%012x"
                   % (r.randrange(2**32), r.randrange(2**48)), "version": "2.0",
                   "signedDate": self.milliseconds(-r.uniform(0.01, 1)), "data": data}
        if subtype:
            payload["subtype"] = subtype
        return payload

    def other_notification(self, environment):
        """A notification that speaks of no one purchase."""
        r = self.random
        app = {"bundleId": BUNDLE, "appAppleId": APPLE_ID}
        kind, subtype, member, content = r.choice([
            ("RENEWAL_EXTENSION", "SUMMARY", "summary", {
                **app, "requestIdentifier": "%032x" % r.randrange(2**128), "environment": environment,
                "productId": "cards.pro.monthly", "storefrontCountryCodes": r.sample(["CAN", "USA", "MEX"], 2),
                "succeededCount": r.randrange(1000), "failedCount": r.randrange(10)}),
            ("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED", "externalPurchaseToken", {
                **app, "externalPurchaseId": ("SANDBOX_" if environment == "Sandbox" else "") + "%x" % r.randrange(2**64),
                "tokenCreationDate": self.milliseconds(-r.uniform(1, 9))}),
            ("RESCIND_CONSENT", None, "appData", {
                **app, "environment": environment, "signedAppTransactionInfo": Document(
                    self.sound, self.app_transaction(environment), "appTransaction", environment).text()}),
        ])
        payload = {"notificationType": kind, "notificationUUID": "%08x-0000-4000-8000-%012x"
                   % (r.randrange(2**32), r.randrange(2**48)), "version": "2.0",
                   "signedDate": self.milliseconds(-r.uniform(0.01, 1)), member: content}
        if subtype:
            payload["subtype"] = subtype
        return payload

    def payload(self, kind, environment):
        lineage = str(self.random.randrange(10**14))
        return {
            "notification": lambda: self.notification(environment, lineage),
            "otherNotification": lambda: self.other_notification(environment),
            "transaction": lambda: self.transaction(environment, lineage),
            "renewalInfo": lambda: self.renewal(environment, lineage),
            "appTransaction": lambda: self.app_transaction(environment),
        }[kind]()

    def document(self, kind=None, chain=None):
        kind = kind or self.random.choice(
            ["notification", "otherNotification", "transaction", "renewalInfo", "appTransaction"])
        environment = self.random.choice(["Production", "Sandbox"])
        payload = self.payload(kind, environment)
        kind = "notification" if kind == "otherNotification" else kind
        return Document(chain or self.sound, payload, kind, environment)

    def other_chains(self):
        """Sound chains that say more, as the store's own do."""
        def distinguished(text):
            return x509.Name([
                x509.NameAttribute(NameOID.COMMON_NAME, text),
                x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, "G6"),
                x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Example Inc."),
                x509.NameAttribute(NameOID.COUNTRY_NAME, "US")])

        page = x509.UniformResourceIdentifier("http://example.com/a")
        oid = x509.ObjectIdentifier
        access = x509.AuthorityInformationAccess([
            x509.AccessDescription(oid("1.3.6.1.5.5.7.48.1"), page),
            x509.AccessDescription(oid("1.3.6.1.5.5.7.48.2"), page)])
        policies = x509.CertificatePolicies([x509.PolicyInformation(oid("1.2.3.4"), [
            x509.UserNotice(None, "A notice."), "http://example.com/policy"])])
        lists = x509.CRLDistributionPoints([x509.DistributionPoint([page], None, None, None)])
        host = x509.SubjectAlternativeName([x509.DNSName("a.example.com")])
        purposes = x509.ExtendedKeyUsage([oid("1.2.3.5")])
        late = {"start": NOW - 300 * DAY, "end": NOW + 15000 * DAY}
        yield Chain(self.root, {"extra": [(access, False), (policies, False)], "subject": distinguished("Signer")},
                    {"extra": [(access, False), (lists, False)], "subject": distinguished("Intermediate")})
        yield Chain(self.root, {"extra": [(host, False), (purposes, False)], **late},
                    {"key": ec.generate_private_key(ec.SECP256R1()), **late})

    def chain(self, **changes):
        return Chain(changes.pop("root", self.root), **changes)


def content(payload):
    """The members that say for which app and environment a payload is."""
    return next((payload[m] for m in ("data", "summary", "externalPurchaseToken", "appData")
                 if isinstance(payload.get(m), dict)), payload)


def date_field(document):
    return "receiptCreationDate" if document.kind == "appTransaction" else "signedDate"


def text_cases(world):
    """What happens to the text of a JWS on its way."""
    r = world.random

    def flip(index):
        def change(text):
            parts = text.split(".")
            at = r.randrange(len(parts[index]))
            other = r.choice([c for c in "ABCDEFabcdef0123_-" if c != parts[index][at]])
            parts[index] = parts[index][:at] + other + parts[index][at + 1:]
            return ".".join(parts)
        return change

    def noncanonical(text):
        # 64 bytes leave four spare bits in the last character.
        alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        return text[:-1] + alphabet[alphabet.index(text[-1]) | r.randint(1, 15)]

    yield "text header flipped", flip(0)
    yield "text payload flipped", flip(1)
    yield "text signature flipped", flip(2)
    yield "text cut", lambda t: t[: r.randrange(len(t))]
    yield "text padded", lambda t: t + "=="
    yield "text noncanonical", noncanonical
    yield "text spaced", lambda t: t[: t.index(".")] + " " + t[t.index("."):]
    yield "text four segments", lambda t: t + ".AAAA"
    yield "text two segments", lambda t: t.rsplit(".", 1)[0]
    yield "text empty signature", lambda t: t.rsplit(".", 1)[0] + "."
    yield "text of the standard alphabet", lambda t: t.replace("-", "+").replace("_", "/")
    yield "text doubled", lambda t: t + t


def header_cases(world):
    """What the protected header says, signed as it is said."""
    def put(**members):
        return lambda d: d.header.update(members)

    def drop(member):
        return lambda d: d.header.pop(member)

    def entries(change):
        def apply(d):
            d.header["x5c"] = change(d.header["x5c"])
        return apply

    def raw(make):
        def apply(d):
            d.header_bytes = make(compact(d.header))
        return apply

    for algorithm in ["none", "HS256", "RS256", "ES384", "es256", "", 256, None, ["ES256"]]:
        yield f"header alg {algorithm}", put(alg=algorithm)
    yield "header without alg", drop("alg")
    yield "header typ", put(typ=world.random.choice(["at+jwt", 7]))
    yield "header typ JWT", put(typ="JWT")
    yield "header without chain", drop("x5c")
    yield "header kid", put(kid="some-key")
    yield "header crit", put(crit=["exp"], exp=1)
    yield "header crit unknown", put(crit=["new"], new=1)
    yield "header jku", put(jku="https://example.com/keys")
    yield "header jwk", put(jwk={"kty": "EC"})
    yield "header x5u", put(x5u="https://example.com/chain")
    yield "header zip", put(zip="DEF")
    yield "header b64", put(b64=True)
    yield "header b64 false", put(b64=False, crit=["b64"])
    yield "header unknown member", put(new={"a": 1})
    yield "header doubled key", raw(lambda h: b'{"alg":"ES256",' + h[1:])
    yield "header other algorithm first", raw(lambda h: b'{"alg":"none",' + h[1:])
    yield "header with a byte order mark", raw(lambda h: b"\xef\xbb\xbf" + h)
    yield "header trailing comma", raw(lambda h: h[:-1] + b",}")
    yield "header an array", raw(lambda h: b"[" + h + b"]")
    yield "header no JSON", raw(lambda h: h[:-1])
    for count in [0, 1, 2, 4, 5]:
        yield f"chain of {count}", entries(lambda c, n=count: (c + c)[:n])
    yield "chain reversed", entries(lambda c: c[::-1])
    yield "chain with the leaf twice", entries(lambda c: [c[0], c[0], c[2]])
    yield "chain a text", entries(lambda c: c[0])
    yield "chain of numbers", entries(lambda c: [1, 2, 3])
    yield "third certificate another root", entries(
        lambda c: c[:2] + [base64.b64encode(world.stranger.der).decode()])
    yield "third certificate empty", entries(lambda c: c[:2] + [""])
    yield "third certificate no certificate", entries(lambda c: c[:2] + ["AAAA"])
    yield "third certificate not base64", entries(lambda c: c[:2] + ["%%%"])
    yield "certificate base64url", entries(
        lambda c: [e.replace("+", "-").replace("/", "_").rstrip("=") for e in c])
    yield "certificate with line breaks", entries(lambda c: [c[0][:64] + "\n" + c[0][64:]] + c[1:])
    yield "certificate cut", entries(lambda c: [c[0][:-8]] + c[1:])
    yield "certificate with bytes behind", entries(
        lambda c: [base64.b64encode(base64.b64decode(c[0]) + b"\0").decode()] + c[1:])
    yield "certificate signature damaged", entries(
        lambda c: [base64.b64encode(base64.b64decode(c[0])[:-1] + b"\x01").decode()] + c[1:])


def chain_cases(world):
    """Chains that are not as they should be; all are signed by their issuers."""
    p384 = lambda: ec.generate_private_key(ec.SECP384R1())
    unknown = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4.5"), MARK)
    permitted = x509.NameConstraints([x509.DNSName("example.com")], None)
    other_host = x509.SubjectAlternativeName([x509.DNSName("elsewhere.example")])
    client = x509.ExtendedKeyUsage([x509.oid.ExtendedKeyUsageOID.CLIENT_AUTH])
    past = {"start": NOW - 300 * DAY, "end": NOW - 100 * DAY}
    future = {"start": NOW + 100 * DAY, "end": NOW + 300 * DAY}
    brief = mint("Root", authority=True, key=p384(), digest=hashes.SHA384(), **past)
    yield "chain sound", {}
    yield "chain of another root", {"root": world.stranger}
    yield "leaf without marker", {"leaf": {"markers": []}}
    yield "leaf with the other's marker", {"leaf": {"markers": [INTERMEDIATE_MARKER]}}
    yield "intermediate without marker", {"middle": {"markers": []}}
    yield "intermediate with the other's marker", {"middle": {"markers": [LEAF_MARKER]}}
    yield "leaf expired", {"leaf": past}
    yield "leaf of the future", {"leaf": future}
    yield "intermediate expired", {"middle": past}
    yield "intermediate of the future", {"middle": future}
    yield "leaf is an authority", {"leaf": {"authority": True, "usage": None}}
    yield "leaf may sign certificates", {"leaf": {"usage": "certificates"}}
    yield "leaf without digital signature", {"leaf": {"usage": "agreement"}}
    yield "leaf without key usage", {"leaf": {"usage": None}}
    yield "leaf without constraints", {"leaf": {"constraints": None}}
    yield "leaf constraints not critical", {"leaf": {"constraints": "plain"}}
    yield "leaf without key identifiers", {"leaf": {"identifiers": False}}
    yield "leaf with an unknown critical extension", {"leaf": {"extra": [(unknown, True)]}}
    yield "leaf with an unknown extension", {"leaf": {"extra": [(unknown, False)]}}
    yield "leaf for clients of TLS", {"leaf": {"extra": [(client, False)]}}
    yield "leaf for clients of TLS, critical", {"leaf": {"extra": [(client, True)]}}
    yield "leaf signed by SHA-512", {"leaf": {"digest": hashes.SHA512()}}
    yield "leaf key on P-384", {"leaf": {"key": p384()}}
    yield "leaf key RSA", {"leaf": {"key": world.rsa_key}}
    yield "intermediate not an authority", {"middle": {"authority": False, "usage": "certificates", "path": None}}
    yield "intermediate without constraints", {"middle": {"constraints": None, "usage": "certificates"}}
    yield "intermediate constraints not critical", {"middle": {"constraints": "plain"}}
    yield "intermediate may not sign certificates", {"middle": {"usage": "documents", "path": None}}
    yield "intermediate without key usage", {"middle": {"usage": None, "path": None}}
    yield "intermediate without key identifiers", {"middle": {"identifiers": False}}
    yield "intermediate with an unknown critical extension", {"middle": {"extra": [(unknown, True)]}}
    yield "intermediate with RSA key", {"middle": {"key": world.rsa_key}}
    yield "intermediate for one host, leaf of another", {
        "middle": {"extra": [(permitted, True)]}, "leaf": {"extra": [(other_host, False)]}}
    yield "intermediate for one host, not critical, leaf of another", {
        "middle": {"extra": [(permitted, False)]}, "leaf": {"extra": [(other_host, False)]}}
    yield "path length without limit", {"middle": {"path": None}}
    yield "chain of a root that is not pinned and has expired", {"root": brief}


def signature_cases(world):
    """What stands in the third segment."""
    def halves(change):
        def apply(signature):
            r, s = change(int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))
            return r.to_bytes(32, "big") + s.to_bytes(32, "big")
        return apply

    yield "signature zero", lambda s: bytes(64)
    yield "signature of the order", halves(lambda r, s: (ORDER, ORDER))
    yield "signature r zero", halves(lambda r, s: (0, s))
    yield "signature s zero", halves(lambda r, s: (r, 0))
    yield "signature r one", halves(lambda r, s: (1, s))
    yield "signature mirrored", halves(lambda r, s: (r, ORDER - s))
    yield "signature swapped", halves(lambda r, s: (s, r))
    yield "signature short", lambda s: s[:-1]
    yield "signature long", lambda s: s + b"\0"
    yield "signature of DER", lambda s: b"\x30\x44\x02\x20" + s[:32] + b"\x02\x20" + s[32:]
    yield "signature empty", lambda s: b""


def payload_cases(world):
    """What is signed, and says something it should not."""
    r = world.random

    def put(**members):
        return lambda d: d.payload.update(members)

    def drop(member):
        return lambda d: d.payload.pop(member, None)

    def raw(make):
        def apply(d):
            d.payload_bytes = make(compact(d.payload))
        return apply

    def dated(value):
        return lambda d: d.payload.update({date_field(d): value})

    def undated(d):
        d.payload.pop(date_field(d))

    def inside(change):
        # The member that identifies the app: inside `data` of a notification.
        return lambda d: change(content(d.payload), d)

    def environment(value):
        def change(members, d):
            key = "receiptType" if d.kind == "appTransaction" else "environment"
            members.pop(key, None) if value is None else members.update({key: value})
        return inside(change)

    yield "payload other bundle", inside(lambda m, d: m.update(bundleId="com.example.other"))
    yield "payload bundle in capitals", inside(lambda m, d: m.update(bundleId=BUNDLE.upper()))
    yield "payload without bundle", inside(lambda m, d: m.pop("bundleId", None))
    yield "payload other app number", inside(lambda m, d: m.update(appAppleId=1))
    yield "payload without app number", inside(lambda m, d: m.pop("appAppleId", None))
    for word in ["Xcode", "LocalTesting", "production", "PRODUCTION", "Somewhere", "", 5]:
        yield f"payload environment {word!r}", environment(word)
    yield "payload without environment", environment(None)
    yield "payload other environment", lambda d: environment(
        "Sandbox" if d.environment == "Production" else "Production")(d)
    yield "payload without date", undated
    yield "payload date in the future", dated(world.milliseconds(30))
    yield "payload date long past", dated(world.milliseconds(-1000))
    yield "payload date as text", dated(str(world.milliseconds(-1)))
    yield "payload date negative", dated(-5)
    yield "payload date zero", dated(0)
    yield "payload date beyond", dated(10**20)
    yield "payload date with a fraction", dated(world.milliseconds(-1) + 0.25)
    yield "payload date true", dated(True)
    yield "payload date null", dated(None)
    yield "payload doubled key", raw(lambda p: b'{"bundleId":"com.example.other",' + p[1:])
    yield "payload doubled key escaped", raw(lambda p: b'{"b\\u0075ndleId":"com.example.other",' + p[1:])
    yield "payload with a byte order mark", raw(lambda p: b"\xef\xbb\xbf" + p)
    yield "payload of UTF-16", raw(lambda p: p.decode().encode("utf-16-le"))
    yield "payload trailing comma", raw(lambda p: p[:-1] + b",}")
    yield "payload trailing words", raw(lambda p: p + b"x")
    yield "payload with a comment", raw(lambda p: p[:-1] + b"/* */}")
    yield "payload with single quotes", raw(lambda p: p.replace(b'"', b"'"))
    yield "payload not UTF-8", raw(lambda p: p[:-1] + b',"n":"\xff\xfe"}')
    yield "payload with a surrogate alone", raw(lambda p: p[:-1] + b',"n":"\\ud800"}')
    yield "payload with a control character", raw(lambda p: p[:-1] + b',"n":"\x01"}')
    yield "payload with a number that is none", raw(lambda p: p[:-1] + b',"n":NaN}')
    yield "payload with a leading zero", raw(lambda p: p[:-1] + b',"n":01}')
    yield "payload too deep", raw(lambda p: p[:-1] + b',"n":' + b"[" * 40 + b"]" * 40 + b"}")
    yield "payload an array", raw(lambda p: b"[" + p + b"]")
    yield "payload a text", raw(lambda p: b'"' + b"words" + b'"')
    yield "payload empty", raw(lambda p: b"")
    yield "payload empty object", raw(lambda p: b"{}")
    yield "payload white space around", raw(lambda p: b" \n" + p + b"\n ")
    yield "payload unknown members", put(aNewMember={"deep": [1, 2.5, None, True]})
    for field, value in [("productId", 5), ("quantity", "one"), ("expiresDate", "soon"), ("isUpgraded", "yes"),
                         ("offerType", "1"), ("originalTransactionId", 17), ("price", "9.99"),
                         ("type", ["Consumable"]), ("webOrderLineItemId", {"a": 1})]:
        yield "payload wrong types", put(**{field: value})
    yield "payload nulls", put(offerIdentifier=None, appAccountToken=None)
    yield "nothing identified", lambda d: d.payload.clear() or d.payload.update(
        {date_field(d): world.milliseconds(-1)})


def notification_cases(world):
    """Notifications whose parts are not to be believed, or do not belong together."""
    def part(field, change):
        def apply(d):
            if field in d.payload["data"]:
                d.payload["data"][field] = change(d)
            else:  # a test carries none: there is nothing to damage in it
                d.payload["notificationType"] = "TEST"
        return apply

    def other(kind, **members):
        def make(d):
            lineage = members.get("lineage", "1")
            payload = (world.transaction if kind == "transaction" else world.renewal)(
                members.get("environment", d.environment), lineage)
            payload.update(members.get("put", {}))
            return Document(members.get("chain", world.sound), payload, kind, d.environment).text()
        return make

    def swapped(d):
        return "Sandbox" if d.environment == "Production" else "Production"

    bad = world.chain(root=world.stranger)
    yield "part not signed", part("signedTransactionInfo", lambda d: "e30.e30.AAAA")
    yield "part of another root", part("signedTransactionInfo", other("transaction", chain=bad))
    yield "renewal of another root", part("signedRenewalInfo", other("renewalInfo", chain=bad))
    yield "part damaged", part(
        "signedRenewalInfo", lambda d: d.payload["data"]["signedRenewalInfo"][:-4] + "AAAA")
    yield "part no text", part("signedTransactionInfo", lambda d: 7)
    yield "parts of two subscriptions", part("signedRenewalInfo", other("renewalInfo", lineage="2"))
    yield "parts of two apps", part(
        "signedTransactionInfo", other("transaction", put={"bundleId": "com.example.other"}))
    yield "parts of two environments", lambda d: part(
        "signedRenewalInfo", other("renewalInfo", environment=swapped(d)))(d)
    yield "two contents", lambda d: d.payload.update(summary={
        "requestIdentifier": "1", "environment": d.environment, "appAppleId": APPLE_ID, "bundleId": BUNDLE,
        "productId": "p", "storefrontCountryCodes": [], "succeededCount": 1, "failedCount": 0})
    yield "no content", lambda d: d.payload.pop("data")
    yield "content null", lambda d: d.payload.update(data=None)
    yield "type no text", lambda d: d.payload.update(notificationType=5)
    yield "no id", lambda d: d.payload.pop("notificationUUID")


def every_case(world):
    """(name, document, change of its text), each once; a chain's cases mint their chain once."""
    for title, change in text_cases(world):
        yield title, lambda: world.document(), change
    for title, change in header_cases(world):
        yield title, changed(world, change), None
    for title, changes in chain_cases(world):
        chain = world.chain(**changes)
        yield title, lambda chain=chain: world.document(chain=chain), None
    for title, change in signature_cases(world):
        yield title, signed(world, change), None
    for title, change in payload_cases(world):
        yield title, changed(world, change), None
    for title, change in notification_cases(world):
        yield title, changed(world, change, "notification"), None


def changed(world, change, kind=None):
    def make():
        document = world.document(kind)
        change(document)
        return document
    return make


def signed(world, change):
    def make():
        document = world.document()
        document.signature = change
        return document
    return make


def drawn_cases(world):
    """(name, document, change of its text) without end, half of them with a changed certificate."""
    r = world.random
    catalogue = iter(())
    while True:
        choice = r.random()
        if choice < 0.5:
            yield certificate_case(world)
        elif choice < 0.65:
            yield member_case(world)
        elif choice < 0.78:
            yield "sound", lambda: world.document(chain=r.choice(world.sound_chains)), None
        else:
            case = next(catalogue, None)
            if case is None:
                # Every case in turn, with different keys, members and positions each time.
                cases = list(every_case(world))
                r.shuffle(cases)
                catalogue = iter(cases)
                case = next(catalogue)
            yield case


def certificate_case(world):
    """A document under a leaf or an intermediate that is changed and signed again."""
    r = world.random
    chain = r.choice(world.sound_chains)
    position = r.choice(["leaf", "intermediate"])
    before, key, index = (chain.leaf.der, chain.middle.key, 0) if position == "leaf" else (
        chain.middle.der, chain.root.key, 1)
    title, der = changed_certificate(r, before, key)

    def make():
        document = world.document(r.choice(["transaction", "renewalInfo", "appTransaction"]), chain)
        document.header["x5c"][index] = base64.b64encode(der).decode()
        return document
    return f"signed again {position}, {title}", make, None


DRAWN_VALUES = [None, True, False, 0, 1, -1, 2, 7, 99, 1.5, 10**18, 2**63, 10**20, "", "x", "1", "0", "NEW_WORD", "\u0000",
                "\u202e", "P1M", "USD", [], {}, [1], {"a": 1}, "00000000-0000-0000-0000-000000000000",
                "7E3FB20B-4CDB-47CC-936D-99D65F608138", "Production", "Sandbox", "Xcode", "x" * 300]
OTHER_MEMBERS = {
    "transaction": ["revocationDate", "revocationReason", "revocationType", "revocationPercentage", "offerType",
                    "offerIdentifier", "offerDiscountType", "offerPeriod", "isUpgraded", "appAccountToken",
                    "appTransactionId", "billingPlanType", "advancedCommerceInfo", "commitmentInfo"],
    "renewalInfo": ["offerType", "offerIdentifier", "offerDiscountType", "offerPeriod", "renewalPrice", "expirationIntent",
                    "isInBillingRetryPeriod", "priceIncreaseStatus", "eligibleWinBackOfferIds", "appAccountToken",
                    "recentSubscriptionStartDate", "gracePeriodExpiresDate", "renewalBillingPlanType"],
    "appTransaction": ["preorderDate", "originalPlatform", "appTransactionId", "versionExternalIdentifier"],
    "notification": ["subtype", "notificationUUID", "version", "signedDate"],
    "data": ["consumptionRequestReason", "status", "bundleVersion", "appAppleId", "environment", "bundleId"],
}


def member_case(world):
    """A document in which one member has another value, of any type, or is missing."""
    r = world.random
    kind = r.choice(["notification", "otherNotification", "transaction", "renewalInfo", "appTransaction"])
    document = world.document(kind, r.choice(world.sound_chains))
    members, which = document.payload, document.kind
    if kind == "notification" and r.random() < 0.6 and "signedTransactionInfo" in members["data"]:
        part, which = r.choice([("signedTransactionInfo", "transaction"), ("signedRenewalInfo", "renewalInfo")])
        inside = world.payload(which, document.environment)
        transaction = world.payload("transaction", document.environment)
        inside["originalTransactionId"] = transaction["originalTransactionId"]
        title = change_member(r, inside, which)
        both = {"transaction": transaction, "renewalInfo": {
            **world.payload("renewalInfo", document.environment),
            "originalTransactionId": transaction["originalTransactionId"]}, which: inside}
        for field, name_of in [("signedTransactionInfo", "transaction"), ("signedRenewalInfo", "renewalInfo")]:
            members["data"][field] = Document(world.sound, both[name_of], name_of, document.environment).text()
        return f"member of a part, {title}", lambda: document, None
    if document.kind == "notification" and r.random() < 0.5:
        members, which = content(members), "data"
    return f"member, {change_member(r, members, which)}", lambda: document, None


def change_member(r, members, kind):
    member = r.choice(list(members) + OTHER_MEMBERS[kind])
    old = members.get(member)
    if old is not None and r.random() < 0.15:
        del members[member]
        return f"{member} missing"
    value = r.choice(DRAWN_VALUES)
    if isinstance(old, int) and r.random() < 0.4:
        value = old + r.choice([-1, 1, 1000, -86400000, 86400000])
    members[member] = value
    return f"{member} {type(value).__name__}"


class Apple:
    """Apple's library, offline: it checks chains at the signed date, as we do."""

    def __init__(self, root):
        self.verifiers = {
            environment: SignedDataVerifier([root], False, Environment(environment), BUNDLE, APPLE_ID)
            for environment in ("Production", "Sandbox")
        }

    def verdict(self, text, kind, environment):
        """What it says against it, nil when it accepts, and what it decoded by kind."""
        verifier, decoded = self.verifiers[environment], {}
        try:
            if kind == "notification":
                whole = decoded["notification"] = verifier.verify_and_decode_notification(text)
                for part, content in [("transaction", whole.data and whole.data.signedTransactionInfo),
                                      ("renewalInfo", whole.data and whole.data.signedRenewalInfo),
                                      ("appTransaction", whole.appData and whole.appData.signedAppTransactionInfo)]:
                    if content is not None:
                        decoded[part] = self.decoded(verifier, content, part)
            else:
                decoded[kind] = self.decoded(verifier, text, kind)
        except VerificationException as refusal:
            return refusal.status.name, {}
        except Exception as error:  # what its decoder throws at fields of another type, unwrapped
            return type(error).__name__, {}
        return None, decoded

    @staticmethod
    def decoded(verifier, text, kind):
        return {"transaction": verifier.verify_and_decode_signed_transaction,
                "renewalInfo": verifier.verify_and_decode_renewal_info,
                "appTransaction": verifier.verify_and_decode_app_transaction}[kind](text)


def milliseconds(text):
    """Milliseconds since 1970 of an RFC 3339 time; None stays None."""
    if text is None:
        return None
    instant = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (instant - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(milliseconds=1)


STATUS = {1: "active", 2: "expired", 3: "retry", 4: "grace", 5: "revoked"}
PLANS = {"Auto-Renewable Subscription": "autoRenewable", "Non-Renewing Subscription": "nonRenewing",
         "Non-Consumable": "nonConsumable", "Consumable": "consumable"}


def unequal(ours, theirs, document):
    """The values that Tideover and Apple's library decoded differently, as (name, ours, Apple's)."""
    whole = theirs[document.kind]
    dated = whole.receiptCreationDate if document.kind == "appTransaction" else whole.signedDate
    pairs = [("kind", ours["kind"], document.kind), ("signedAt", milliseconds(ours["signedAt"]), dated),
             ("environment", ours["environment"], document.environment.lower())]
    if document.kind == "notification":
        pairs += [("notificationType", ours["notificationType"], whole.rawNotificationType),
                  ("subtype", ours["subtype"], whole.rawSubtype)]
    transaction, renewal = theirs.get("transaction"), theirs.get("renewalInfo")
    for fact in ours["facts"]:
        if "term" in fact:
            pairs += term_pairs(fact["term"], transaction)
        if "outlook" in fact:
            pairs += outlook_pairs(fact["outlook"], renewal)
        if "revocation" in fact:
            pairs += [("revocation.date", milliseconds(fact["revocation"].get("date")), transaction.revocationDate)]
        if "condition" in fact and document.kind == "notification" and "status" in fact["condition"]:
            pairs += [("status", fact["condition"]["status"], STATUS.get(whole.data.rawStatus))]
        source = transaction or renewal
        pairs += [("lineage.id", fact["lineage"]["id"], source.originalTransactionId)]
        if transaction:
            pairs += [("lineage.ownership", fact["lineage"]["ownership"],
                       "familyShared" if transaction.rawInAppOwnershipType == "FAMILY_SHARED" else "purchased")]
    return [pair for pair in pairs if pair[1] != pair[2]]


def term_pairs(term, theirs):
    price = term.get("price") or {}
    amount = (theirs.price, theirs.currency) if None not in (theirs.price, theirs.currency) else (None, None)
    token = str(theirs.appAccountToken or "").lower()
    pairs = [
        ("transactionId", term.get("transactionId"), theirs.transactionId),
        ("productId", term.get("productId"), theirs.productId),
        ("webOrderLineItemId", term.get("webOrderLineItemId"), theirs.webOrderLineItemId or None),
        ("start", milliseconds(term.get("start")), theirs.purchaseDate),
        ("end", milliseconds(term.get("end")), theirs.expiresDate),
        ("price", (price.get("milliunits"), price.get("currency")), amount),
        ("isUpgraded", term.get("isUpgraded", False), theirs.isUpgraded or False),
        ("group", term.get("group"), theirs.subscriptionGroupIdentifier),
        ("storefront", term.get("storefront"), theirs.storefront),
    ]
    if theirs.rawType in PLANS:
        pairs.append(("plan", term.get("plan"), PLANS[theirs.rawType]))
    if re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", token) and token.strip("0-"):
        pairs.append(("accountToken", str(term.get("accountToken")).lower(), token))
    return pairs


def outlook_pairs(outlook, theirs):
    pairs = [
        ("renewalDate", milliseconds(outlook.get("renewalDate")), theirs.renewalDate),
        ("outlook.productId", outlook.get("productId"), theirs.productId),
        ("renewsInto", outlook.get("renewsInto"), theirs.autoRenewProductId),
        ("isRetrying", outlook.get("isRetrying"), theirs.isInBillingRetryPeriod),
        ("graceEnd", milliseconds(outlook.get("graceEnd")), theirs.gracePeriodExpiresDate),
    ]
    if theirs.rawAutoRenewStatus in (0, 1):
        pairs.append(("willRenew", outlook.get("willRenew"), theirs.rawAutoRenewStatus == 1))
    return pairs


class Tideover:
    """`tideover inspect`, asked about many files at once."""

    def __init__(self, binary, folder, root):
        self.binary, self.folder = binary, folder
        self.root = folder / "root.der"
        self.root.write_bytes(root)

    def verdicts(self, first, texts, environment):
        """The verdicts on texts of one environment, in order; `first` makes the names of files unique."""
        files = [self.folder / f"{environment}-{first + index}.jws" for index in range(len(texts))]
        for file, text in zip(files, texts):
            file.write_text(text)
        # At least two files: for a single file, the JSON object has several lines.
        run = subprocess.run(
            [self.binary, "inspect", *files, self.root, "--root", self.root, "--bundle", BUNDLE, "--app-apple-id",
             str(APPLE_ID), "--environment", environment.lower(), "--json"],
            capture_output=True, text=True, timeout=600)
        for file in files:
            file.unlink()
        if run.returncode not in (0, 1):
            sys.exit(f"inspect ended with {run.returncode}: {run.stderr}\n{texts}")
        answers = [json.loads(line) for line in run.stdout.splitlines()]
        if len(answers) != len(files) + 1 or answers.pop()["verdict"] != "refused":
            sys.exit(f"inspect gave {len(answers)} answers about {len(files)} files")
        return answers


def planted(fault, verdict):
    """The verdict that a Tideover with a fault would give."""
    if fault == "verdict" and verdict.get("reason") == "certificate-malformed":
        return {"verdict": "accepted", "kind": "planted", "signedAt": None, "environment": None,
                "notificationType": None, "subtype": None, "facts": []}
    if fault == "value" and verdict.get("kind") == "transaction":
        for fact in verdict["facts"]:
            if "end" in fact.get("term", {}):
                fact["term"]["end"] = fact["term"]["end"].replace("Z", "").rstrip("0123456789") + "000Z"
    return verdict


BATCH = 100


def judged(options, world, tideover, pool):
    """(name, document, text, Tideover's verdict) of as many inputs as asked for."""
    def ask(number, batch):
        verdicts = [None] * len(batch)
        for environment in ("Production", "Sandbox"):
            chosen = [i for i, (_, document, _) in enumerate(batch) if document.environment == environment]
            if chosen:
                answers = tideover.verdicts(number * BATCH, [batch[i][2] for i in chosen], environment)
                for i, answer in zip(chosen, answers):
                    verdicts[i] = planted(options.planted, answer)
        return zip(batch, verdicts)

    drawn = itertools.islice(drawn_cases(world), options.inputs)
    waiting = collections.deque()
    for number in itertools.count():
        batch = []
        for title, make, change in itertools.islice(drawn, BATCH):
            document = make()
            text = document.text()
            batch.append((title, document, change(text) if change else text))
        if batch:
            waiting.append(pool.submit(ask, number, batch))
        while waiting and (len(waiting) > 2 or not batch):
            yield from waiting.popleft().result()
        if not batch:
            return


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--inputs", type=int, default=2400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--planted", choices=["verdict", "value"],
                        help="change Tideover's answers, to show that the difference is found")
    parser.add_argument("--keep", metavar="FOLDER", help="where to keep the inputs that are looser")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # the library warns of some certificates that it accepts
    world = World(options.seed)
    apple = Apple(world.root.der)
    tally, details = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        tideover = Tideover(options.binary, pathlib.Path(folder), world.root.der)
        results = judged(options, world, tideover, pool)
        for count, ((title, document, text), verdict) in enumerate(results, 1):
            if sys.stderr.isatty() and count % 100 == 0:
                print(f"\r{count} of {options.inputs}", end="", file=sys.stderr)
            accepted = verdict["verdict"] == "accepted"
            refusal, decoded = apple.verdict(text, document.kind, document.environment)
            outcome = ("accepted" if accepted else "refused", "accepted" if refusal is None else "refused")
            tally[outcome] += 1
            if outcome == ("accepted", "accepted"):
                compare_values(tally, details, title, verdict, decoded, document)
            elif outcome[0] != outcome[1]:
                ours = verdict.get("reason", "accepted as " + verdict.get("kind", ""))
                details[(outcome[0], title, ours, refusal or "accepted")] += 1
                if accepted and options.keep:
                    pathlib.Path(options.keep, f"{count}.jws").write_text(text)
    return report(tally, details, options)


def compare_values(tally, details, title, verdict, decoded, document):
    differences = unequal(verdict, decoded, document)
    tally["unequal"] += bool(differences)
    for name_of, ours, theirs in differences:
        details[("unequal", title, f"{name_of} {ours!r}", f"{theirs!r}")] += 1


def why_stricter(title, code):
    """The reason on the list for refusing what Apple's library accepts; None where there is none."""
    if title in STRICTER:
        return STRICTER[title]
    for pattern, codes, why in STRICTER_DRAWN:
        if code in codes and re.match(pattern, title):
            return why
    return None


def report(tally, details, options):
    print(f"{options.inputs} inputs of seed {options.seed}:")
    print(f"  both accept {tally['accepted', 'accepted']}, both refuse {tally['refused', 'refused']}")
    unexplained, stricter_for = 0, collections.Counter()
    for (outcome, title, ours, theirs), count in sorted(details.items()):
        if outcome == "accepted":
            print(f"  LOOSER   {count:4}  {title}: ours {ours}, Apple's {theirs}")
        elif outcome == "unequal":
            print(f"  UNEQUAL  {count:4}  {title}: ours {ours}, Apple's {theirs}")
        else:
            why = why_stricter(title, ours)
            if why is None:
                unexplained += count
                print(f"  stricter {count:4}  {title}: {ours}; NOT EXPLAINED")
            else:
                stricter_for[ours, why] += count
    for (code, why), count in sorted(stricter_for.items()):
        print(f"  stricter {count:4}  {code}: {why}")
    looser, stricter = tally["accepted", "refused"], tally["refused", "accepted"]
    print(f"unequal: {tally['unequal']}, unexplained: {unexplained}, stricter: {stricter}, inputs: {options.inputs}")
    print(f"looser: {looser}")
    return 1 if looser or unexplained or tally["unequal"] else 0


if __name__ == "__main__":
    sys.exit(main())
