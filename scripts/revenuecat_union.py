"""Reads answers of RevenueCat's protocol as its SDKs for iOS and Android do.

    python3 scripts/revenuecat_union.py FILE...            prints conclusions, or why one is refused
    python3 scripts/revenuecat_union.py --self-test FOLDER compares with the real decoders' results
    python3 scripts/revenuecat_union.py --planted          only the planted faults, without files
    python3 scripts/revenuecat_union.py --answers FILE     compares answers with the access they state
    python3 scripts/revenuecat_union.py --conclusions FILE prints a JSON line for each answer
    python3 scripts/revenuecat_union.py --planted-cases    prints a JSON line for each planted fault

A FILE is customer info, or an object with `status`, `headers`, `body` and `request`. Without a
request it answers one for customer info. `body_bytes_utf8` in place of `body` is the text of a body
that need not be JSON. It is refused if one of the two decoders would fail or lose data. Then the exit code
is 1. The checker follows a description of the protocol and shares no code with the server. The
self-test needs the folder of golden files. It exits with 75 if the folder is missing. Each line of
--answers is an object with `body`, `time` in milliseconds, and `access` by entitlement. A line of
--conclusions has `response` and `request` like a golden file. Its result has `refusals` and the
conclusions by SDK.
"""

import argparse
import base64
import binascii
import copy
import dataclasses
import datetime
import json
import pathlib
import re
import sys

IOS, ANDROID = "iOS", "Android"
SKIPPED = 75
TRUSTED_FOR = datetime.timedelta(days=3)  # a device then compares with its own clock
SIGNATURE_BYTES = 180

# What happens in a decoder. Every one of these refuses an answer.
FAILS = "the call fails"
CRASHES = "the app crashes"
INFOS = "this and later subscription infos are lost"
DROPPED = "the entry is dropped"
NULL_TEXT = 'null is read as the text "null"'
THROWS = "reading the list throws"
AMBIGUOUS = "the SDKs conclude different things"

PERIODS = ("normal", "intro", "trial", "prepaid")
OWNERSHIPS = ("PURCHASED", "FAMILY_SHARED")
STORES = ("app_store", "mac_app_store", "play_store", "stripe", "promotional", "amazon", "rc_billing",
          "external", "paddle", "test_store", "galaxy")
CURRENCIES = set("""
AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD
CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ
GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR
LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN
PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SOS SRD SSP SVC SYP SZL THB TJS TMT
TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW
""".split())

# Codes of errors that say that a receipt can never become valid. After any other code the purchase
# must be kept: it says nothing about the receipt itself, or is unknown.
FINAL_CODES = {
    7000,  # the key is of another platform
    7102,  # another customer keeps the purchase
    7103,  # forged or foreign evidence
    7106,  # no product of Google Play
    7220, 7256,  # no app user id
    7224, 7225,  # no key
    7226,  # no receipt
    7263, 7264,  # attributes
    7662,  # a store that is not served; Android leaves the purchase alone
}
# The SDKs finish a purchase after these statuses, which no proxy or limit may cause.
NEVER_ON_RECEIPTS = (408, 413, 429)


@dataclasses.dataclass(frozen=True)
class Member:
    """A member of an object: its kind, and the effect on iOS and Android if it is absent or null.

    `pointed` limits the effects of its absence to entries that an entitlement names.
    """

    kind: object
    absent: tuple = ("", "")
    null: tuple = ("", "")
    pointed: bool = False


DATE, TEXT, INTEGER, BOOLEAN, OBJECT, PRICE = "date", "text", "integer", "boolean", "object", "price"
OPTIONAL_DATE, OPTIONAL_TEXT = Member(DATE), Member(TEXT)
BOTH_FAIL = (FAILS, FAILS)

TOP = {
    "request_date": Member(DATE, (FAILS, ""), (FAILS, FAILS)),
    "request_date_ms": Member(INTEGER),
    "subscriber": Member(OBJECT, BOTH_FAIL, BOTH_FAIL),
}
SUBSCRIBER = {
    "original_app_user_id": Member(TEXT, (FAILS, ""), (FAILS, "")),
    "first_seen": Member(DATE, BOTH_FAIL, (FAILS, CRASHES)),
    "subscriptions": Member(OBJECT, ("", FAILS), ("", FAILS)),
    "non_subscriptions": Member(OBJECT, ("", FAILS), ("", FAILS)),
    "entitlements": Member(OBJECT),
    "management_url": OPTIONAL_TEXT,
    "original_application_version": OPTIONAL_TEXT,
    "original_purchase_date": OPTIONAL_DATE,
    "last_seen": OPTIONAL_DATE,
}
SUBSCRIPTION = {
    "purchase_date": Member(DATE, (FAILS, INFOS), (FAILS, INFOS)),
    "original_purchase_date": Member(DATE, ("", FAILS), ("", CRASHES), pointed=True),
    "expires_date": OPTIONAL_DATE,
    "store": Member(TEXT, ("", FAILS), ("", INFOS)),
    "is_sandbox": Member(BOOLEAN, ("", FAILS), ("", FAILS)),
    "period_type": Member(PERIODS, ("", INFOS), ("", INFOS)),
    "ownership_type": Member(OWNERSHIPS, ("", ""), ("", INFOS)),
    "unsubscribe_detected_at": OPTIONAL_DATE,
    "billing_issues_detected_at": OPTIONAL_DATE,
    "grace_period_expires_date": OPTIONAL_DATE,
    "refunded_at": OPTIONAL_DATE,
    "auto_resume_date": OPTIONAL_DATE,
    "product_plan_identifier": Member(TEXT, ("", ""), ("", NULL_TEXT)),
    "store_transaction_id": OPTIONAL_TEXT,
    "display_name": OPTIONAL_TEXT,
    "management_url": OPTIONAL_TEXT,
    "price": Member(PRICE),
}
ONE_TIME = {
    "id": Member(TEXT, (DROPPED, THROWS), (DROPPED, THROWS)),
    "store_transaction_id": Member(TEXT, (DROPPED, "the purchase has no id"), (DROPPED, NULL_TEXT)),
    "purchase_date": Member(DATE, BOTH_FAIL, BOTH_FAIL),
    "original_purchase_date": Member(DATE, ("", FAILS), ("", CRASHES), pointed=True),
    "store": Member(TEXT, ("", FAILS), ("", "")),
    "is_sandbox": Member(BOOLEAN, BOTH_FAIL, BOTH_FAIL),
    "display_name": Member(TEXT, ("", ""), ("", NULL_TEXT)),
    "price": Member(PRICE),
}
ENTITLEMENT = {
    "product_identifier": Member(TEXT, (FAILS, DROPPED), (FAILS, DROPPED)),
    "purchase_date": Member(DATE, ("", FAILS), ("", CRASHES)),
    "expires_date": OPTIONAL_DATE,
    "grace_period_expires_date": OPTIONAL_DATE,
    "product_plan_identifier": Member(TEXT, ("", ""), ("", NULL_TEXT)),
}

DATE_FORM = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?(?:Z|([+-])(\d\d):(\d\d))", re.ASCII)


def date(value):
    """The instant of a date that both decoders accept, else None."""
    found = DATE_FORM.fullmatch(value) if isinstance(value, str) else None
    if not found:
        return None
    numbers, fraction = [int(part) for part in found.groups()[:6]], found[7] or "0"
    try:
        instant = datetime.datetime(*numbers, int(fraction.ljust(6, "0")), datetime.timezone.utc)
    except ValueError:
        return None
    offset = datetime.timedelta(hours=int(found[9] or 0), minutes=int(found[10] or 0))
    return instant - offset if found[8] != "-" else instant + offset


def shown(instant):
    if instant is None:
        return None
    text = instant.isoformat(timespec="microseconds" if instant.microsecond else "seconds")
    return text.replace("+00:00", "Z")


def from_milliseconds(text):
    try:
        return datetime.datetime.fromtimestamp(0, datetime.timezone.utc) + datetime.timedelta(
            milliseconds=int(text))
    except OverflowError:
        return None


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Duplicate(ValueError):
    pass


def unique(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise Duplicate(f"duplicate keys {sorted({n for n in names if names.count(n) > 1})}")
    return found


def not_json(text):
    raise ValueError(f"{text} is no number in JSON")


def decoded(body):
    """The value of a body of bytes, strictly: UTF-8, no duplicate key, no NaN."""
    if not isinstance(body, (bytes, str)):
        return body
    text = body.decode("utf-8") if isinstance(body, bytes) else body
    return json.loads(text, object_pairs_hook=unique, parse_constant=not_json)


class Verdict:
    """Reasons to refuse an answer, notes, and the conclusions of both SDKs if it can be decoded."""

    def __init__(self):
        self.refusals, self.notes, self.places = [], [], set()
        self.ios = self.android = None

    def refuse(self, place, reason, *platforms):
        self.places.add(place)
        self.refusals.append(f"{place}: {reason}" + (f" ({' and '.join(platforms)})" if platforms else ""))

    def note(self, place, reason):
        self.notes.append(f"{place}: {reason}")

    @property
    def refused(self):
        return bool(self.refusals)

    @property
    def conclusions(self):
        return {IOS: self.ios, ANDROID: self.android}

    def active(self, entitlement):
        """Whether the entitlement is active, by each SDK's rule: (iOS, Android)."""
        found = [side["entitlements"].get(entitlement) for side in (self.ios, self.android)]
        return tuple(bool(one and one["isActive"]) for one in found)


class Decoder:
    """Checks the members of customer info by the tables above."""

    def __init__(self, verdict):
        self.verdict = verdict

    def customer(self, body, dated_by_header):
        if not isinstance(body, dict):
            return self.verdict.refuse("body", "is no object", IOS, ANDROID)
        top = TOP if dated_by_header else {**TOP, "request_date": Member(DATE, BOTH_FAIL, BOTH_FAIL)}
        self.members(body, top, "")
        subscriber = body.get("subscriber")
        if not isinstance(subscriber, dict):
            return None
        self.members(subscriber, SUBSCRIBER, "subscriber")
        entitlements = self.entries(subscriber, "entitlements")
        named = {one.get("product_identifier") for one in entitlements.values()
                 if isinstance(one, dict) and isinstance(one.get("product_identifier"), str)}
        for product, one in self.entries(subscriber, "subscriptions").items():
            self.entry(one, SUBSCRIPTION, f"subscriptions.{product}", product in named)
        for product, items in self.entries(subscriber, "non_subscriptions").items():
            place = f"non_subscriptions.{product}"
            if not isinstance(items, list) or not items:
                self.verdict.refuse(place, f"is no list with an entry: {FAILS}", IOS, ANDROID)
                continue
            for number, one in enumerate(items):
                self.entry(one, ONE_TIME, f"{place}[{number}]", product in named)
        for name, one in entitlements.items():
            self.entry(one, ENTITLEMENT, f"entitlements.{name}", True)
        return None

    def entries(self, subscriber, name):
        found = subscriber.get(name)
        return found if isinstance(found, dict) else {}

    def entry(self, value, table, place, pointed):
        if isinstance(value, dict):
            self.members(value, table, place, pointed)
        else:
            self.verdict.refuse(place, f"is no object: {FAILS}", IOS, ANDROID)

    def members(self, value, table, place, pointed=True):
        for name, member in table.items():
            where = f"{place}.{name}" if place else name
            if name not in value:
                if pointed or not member.pointed:
                    self.effects(where, "is missing", member.absent)
            elif value[name] is None:
                self.effects(where, "is null", member.null)
            else:
                self.kind(value[name], member.kind, where)

    def effects(self, place, problem, effects):
        ios, android = effects
        if ios and ios == android:
            self.verdict.refuse(place, f"{problem}: {ios}", IOS, ANDROID)
        else:
            for platform, effect in ((IOS, ios), (ANDROID, android)):
                if effect:
                    self.verdict.refuse(place, f"{problem}: {effect}", platform)

    def kind(self, value, kind, place):
        types = {TEXT: str, BOOLEAN: bool, OBJECT: dict}
        if kind == DATE:
            self.date(value, place)
        elif kind == INTEGER:
            if not is_integer(value):
                self.verdict.refuse(place, f"is no integer: {FAILS}", IOS, ANDROID)
        elif kind == PRICE:
            self.price(value, place)
        elif isinstance(kind, tuple):
            if value not in kind:
                self.verdict.refuse(place, f"{value!r} is not one of {', '.join(kind)}: {INFOS}", ANDROID)
        elif not isinstance(value, types[kind]):
            self.verdict.refuse(place, f"{value!r} is no {kind}: {FAILS}", IOS, ANDROID)
        elif place.endswith(".store") and value not in STORES:
            self.verdict.note(place, f"{value!r} is read as an unknown store")

    def date(self, value, place):
        if date(value) is None:
            self.effects(place, f"{value!r} is no date", (FAILS, CRASHES))
        elif "." in value or not value.endswith("Z"):
            self.verdict.note(place, f"{value} is not in whole seconds of UTC")

    def price(self, value, place):
        if not isinstance(value, dict) or not is_number(value.get("amount")):
            self.verdict.refuse(place, f"has no number `amount`: {FAILS}", IOS)
        elif value.get("currency") not in CURRENCIES:
            effect = INFOS if place.startswith("subscriptions") else THROWS
            self.verdict.refuse(place, f"{value.get('currency')!r} is no currency: {effect}", ANDROID)


class Traps:
    """Refuses answers that both SDKs decode and that then mislead an app."""

    def __init__(self, verdict, subscriber, catalogue):
        self.verdict, self.catalogue = verdict, catalogue or {}
        self.subscriptions = subscriber.get("subscriptions") or {}
        self.one_time = subscriber.get("non_subscriptions") or {}
        self.entitlements = subscriber.get("entitlements") or {}

    def keys(self):
        full = {}
        for product, one in self.subscriptions.items():
            plan = one.get("product_plan_identifier")
            key = f"{product}:{plan}" if plan else product
            if key in full:
                self.verdict.refuse(f"subscriptions.{product}",
                                    f"has the key {key} like {full[key]}: {CRASHES}", IOS)
            full[key] = product
            if ":" in product:
                self.verdict.refuse(f"subscriptions.{product}", "has a base plan in its key")
            if product in self.one_time:
                self.verdict.refuse(f"subscriptions.{product}", f"is in both maps: {AMBIGUOUS}")
        for product, items in self.one_time.items():
            dates = [date(one["purchase_date"]) for one in items]
            if dates != sorted(dates):
                self.verdict.refuse(f"non_subscriptions.{product}", "is not sorted, the oldest first")

    def products(self):
        for name, one in self.entitlements.items():
            place, product = f"entitlements.{name}", one["product_identifier"]
            if product not in self.subscriptions and product not in self.one_time:
                self.verdict.refuse(place, f"{product} is in neither map: the entitlement vanishes",
                                    IOS, ANDROID)
            plans = (one.get("product_plan_identifier"),
                     self.subscriptions.get(product, {}).get("product_plan_identifier"))
            if product in self.subscriptions and plans[0] != plans[1]:
                self.verdict.refuse(place, f"its base plan {plans[0]} is {plans[1]} in the subscription: "
                                    f"{AMBIGUOUS}")
            known = self.known(product, plans[0])
            if known and name not in known.get("entitlements", [name]):
                self.verdict.refuse(place, f"{product} does not unlock it in the catalogue")

    def known(self, product, plan):
        return self.catalogue.get(f"{product}:{plan}" if plan else product)

    def kinds(self):
        """Each product is in the map of its kind."""
        for product, one in self.subscriptions.items():
            known = self.known(product, one.get("product_plan_identifier"))
            if known and known.get("kind", "autoRenewable") != "autoRenewable":
                self.verdict.refuse(f"subscriptions.{product}", "is a one-time product in the catalogue")
        for product in self.one_time:
            known = self.known(product, None)
            if known and known.get("kind", "autoRenewable") == "autoRenewable":
                self.verdict.refuse(f"non_subscriptions.{product}", "is a subscription in the catalogue")

    def dates(self, references):
        """Grace, a refund or a failed renewal that the SDKs ignore."""
        reference = min(references)
        for name, one in self.entitlements.items():
            ends = date(one.get("expires_date"))
            self.grace(f"entitlements.{name}", one, ends, reference)
            if ends in references:
                self.verdict.refuse(f"entitlements.{name}", f"ends at the request date: {AMBIGUOUS}")
        for product, one in self.subscriptions.items():
            place, ends = f"subscriptions.{product}", date(one.get("expires_date"))
            refunded = date(one.get("refunded_at"))
            if refunded and refunded <= reference:
                if ends is None or ends > reference:
                    self.verdict.refuse(place, "is refunded, and both SDKs call it active")
                elif not one.get("unsubscribe_detected_at"):
                    self.verdict.refuse(place, "is refunded, and both SDKs say that it renews")
            if ends in references:
                self.verdict.refuse(place, f"ends at the request date: {AMBIGUOUS}")
            grace = date(one.get("grace_period_expires_date"))
            if grace and ends and grace > reference >= ends:
                self.verdict.note(place, "is in grace, and both SDKs leave it out of the active ones")

    def grace(self, place, one, ends, reference):
        grace = date(one.get("grace_period_expires_date"))
        if grace and ends and grace > reference >= ends:
            self.verdict.refuse(place, "is in grace, and both SDKs call it inactive")


def side(platform, subscriber, reference):
    """The conclusions of one SDK from customer info that it decodes."""
    ios = platform == IOS
    subscriptions = subscriber.get("subscriptions") or {}
    one_time = subscriber.get("non_subscriptions") or {}

    def active(ends):
        return ends is None or (ends >= reference if ios else ends > reference)

    def renews(entry, ends):
        return not (ends is None or entry.get("store") == "promotional"
                    or entry.get("period_type") == "prepaid"
                    or entry.get("unsubscribe_detected_at") or entry.get("billing_issues_detected_at"))

    def info(name, one):
        product = one["product_identifier"]
        ends = date(one.get("expires_date"))
        first, second = (one_time, subscriptions) if ios else (subscriptions, one_time)
        entry = first.get(product) or second.get(product)
        single = isinstance(entry, list)
        entry = entry[-1] if single else entry
        stated = ends if not ios else None if single else date(entry.get("expires_date"))
        period = entry.get("period_type") or "normal"
        ownership = entry.get("ownership_type")
        return {
            "isActive": active(ends), "willRenew": renews(entry, stated), "expirationDate": shown(stated),
            "product": product, "period": period if ios else period.upper(),
            "ownership": ({None: "purchased", "PURCHASED": "purchased", "FAMILY_SHARED": "familyShared"}
                          [ownership] if ios else ownership or "UNKNOWN"),
            "store": entry.get("store"), "sandbox": bool(entry.get("is_sandbox")),
        }

    infos = {product: {"isActive": active(date(one.get("expires_date"))),
                       "willRenew": renews(one, date(one.get("expires_date")))}
             for product, one in subscriptions.items()}
    plans = {product: one.get("product_plan_identifier") for product, one in subscriptions.items()}
    return {
        "reference": shown(reference),
        "entitlements": {name: info(name, one) for name, one in (subscriber.get("entitlements") or {}).items()
                         if one["product_identifier"] in {**subscriptions, **one_time}},
        "activeSubscriptions": sorted(f"{product}:{plans[product]}" if plans[product] else product
                                      for product, one in infos.items() if one["isActive"]),
        "subscriptionInfos": infos,
    }


def lower(headers):
    return {name.lower(): value for name, value in (headers or {}).items()}


def check_headers(verdict, status, headers, method="GET", sent=None):
    """`sent` is the tag of the request; None if it is not known."""
    fields = lower(headers)
    if not fields.get("content-type", "").startswith("application/json") and status != 304:
        verdict.refuse("Content-Type", "is not application/json")
    if not re.fullmatch(r"\d+", fields.get("x-revenuecat-request-time", "0"), re.ASCII):
        verdict.refuse("X-RevenueCat-Request-Time", "is not in decimal digits")
    elif "x-revenuecat-request-time" not in fields:
        verdict.refuse("X-RevenueCat-Request-Time", "is missing")
    if "x-signature" in fields:
        check_signature(verdict, fields["x-signature"])
        if status >= 400:
            verdict.refuse("X-Signature", "is on an error, which is not signed")
    tag = fields.get("x-revenuecat-etag", "")
    if method == "POST" and tag:
        verdict.refuse("X-RevenueCat-ETag", "is on the answer to a POST")
    if status == 304 and not tag:
        verdict.refuse("X-RevenueCat-ETag", "is missing on a 304: iOS asks again")
    elif status == 304 and sent is not None and tag != sent:
        verdict.refuse("X-RevenueCat-ETag", f"is on a 304 to a device that has {sent or 'no tag'}")


def check_signature(verdict, text):
    try:
        value = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return verdict.refuse("X-Signature", f"is no base64: {CRASHES}", ANDROID)
    if len(value) != SIGNATURE_BYTES:
        verdict.refuse("X-Signature", f"has {len(value)} bytes")
    elif not any(value[32:36]):
        verdict.refuse("X-Signature", "has a key that never expires", IOS)
    return None


def check_customer(body, headers=None, *, now=None, verification_failed=False, catalogue=None,
                   stored=False):
    """Customer info as a value or as bytes. Reads the request date of `headers` as the SDKs do.

    `now` is the device's clock, by default the request date. `verification_failed` is the state of
    a native iOS app with the default mode, which ignores the header. `catalogue` has products by
    their full ids, each with `kind` and `entitlements`. `stored` marks a body that a 304 refers to:
    it has the date of an earlier request.
    """
    verdict = Verdict()
    try:
        body = decoded(body)
    except ValueError as error:
        verdict.refuse("body", str(error), IOS, ANDROID)
        return verdict
    time = lower(headers).get("x-revenuecat-request-time", "")
    by_header = from_milliseconds(time) if re.fullmatch(r"\d+", time, re.ASCII) else None
    Decoder(verdict).customer(body, by_header is not None)
    if verdict.refused:
        return verdict
    by_body = date(body.get("request_date"))
    check_request_date(verdict, body, by_body, None if stored else by_header)
    requested = {IOS: by_body if verification_failed or not by_header else by_header,
                 ANDROID: by_header or by_body}
    reference = {platform: at if now is None or now - at <= TRUSTED_FOR else now
                 for platform, at in requested.items()}
    traps = Traps(verdict, body["subscriber"], catalogue)
    traps.keys()
    traps.products()
    traps.kinds()
    traps.dates(set(reference.values()))
    verdict.ios, verdict.android = (side(platform, body["subscriber"], reference[platform])
                                    for platform in (IOS, ANDROID))
    return verdict


def check_request_date(verdict, body, by_body, by_header):
    milliseconds = body.get("request_date_ms")
    second = datetime.timedelta(seconds=1)
    if milliseconds is not None and abs(from_milliseconds(milliseconds) - by_body) >= second:
        verdict.refuse("request_date_ms", "is another instant than request_date")
    if by_header and abs(by_header - by_body) >= second:
        verdict.refuse("X-RevenueCat-Request-Time", "is another instant than request_date")


def check_receipt(status, headers, body, request, platform, *, catalogue=None, **more):
    """The answer to POST /v1/receipts. `request` is the decoded body of the request."""
    if not 200 <= status < 300:
        return check_error(status, headers, body, receipt=True)
    verdict = check_customer(body, headers, catalogue=catalogue, **more)
    check_headers(verdict, status, headers, "POST")
    if verdict.ios is None:
        return verdict
    body = decoded(body)
    check_nested_attribute_errors(verdict, body)
    wanted = request.get("product_ids") or ([request["product_id"]] if request.get("product_id") else [])
    transaction = request.get("transaction_id") if platform == IOS else None
    missing = [product for product in wanted if not listed(body["subscriber"], product, transaction)]
    for product in missing:
        verdict.refuse(f"non_subscriptions.{product}", "lacks the purchase: the app does not unlock it, "
                       "and iOS posts a one-time purchase for ever")
    verdict.ios["finishes"] = not missing
    verdict.android["shouldConsume"] = check_consumption(verdict, body, wanted, catalogue or {})
    return verdict


def check_consumption(verdict, body, wanted, catalogue):
    """The value of `should_consume` for each product of a purchase."""
    purchased = body.get("purchased_products")
    purchased = {} if purchased is None else purchased
    if not isinstance(purchased, dict):
        verdict.refuse("purchased_products", f"is no object: {FAILS}", ANDROID)
        return {}
    flags = {product: one.get("should_consume") if isinstance(one, dict) else None
             for product, one in purchased.items()}
    for product in {**flags, **dict.fromkeys(wanted)}:
        place, flag = f"purchased_products.{product}.should_consume", flags.get(product)
        if not isinstance(flag, bool):
            verdict.refuse(place, "is missing: old SDKs consume it, new ones never do", ANDROID)
        elif product in catalogue and flag != (catalogue[product].get("kind") == "consumable"):
            verdict.refuse(place, f"is {flag}", ANDROID)
    return flags


def listed(subscriber, product, transaction):
    """Whether a purchase is in an answer. iOS finds a one-time purchase by its transaction."""
    if product in (subscriber.get("subscriptions") or {}):
        return True
    entries = (subscriber.get("non_subscriptions") or {}).get(product) or []
    return any(not transaction or one.get("store_transaction_id") == transaction for one in entries)


def check_error(status, headers, body, receipt=False):
    """An answer from 400 on: a JSON body with a code and a message, and a fitting status."""
    verdict = Verdict()
    check_headers(verdict, status, headers)
    if not 400 <= status < 600:
        verdict.refuse("status", f"{status} is no error")
        return verdict
    value = whole(verdict, body)
    if value is None:
        return verdict
    if not is_integer(value.get("code")):
        verdict.refuse("code", "is no integer: an unknown error")
    if not isinstance(value.get("message"), str):
        verdict.refuse("message", "is no text")
    check_attribute_errors(verdict, value, "")
    check_nested_attribute_errors(verdict, value)
    if receipt and status in NEVER_ON_RECEIPTS:
        verdict.refuse("status", f"{status} finishes a purchase that is not stored")
    if receipt and 400 <= status < 500 and value.get("code") not in FINAL_CODES:
        verdict.refuse("status", f"{status} with code {value.get('code')} finishes an unstored purchase")
    return verdict


def whole(verdict, body):
    """The object that a body is; None, and a refusal, if it is none."""
    try:
        value = decoded(body)
    except ValueError as error:
        verdict.refuse("body", f"{error}: {FAILS}", IOS, ANDROID)
        return None
    if not isinstance(value, dict):
        verdict.refuse("body", f"is no object: {FAILS}", IOS, ANDROID)
        return None
    return value


def check_attribute_errors(verdict, value, place):
    errors = value.get("attribute_errors")
    if not isinstance(errors, (list, type(None))):
        verdict.refuse(f"{place}attribute_errors", "is no list")
        return
    for number, one in enumerate(errors or []):
        where = f"{place}attribute_errors[{number}]"
        if not isinstance(one, dict):
            verdict.refuse(where, "is no object")
            continue
        for name in ("key_name", "message"):
            if not isinstance(one.get(name), str):
                verdict.refuse(f"{where}.{name}", "is no text")


def check_nested_attribute_errors(verdict, value):
    """The errors of attributes that come with a receipt. Its answer need not be an error."""
    nested = value.get("attributes_error_response")
    if isinstance(nested, dict):
        check_attribute_errors(verdict, nested, "attributes_error_response.")
    elif nested is not None:
        verdict.refuse("attributes_error_response", "is no object")


class Shape:
    """Checks members of offerings and of the mapping, by their place."""

    def __init__(self, verdict):
        self.verdict = verdict

    def needed(self, value, name, place, kind, platforms=(IOS, ANDROID)):
        """The member of that type; None, and a refusal, if there is none."""
        found = value.get(name)
        if isinstance(found, kind) and not isinstance(found, bool):
            return found
        self.verdict.refuse(place + name, f"is missing, or of another type: {FAILS}", *platforms)
        return None

    def optional(self, value, name, place, kind):
        if value.get(name) is not None:
            return self.needed(value, name, place, kind)
        return None

    def never_null(self, value, name, place):
        """A text that Android reads as "null" if it is null."""
        if name in value and value[name] is None:
            self.verdict.refuse(place + name, NULL_TEXT, ANDROID)
        else:
            self.optional(value, name, place, str)

    def objects(self, value, name, place):
        """The objects of a list, with their places."""
        for number, one in enumerate(self.needed(value, name, place, list) or []):
            where = f"{place}{name}[{number}]"
            if isinstance(one, dict):
                yield one, where + "."
            else:
                self.verdict.refuse(where, f"is no object: {FAILS}", IOS, ANDROID)


def check_offerings(body):
    verdict = Verdict()
    shape, value = Shape(verdict), whole(verdict, body)
    if value is None:
        return verdict
    shape.needed(value, "current_offering_id", "", str, (ANDROID,))
    shape.never_null(value, "web_checkout_url", "")
    for offering, place in shape.objects(value, "offerings", ""):
        for name in ("identifier", "description"):
            shape.needed(offering, name, place, str)
        shape.optional(offering, "metadata", place, dict)
        shape.never_null(offering, "web_checkout_url", place)
        for package, where in shape.objects(offering, "packages", place):
            for name in ("identifier", "platform_product_identifier"):
                shape.needed(package, name, where, str)
            for name in ("platform_product_plan_identifier", "web_checkout_url"):
                shape.never_null(package, name, where)
    placements = shape.optional(value, "placements", "", dict)
    if placements is not None:
        shape.optional(placements, "fallback_offering_id", "placements.", str)
        places = shape.needed(placements, "offering_ids_by_placement", "placements.", dict) or {}
        for name in places:
            shape.optional(places, name, "placements.offering_ids_by_placement.", str)
    targeting = shape.optional(value, "targeting", "", dict)
    if targeting is not None:
        shape.needed(targeting, "revision", "targeting.", int)
        shape.needed(targeting, "rule_id", "targeting.", str)
    return verdict


def check_mapping(body):
    verdict = Verdict()
    shape, value = Shape(verdict), whole(verdict, body)
    mapping = shape.needed(value, "product_entitlement_mapping", "", dict) if value is not None else None
    rekeyed = {}
    for key in mapping or ():
        place = f"product_entitlement_mapping.{key}"
        entry = shape.needed(mapping, key, "product_entitlement_mapping.", dict)
        if entry is None:
            continue
        product = shape.needed(entry, "product_identifier", place + ".", str)
        plan = shape.optional(entry, "base_plan_id", place + ".", str)
        names = shape.needed(entry, "entitlements", place + ".", list)
        if not all(isinstance(name, str) for name in names or ()):
            verdict.refuse(place + ".entitlements", f"has a name that is no text: {FAILS}", IOS, ANDROID)
        if product is None:
            continue
        if key not in (product, f"{product}:{plan}"):
            verdict.refuse(place, f"is neither {product} nor it with its base plan: it is not found", ANDROID)
        elif product not in mapping:
            verdict.refuse(place, f"{product} has no entry under its own id: nothing is unlocked offline",
                           ANDROID)
        elif (product, plan) in rekeyed:
            verdict.refuse(place, f"is the same base plan as {rekeyed[product, plan]}", IOS)
        rekeyed[product, plan] = key
    return verdict


def subject(method, path):
    """The name of what the answer to a request is about."""
    match (method, *path.split("/")[1:]):
        case ("POST", "v1", "receipts"):
            return "receipt"
        case ("POST", "v1", "subscribers", "identify" | "redeem_purchase") | ("GET", "v1", "subscribers", _):
            return "customer"
        case ("GET", "v1", "subscribers", _, "offerings"):
            return "offerings"
        case ("GET", "v1", "product_entitlement_mapping"):
            return "mapping"
    return "other"


def platform_of(headers):
    """The SDK that sent a request: it names its platform, and its key is one of a store."""
    fields = lower(headers)
    if "x-platform" in fields:
        return ANDROID if fields["x-platform"] in ("android", "amazon") else IOS
    is_android = fields.get("authorization", "").startswith(("Bearer goog_", "Bearer amzn_", "Bearer galx_"))
    return ANDROID if is_android else IOS


def check_answer(answer, request=None):
    """Any answer with `status`, `headers` and `body`; `request` as in the golden files.

    Without a request the answer is one to a request for customer info.
    """
    status, headers = answer.get("status", 200), answer.get("headers", {})
    body = answer["body_bytes_utf8"].encode() if "body_bytes_utf8" in answer else answer.get("body")
    sent = lower(request.get("headers")).get("x-revenuecat-etag", "") if request else None
    request = request or {"method": "GET", "path": "/v1/subscribers/u"}
    method, about = request["method"], subject(request["method"], request["path"])
    if about == "receipt":
        platform = platform_of(request.get("headers"))
        return check_receipt(status, headers, body, request.get("body") or {}, platform)
    if status >= 400:
        return check_error(status, headers, body)
    verdict = Verdict()
    if status == 304:
        if body not in (None, b"", ""):
            verdict.refuse("body", "is not empty on a 304")
    elif not 200 <= status < 300:
        verdict.refuse("status", f"{status} is a success to iOS and an error to Android")
    elif about == "customer":
        verdict = check_customer(body, headers)
    elif about == "offerings":
        verdict = check_offerings(body)
    elif about == "mapping":
        verdict = check_mapping(body)
    else:
        whole(verdict, body)
    check_headers(verdict, status, headers, method, sent)
    return verdict


def check_file(path):
    try:
        value = decoded(pathlib.Path(path).read_bytes())
    except ValueError as error:
        verdict = Verdict()
        verdict.refuse("file", str(error))
        return verdict
    if isinstance(value, dict) and "response" in value:
        return check_answer(value["response"], value.get("request"))
    if isinstance(value, dict) and "status" in value:
        return check_answer(value, value.get("request"))
    return check_customer(value)


# ------------------------------------------------------------------------------------------------
# The self-test: the golden files, and one planted fault for each trap.


def observed(value, platform):
    """The conclusions in the form of a golden file."""
    found = {"decode": "ok", "activeSubscriptions": value["activeSubscriptions"], "entitlements": {
        name: {key: item for key, item in one.items() if key not in ("store", "sandbox")}
        for name, one in value["entitlements"].items()}}
    lines = {product: f"active={str(one['isActive']).lower()} renew={str(one['willRenew']).lower()}"
             for product, one in value["subscriptionInfos"].items()}
    found["subscriptionInfos"] = lines if platform == IOS else sorted(f"{k} {v}" for k, v in lines.items())
    if value.get("shouldConsume"):
        items = ", ".join(f"{k}={str(v).lower()}" for k, v in value["shouldConsume"].items())
        found["shouldConsume"] = f"[{items}]"
    return found


def golden(path):
    """Lists what differs between the checker and a golden file."""
    file = decoded(path.read_bytes())
    if not file.get("response"):
        return []
    if "root_public_key_base64" in file:  # the parts of a signature, not a whole answer
        check_signature(verdict := Verdict(), file["response"]["headers"]["X-Signature"])
    else:
        verdict = check_answer(file["response"], file.get("request"))
    wrong = file.get("level") == "NEVER"
    problems = [] if verdict.refused == wrong else [
        "is not refused" if wrong else f"is refused: {'; '.join(verdict.refusals)}"]
    for platform, name in ((IOS, "purchases-ios"), (ANDROID, "purchases-android")):
        real = (file.get("observed_with_real_decoders") or {}).get(name)
        if real is None:
            continue
        if isinstance(real["subscriptionInfos"], list):
            real = {**real, "subscriptionInfos": sorted(real["subscriptionInfos"])}
        mine = observed(verdict.conclusions[platform], platform) if verdict.ios else {"decode": "refused"}
        problems += [f"{platform}: {key} is {mine.get(key)}, and {value} in the real decoder"
                     for key, value in real.items() if mine.get(key) != value]
    return problems


SUB, NON, PRO = "subscriptions", "non_subscriptions", "cards.pro.monthly"
BASE = {
    "request_date": "2031-05-06T10:00:00Z", "request_date_ms": 1_935_828_000_000, "subscriber": {
        "original_app_user_id": "u_42", "first_seen": "2031-01-17T09:58:00Z",
        "last_seen": "2031-05-06T10:00:00Z", "management_url": None, "subscriptions": {
            "cards.pro.monthly": {
                "purchase_date": "2031-04-17T10:00:00Z", "original_purchase_date": "2031-01-17T10:00:00Z",
                "expires_date": "2031-05-17T10:00:00Z", "store": "app_store", "is_sandbox": False,
                "period_type": "normal", "ownership_type": "PURCHASED"}},
        "entitlements": {"premium": {
            "product_identifier": "cards.pro.monthly", "purchase_date": "2031-04-17T10:00:00Z",
            "expires_date": "2031-05-17T10:00:00Z"}}}}
COIN = {"id": "a", "store_transaction_id": "7", "purchase_date": "2031-02-03T08:30:00Z",
        "original_purchase_date": "2031-02-03T08:30:00Z", "store": "app_store", "is_sandbox": False}
PATHS = {
    "subscription": ("subscriber", SUB, PRO), "entitlement": ("subscriber", "entitlements", "premium"),
    "coin": ("subscriber", NON, "coins", 0), "subscriber": ("subscriber",), "top": (),
}
MISSING = object()
# Where, which member, its planted value, and whether it must be refused. From the description's
# table of members, one line for each way in which an answer misleads or breaks an app.
PLANTED = [
    ("top", "request_date", None, True), ("top", "request_date", MISSING, True),
    ("top", "request_date_ms", MISSING, False), ("top", "request_date_ms", "1", True),
    ("top", "subscriber", MISSING, True), ("top", "unknown", 1, False),
    ("subscriber", "original_app_user_id", MISSING, True), ("subscriber", "first_seen", MISSING, True),
    ("subscriber", "first_seen", None, True), ("subscriber", "first_seen", "2031-01-17 09:58:00Z", True),
    ("subscriber", "first_seen", "2031-01-17", True), ("subscriber", "first_seen", "", True),
    ("subscriber", "first_seen", 1935828000, True),
    ("subscriber", "first_seen", "2031-02-30T10:00:00Z", True),
    ("subscriber", "first_seen", "2031-01-17T09:58:00+02:00", False),
    ("subscriber", "first_seen", "2031-01-17T09:58:00.123456Z", False),
    ("subscriber", "first_seen", "2031-01-17T09:58:00.1234567Z", True),
    ("subscriber", SUB, MISSING, True), ("subscriber", SUB, None, True),
    ("subscriber", NON, MISSING, True), ("subscriber", NON, {"coins": []}, True),
    ("subscriber", "entitlements", MISSING, False), ("subscriber", "entitlements", None, False),
    ("subscriber", "management_url", "not a URL", False), ("subscriber", "last_seen", MISSING, False),
    ("subscription", "purchase_date", MISSING, True), ("subscription", "purchase_date", None, True),
    ("subscription", "original_purchase_date", MISSING, True),
    ("subscription", "original_purchase_date", None, True),
    ("subscription", "expires_date", MISSING, False), ("subscription", "expires_date", "soon", True),
    ("subscription", "store", MISSING, True), ("subscription", "store", None, True),
    ("subscription", "store", "corner_shop", False), ("subscription", "is_sandbox", MISSING, True),
    ("subscription", "is_sandbox", 0, True), ("subscription", "period_type", MISSING, True),
    ("subscription", "period_type", "yearly", True), ("subscription", "ownership_type", MISSING, False),
    ("subscription", "ownership_type", None, True), ("subscription", "ownership_type", "RENTED", True),
    ("subscription", "product_plan_identifier", None, True),
    ("subscription", "product_plan_identifier", "monthly", True),  # the entitlement lacks it
    ("subscription", "store_transaction_id", 740000900001111, True),
    ("subscription", "store_transaction_id", None, False), ("subscription", "display_name", None, False),
    ("subscription", "price", {"amount": 4.99, "currency": "EUR"}, False),
    ("subscription", "price", {"amount": "4.99", "currency": "EUR"}, True),
    ("subscription", "price", {"amount": 4.99, "currency": "XYZ"}, True),
    ("subscription", "price", None, False), ("subscription", "refunded_at", "2031-05-02T09:00:00Z", True),
    ("entitlement", "product_identifier", MISSING, True), ("entitlement", "product_identifier", None, True),
    ("entitlement", "product_identifier", "cards.other", True),
    ("entitlement", "purchase_date", MISSING, True), ("entitlement", "purchase_date", None, True),
    ("entitlement", "expires_date", None, False),
    ("entitlement", "expires_date", "2031-05-06T10:00:00Z", True),  # the request date itself
    ("entitlement", "product_plan_identifier", None, True),
    ("coin", "id", MISSING, True), ("coin", "id", 1, True), ("coin", "store_transaction_id", MISSING, True),
    ("coin", "store_transaction_id", None, True), ("coin", "store_transaction_id", 7, True),
    ("coin", "purchase_date", MISSING, True), ("coin", "original_purchase_date", MISSING, False),
    ("coin", "store", MISSING, True), ("coin", "store", None, False), ("coin", "is_sandbox", MISSING, True),
    ("coin", "display_name", None, True), ("coin", "price", {"amount": 1, "currency": "NONE"}, True),
]


HEADERS = {"Content-Type": "application/json", "X-RevenueCat-Request-Time": "1935828000000"}
SIGNATURE = base64.b64encode(bytes(32) + b"\1\0\0\0" + bytes(144)).decode()
OFFERINGS = {
    "current_offering_id": "default", "offerings": [{
        "identifier": "default", "description": "Standard", "metadata": {}, "packages": [
            {"identifier": "$rc_monthly", "platform_product_identifier": "cards_pro",
             "platform_product_plan_identifier": "monthly"}]}],
    "placements": {"fallback_offering_id": "default", "offering_ids_by_placement": {"home": "default"}}}
MAPPING = {"product_entitlement_mapping": {
    "cards_pro": {"product_identifier": "cards_pro", "base_plan_id": "monthly", "entitlements": ["premium"]},
    "cards_pro:yearly": {"product_identifier": "cards_pro", "base_plan_id": "yearly",
                         "entitlements": ["premium"]},
    "lifetime": {"product_identifier": "lifetime", "entitlements": ["premium"]}}}
OFFERING, PACKAGE = "body/offerings/0", "body/offerings/0/packages/0"
ENTRIES = "body/product_entitlement_mapping"
SENT_TAG, TAG = "request/headers/X-RevenueCat-ETag", "headers/X-RevenueCat-ETag"
SUBSCRIBER_PATH = "body/subscriber"
NOW, PAST = BASE["request_date"], "2031-05-02T09:00:00Z"
REFUNDED = {**BASE["subscriber"][SUB][PRO], "expires_date": PAST, "refunded_at": PAST}
IN_GRACE = {**BASE["subscriber"]["entitlements"]["premium"], "expires_date": PAST,
            "grace_period_expires_date": "2031-05-17T10:00:00Z"}
CONSUMED, NESTED = "body/purchased_products", "body/attributes_error_response"
# An exchange, the path of a member in its answer or after `request/`, the planted value, and the only
# place that is refused; None if the answer must be accepted.
PLANTED_ANSWERS = [
    ("customer", "status", 302, "status"), ("customer", "headers/X-Signature", SIGNATURE, None),
    ("customer", "headers/X-Signature", "*", "X-Signature"),
    ("customer", "headers/X-Signature", "AAAA", "X-Signature"),
    ("customer", "headers/X-Signature", base64.b64encode(bytes(180)).decode(), "X-Signature"),
    ("customer", "headers/Content-Type", MISSING, "Content-Type"),
    ("customer", "headers/Content-Type", "application/json; charset=utf-8", None),
    ("customer", "headers/X-RevenueCat-Request-Time", "1935914400000", "X-RevenueCat-Request-Time"),
    ("customer", "body_bytes_utf8", "", "body"), ("customer", "body_bytes_utf8", "[]", "body"),
    ("customer", "body_bytes_utf8", '{"request_date": 1, "request_date": 2}', "body"),
    ("customer", "body/request_date_ms", 1, "request_date_ms"),
    ("customer", f"{SUBSCRIBER_PATH}/{SUB}/{PRO}", 1, f"{SUB}.{PRO}"),
    ("customer", f"{SUBSCRIBER_PATH}/{SUB}/{PRO}/expires_date", NOW, f"{SUB}.{PRO}"),
    ("customer", f"{SUBSCRIBER_PATH}/{SUB}/{PRO}", REFUNDED, f"{SUB}.{PRO}"),
    ("customer", f"{SUBSCRIBER_PATH}/{SUB}/{PRO}", REFUNDED | {"unsubscribe_detected_at": PAST}, None),
    ("customer", f"{SUBSCRIBER_PATH}/entitlements/premium", IN_GRACE, "entitlements.premium"),
    ("customer", f"{SUBSCRIBER_PATH}/entitlements/premium", [], "entitlements.premium"),
    ("customer", f"{SUBSCRIBER_PATH}/{NON}/coins", {"a": 1}, f"{NON}.coins"),
    ("customer", f"{SUBSCRIBER_PATH}/{NON}/coins/0", 1, f"{NON}.coins[0]"),
    ("identify", "status", 201, None), ("identify", "body/subscriber", MISSING, "subscriber"),
    ("identify", TAG, "9a03", "X-RevenueCat-ETag"),
    ("other", "body_bytes_utf8", "", "body"), ("other", "body", [], "body"),
    ("other", "body", {"a": 1}, None),

    ("unchanged", "headers/Content-Type", MISSING, None), ("unchanged", TAG, MISSING, "X-RevenueCat-ETag"),
    ("unchanged", TAG, "", "X-RevenueCat-ETag"), ("unchanged", TAG, "other", "X-RevenueCat-ETag"),
    ("unchanged", SENT_TAG, "", "X-RevenueCat-ETag"), ("unchanged", SENT_TAG, MISSING, "X-RevenueCat-ETag"),
    ("unchanged", "headers/X-RevenueCat-Request-Time", MISSING, "X-RevenueCat-Request-Time"),
    ("unchanged", "body_bytes_utf8", "{}", "body"),

    ("offerings", "body", [], "body"), ("offerings", "body/unknown", 1, None),
    ("offerings", "body/current_offering_id", MISSING, "current_offering_id"),
    ("offerings", "body/current_offering_id", None, "current_offering_id"),
    ("offerings", "body/current_offering_id", "", None),
    ("offerings", "body/offerings", MISSING, "offerings"), ("offerings", "body/offerings", {}, "offerings"),
    ("offerings", "body/offerings", [], None), ("offerings", OFFERING, "default", "offerings[0]"),
    ("offerings", f"{OFFERING}/identifier", MISSING, "offerings[0].identifier"),
    ("offerings", f"{OFFERING}/description", None, "offerings[0].description"),
    ("offerings", f"{OFFERING}/metadata", None, None), ("offerings", f"{OFFERING}/metadata", MISSING, None),
    ("offerings", f"{OFFERING}/metadata", [], "offerings[0].metadata"),
    ("offerings", f"{OFFERING}/web_checkout_url", None, "offerings[0].web_checkout_url"),
    ("offerings", f"{OFFERING}/web_checkout_url", "https://example.org", None),
    ("offerings", f"{OFFERING}/packages", MISSING, "offerings[0].packages"),
    ("offerings", PACKAGE, None, "offerings[0].packages[0]"),
    ("offerings", f"{PACKAGE}/identifier", MISSING, "offerings[0].packages[0].identifier"),
    ("offerings", f"{PACKAGE}/platform_product_identifier", None,
     "offerings[0].packages[0].platform_product_identifier"),
    ("offerings", f"{PACKAGE}/platform_product_plan_identifier", None,
     "offerings[0].packages[0].platform_product_plan_identifier"),
    ("offerings", f"{PACKAGE}/platform_product_plan_identifier", MISSING, None),
    ("offerings", f"{PACKAGE}/web_checkout_url", None, "offerings[0].packages[0].web_checkout_url"),
    ("offerings", "body/web_checkout_url", None, "web_checkout_url"),
    ("offerings", "body/placements", MISSING, None), ("offerings", "body/placements", [], "placements"),
    ("offerings", "body/placements/fallback_offering_id", 5, "placements.fallback_offering_id"),
    ("offerings", "body/placements/offering_ids_by_placement", MISSING,
     "placements.offering_ids_by_placement"),
    ("offerings", "body/placements/offering_ids_by_placement/home", 5,
     "placements.offering_ids_by_placement.home"),
    ("offerings", "body/targeting", {"revision": 1, "rule_id": "a"}, None),
    ("offerings", "body/targeting", {"revision": "1", "rule_id": "a"}, "targeting.revision"),
    ("offerings", "body/targeting", {"revision": 1}, "targeting.rule_id"),

    ("mapping", ENTRIES, {}, None), ("mapping", ENTRIES, MISSING, "product_entitlement_mapping"),
    ("mapping", ENTRIES, [], "product_entitlement_mapping"),
    ("mapping", f"{ENTRIES}/lifetime", [], "product_entitlement_mapping.lifetime"),
    ("mapping", f"{ENTRIES}/lifetime/product_identifier", MISSING,
     "product_entitlement_mapping.lifetime.product_identifier"),
    ("mapping", f"{ENTRIES}/lifetime/product_identifier", "cards_pro",
     "product_entitlement_mapping.lifetime"),
    ("mapping", f"{ENTRIES}/lifetime/base_plan_id", 5, "product_entitlement_mapping.lifetime.base_plan_id"),
    ("mapping", f"{ENTRIES}/lifetime/entitlements", MISSING,
     "product_entitlement_mapping.lifetime.entitlements"),
    ("mapping", f"{ENTRIES}/lifetime/entitlements", [1], "product_entitlement_mapping.lifetime.entitlements"),
    ("mapping", f"{ENTRIES}/lifetime/entitlements", [], None),
    ("mapping", f"{ENTRIES}/cards_pro", MISSING, "product_entitlement_mapping.cards_pro:yearly"),
    ("mapping", f"{ENTRIES}/cards_pro:yearly/base_plan_id", "weekly",
     "product_entitlement_mapping.cards_pro:yearly"),
    ("mapping", f"{ENTRIES}/cards_pro:yearly/base_plan_id", MISSING,
     "product_entitlement_mapping.cards_pro:yearly"),
    ("mapping", f"{ENTRIES}/cards_pro:monthly", MAPPING["product_entitlement_mapping"]["cards_pro"],
     "product_entitlement_mapping.cards_pro:monthly"),

    ("error", "body_bytes_utf8", "", "body"), ("error", "body_bytes_utf8", "<html>", "body"),
    ("error", "body", [], "body"), ("error", "body/code", MISSING, "code"),
    ("error", "body/code", "7225", "code"),
    ("error", "body/message", None, "message"), ("error", "status", 429, None),
    ("error", "headers/Content-Type", "text/html", "Content-Type"),
    ("error", "headers/X-RevenueCat-Request-Time", MISSING, "X-RevenueCat-Request-Time"),
    ("error", "headers/X-RevenueCat-Request-Time", "", "X-RevenueCat-Request-Time"),
    ("error", "headers/X-RevenueCat-Request-Time", "-1", "X-RevenueCat-Request-Time"),
    ("error", "headers/X-RevenueCat-Request-Time", "1935828000.5", "X-RevenueCat-Request-Time"),
    ("error", "headers/X-Signature", SIGNATURE, "X-Signature"),
    ("error", "body/attribute_errors", [{"key_name": "a", "message": "b"}], None),
    ("error", "body/attribute_errors", {}, "attribute_errors"),
    ("error", "body/attribute_errors", ["a"], "attribute_errors[0]"),
    ("error", "body/attribute_errors", [{"key_name": "a"}], "attribute_errors[0].message"),
    ("error", "body/attribute_errors", [{"message": "b"}], "attribute_errors[0].key_name"),

    ("iOS receipt", TAG, "9a03", "X-RevenueCat-ETag"),
    ("iOS receipt", "body/subscriber", MISSING, "subscriber"),
    ("iOS receipt", CONSUMED, MISSING, "purchased_products.coins.should_consume"),
    ("iOS receipt", CONSUMED, [], "purchased_products"),
    ("iOS receipt", f"{CONSUMED}/coins", True, "purchased_products.coins.should_consume"),
    ("iOS receipt", f"{CONSUMED}/coins/should_consume", 1, "purchased_products.coins.should_consume"),
    ("iOS receipt", f"{CONSUMED}/other", {}, "purchased_products.other.should_consume"),
    ("iOS receipt", "request/body/transaction_id", "8", "non_subscriptions.coins"),
    ("iOS receipt", "request/body/transaction_id", MISSING, None),
    ("iOS receipt", "body/subscriber/non_subscriptions", {}, "non_subscriptions.coins"),
    ("iOS receipt", "request/body", {"app_user_id": "u_42"}, None),
    ("iOS receipt", "status", 302, "status"),
    ("iOS receipt", NESTED, {"attribute_errors": [{"key_name": "a", "message": "b"}]}, None),
    ("iOS receipt", NESTED, [], "attributes_error_response"),
    ("iOS receipt", NESTED, {"attribute_errors": [{"key_name": "a"}]},
     "attributes_error_response.attribute_errors[0].message"),
    ("Android receipt", "request/body/transaction_id", "8", None),
    ("Android receipt", "request/headers/X-Platform", MISSING, None),
    ("Android receipt", f"{CONSUMED}/coins", MISSING, "purchased_products.coins.should_consume"),
    ("Android receipt", f"{CONSUMED}/{PRO}", MISSING, f"purchased_products.{PRO}.should_consume"),
    ("Android receipt", "body/subscriber/non_subscriptions", {}, "non_subscriptions.coins"),
] + [("refused receipt", "body/code", code, None) for code in sorted(FINAL_CODES)] + [
    ("refused receipt", "body/code", code, "status")
    for code in (7101, 7104, 7107, 7110, 7229, 7230, 7231, 7259, 7629, 7638, 7651, 9999)
] + [("refused receipt", "status", status, "status") for status in NEVER_ON_RECEIPTS] + [
    ("kept receipt", "body/code", code, None) for code in (7101, 7103, 7110, 9999)
] + [("kept receipt", "status", 500, None), ("kept receipt", "body_bytes_utf8", "", "body")]


def planted_exchange(name):
    """A request and its answer without a fault."""
    def exchange(method, path, status, body, platform="iOS", request=None, tag=""):
        key = "goog_test" if platform == "android" else "appl_test"
        sent = {"Authorization": f"Bearer {key}", "X-Platform": platform, "X-RevenueCat-ETag": tag}
        headers = {**HEADERS, "X-RevenueCat-ETag": tag} if tag else HEADERS
        return copy.deepcopy({
            "request": {"method": method, "path": path, "headers": sent, "body": request},
            "response": {"status": status, "headers": headers, "body": body}})

    customer, receipts = planted_base(), "/v1/receipts"
    flags = {PRO: {"should_consume": False}, "coins": {"should_consume": True}}
    sold = {**customer, "purchased_products": flags}
    coins = {"product_id": "coins", "transaction_id": COIN["store_transaction_id"]}
    return {
        "customer": lambda: exchange("GET", "/v1/subscribers/u_42", 200, customer),
        "identify": lambda: exchange("POST", "/v1/subscribers/identify", 200, customer),
        "other": lambda: exchange("POST", "/v1/events", 200, {}),
        "unchanged": lambda: exchange("GET", "/v1/subscribers/u_42", 304, None, tag="9a03"),
        "offerings": lambda: exchange("GET", "/v1/subscribers/u_42/offerings", 200, OFFERINGS),
        "mapping": lambda: exchange("GET", "/v1/product_entitlement_mapping", 200, MAPPING, "android"),
        "error": lambda: exchange("GET", "/v1/subscribers/u_42", 401, {"code": 7225, "message": "No key."}),
        "iOS receipt": lambda: exchange("POST", receipts, 200, sold, request=coins),
        "Android receipt": lambda: exchange(
            "POST", receipts, 200, sold, "android", request={"product_ids": [PRO, "coins"]}),
        "refused receipt": lambda: exchange(
            "POST", receipts, 400, {"code": 7103, "message": "Forged."}, request=coins),
        "kept receipt": lambda: exchange(
            "POST", receipts, 503, {"code": 7110, "message": "Later."}, request=coins),
    }[name]()


def plant(root, path, value):
    """Replaces the member at a path of names and positions, or removes it."""
    *steps, last = path if isinstance(path, tuple) else [
        int(step) if step.isdecimal() else step for step in path.split("/")]
    for step in steps:
        root = root[step]
    if value is MISSING:
        root.pop(last, None)
    else:
        root[last] = copy.deepcopy(value)


def planted_base():
    base = copy.deepcopy(BASE)
    base["subscriber"][NON] = {"coins": [copy.deepcopy(COIN)]}
    return base


def planted_cases():
    """Exchanges with each planted fault: the name, the exchange, whether it must be refused, and the only
    place that is refused, if it is given."""
    for name in dict.fromkeys(["customer", *(row[0] for row in PLANTED_ANSWERS)]):
        yield f"{name} without a fault", planted_exchange(name), False, None
    for place, name, value, refused in PLANTED:
        exchange = planted_exchange("customer")
        plant(exchange["response"]["body"], (*PATHS[place], name), value)
        yield f"{place}.{name} {readable(value)}", exchange, refused, None
    for change in (twice, shared, unsorted):
        exchange = planted_exchange("customer")
        change(exchange["response"]["body"]["subscriber"])
        yield change.__doc__, exchange, True, None
    for name, path, value, place in PLANTED_ANSWERS:
        exchange = planted_exchange(name)
        plant(exchange, path if path.startswith("request/") else f"response/{path}", value)
        yield f"{name}: {path} {readable(value)}", exchange, place is not None, place


def readable(value):
    return "missing" if value is MISSING else json.dumps(value)


def twice(subscriber):
    """two keys that meet with the plan"""
    subscriber[SUB]["a"] = {**subscriber[SUB][PRO], "product_plan_identifier": "monthly"}
    subscriber[SUB]["a:monthly"] = dict(subscriber[SUB][PRO])


def shared(subscriber):
    """an id in both maps"""
    subscriber[NON][PRO] = [dict(COIN)]


def unsorted(subscriber):
    """one-time purchases out of order"""
    subscriber[NON]["coins"].append({**COIN, "id": "b", "purchase_date": "2030-02-03T08:30:00Z"})


def planted():
    """The planted faults that were judged wrongly, and the number of cases."""
    cases = list(planted_cases())
    wrong = [f"{name}: refused at {sorted(verdict.places)}" for name, exchange, refused, place in cases
             for verdict in [check_answer(exchange["response"], exchange["request"])]
             if verdict.refused != refused or place is not None and verdict.places != {place}]
    special = special_cases(planted_base())
    return wrong + [name for name, holds in special.items() if not holds], len(cases) + len(special)


def special_cases(base):
    """Faults that need more than one member, by name, and whether they are judged rightly."""
    def changed(change):
        body = copy.deepcopy(base)
        change(body["subscriber"])
        return check_customer(body)

    at = date("2031-05-17T10:00:00Z")  # the end of the subscription
    late = str(round(at.timestamp() * 1000))
    days = datetime.timedelta(days=1)
    stale = check_customer(base, now=at + 4 * days)
    trusted = check_customer(base, now=date(base["request_date"]) + 3 * days)
    failed = check_customer({**base, "request_date": "2031-05-17T10:00:01Z", "request_date_ms": None},
                            {"X-RevenueCat-Request-Time": late}, verification_failed=True)
    text = json.dumps(base).replace('"first_seen"', '"first_seen": "x", "first_seen"', 1)
    return {
        "the crash by two keys that meet": any(CRASHES in one for one in changed(twice).refusals),
        "a device clock beyond three days": not any(stale.active("premium")),
        "a device clock within three days": all(trusted.active("premium")),
        "the body's date if verification failed": failed.ios["reference"] == "2031-05-17T10:00:01Z",
        "the header's date on Android": failed.android["reference"] == "2031-05-17T10:00:00Z",
        "a header of another day": check_customer(base, {"X-RevenueCat-Request-Time": late}).refused,
        "a duplicate key": check_customer(text).refused,
        "a body that is no UTF-8": check_customer(b'{"a":"\xff"}').refused,
    }


def test_planted():
    wrong, count = planted()
    for problem in wrong:
        print(f"planted: {problem}")
    print(f"planted cases judged rightly: {count - len(wrong)} of {count}")
    return 1 if wrong else 0


def test_golden(folder):
    folder = pathlib.Path(folder)
    paths = sorted(folder.glob("*.json")) if folder.is_dir() else []
    if not paths:
        print(f"skipped: there are no golden files of RevenueCat's decoders in {folder}")
        return SKIPPED
    agreed = 0
    for path in paths:
        problems = golden(path)
        agreed += not problems
        for problem in problems:
            print(f"{path.name}: {problem}")
    print(f"golden files that agree: {agreed} of {len(paths)}")
    return 0 if agreed == len(paths) else 1


def test_answers(path):
    """Compares what both SDKs conclude from each answer with the access that it states."""
    wrong = count = 0
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            answer = json.loads(line)
            verdict = check_customer(answer["body"], {"X-RevenueCat-Request-Time": answer["time"]})
            problems = list(verdict.refusals) if verdict.refused else [
                f"{name} is {verdict.active(name)}, access is {access}"
                for name, access in answer["access"].items() if verdict.active(name) != (access, access)]
            count += 1
            wrong += bool(problems)
            for problem in problems[:3] if wrong <= 10 else ():
                print(f"line {number}: {problem}")
    print(f"answers that agree: {count - wrong} of {count}")
    return 1 if wrong or not count else 0


def print_conclusions(path):
    """Prints what both SDKs conclude from each answer, in the form of the golden files."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            exchange = decoded(line)
            verdict = check_answer(exchange["response"], exchange.get("request"))
            found = {"refusals": verdict.refusals}
            for platform, name in ((IOS, "purchases-ios"), (ANDROID, "purchases-android")):
                if verdict.ios:
                    found[name] = observed(verdict.conclusions[platform], platform)
            print(json.dumps(found))
    return 0


def print_planted_cases():
    for name, exchange, refused, _ in planted_cases():
        places = sorted(check_answer(exchange["response"], exchange["request"]).places)
        print(json.dumps({"name": name, **exchange, "refused": refused, "places": places}))
    return 0


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("files", nargs="*", metavar="FILE")
    options.add_argument("--self-test", metavar="FOLDER")
    options.add_argument("--planted", action="store_true")
    options.add_argument("--answers", metavar="FILE")
    options.add_argument("--conclusions", metavar="FILE")
    options.add_argument("--planted-cases", action="store_true")
    chosen = options.parse_args()
    if chosen.planted or chosen.self_test:
        planted_code = test_planted()
        return planted_code or (test_golden(chosen.self_test) if chosen.self_test else 0)
    if chosen.answers:
        return test_answers(chosen.answers)
    if chosen.conclusions:
        return print_conclusions(chosen.conclusions)
    if chosen.planted_cases:
        return print_planted_cases()
    if not chosen.files:
        options.error("name a file, or --self-test and a folder, or --planted")
    refused = 0
    for path in chosen.files:
        verdict = check_file(path)
        refused += verdict.refused
        print(json.dumps({"file": path, "refusals": verdict.refusals, "notes": verdict.notes,
                          **verdict.conclusions}, indent=2))
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
