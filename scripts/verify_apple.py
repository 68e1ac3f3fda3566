"""Asks Apple's own library whether it believes and understands what the simulated App Store says.

Run by scripts/verify-apple.sh, which installs what it imports and has the files written that are read here.
Apple's `SignedDataVerifier` must believe each signed document, given the simulated store's root, and refuse
it under another root, for the other environment, and with one bit changed in its header, payload or
signature. Apple's client is told to make each call that was made: it must ask for the same, and read the
answer into its models, which written as JSON again must be what was answered: nothing left over, no word
that they have no name for.
"""

import argparse
import base64
import collections
import json
import pathlib
import random
import sys
import warnings

import attr
import requests
from appstoreserverlibrary import api_client
from appstoreserverlibrary.models import (
    ConsumptionRequest, ExtendRenewalDateRequest, MassExtendRenewalDateRequest, NotificationHistoryRequest,
    TransactionHistoryRequest, UpdateAppAccountTokenRequest)
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.LibraryUtility import _get_cattrs_converter
from appstoreserverlibrary.receipt_utility import ReceiptUtility
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from compare_apple import b64url, mint

# The required contents of a recording, so that missing data is not taken for agreement.
NOTIFICATIONS = [
    "CONSUMPTION_REQUEST", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_PREF/DOWNGRADE",
    "DID_CHANGE_RENEWAL_PREF/UPGRADE", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED",
    "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED", "DID_FAIL_TO_RENEW", "DID_FAIL_TO_RENEW/GRACE_PERIOD",
    "DID_RENEW", "DID_RENEW/BILLING_RECOVERY", "EXPIRED/BILLING_RETRY", "EXPIRED/PRICE_INCREASE",
    "EXPIRED/PRODUCT_NOT_FOR_SALE", "EXPIRED/VOLUNTARY", "GRACE_PERIOD_EXPIRED", "OFFER_REDEEMED",
    "ONE_TIME_CHARGE", "PRICE_INCREASE/ACCEPTED", "PRICE_INCREASE/PENDING", "REFUND",
    "REFUND_DECLINED", "REFUND_REVERSED", "RENEWAL_EXTENDED", "RENEWAL_EXTENSION/FAILURE",
    "RENEWAL_EXTENSION/SUMMARY", "REVOKE", "SUBSCRIBED/INITIAL_BUY", "SUBSCRIBED/RESUBSCRIBE", "TEST",
]

# The members with signed documents in notifications and answers, and their kinds.
SIGNED = {
    "signedPayload": "notification", "signedTransactionInfo": "transaction", "signedTransactions": "transaction",
    "signedRenewalInfo": "renewal", "signedAppTransactionInfo": "app transaction",
}


def read(model, text):
    return _get_cattrs_converter(model).structure(text, model)


class Exchange:
    """What was asked of the Server API, and the answer."""

    def __init__(self, recorded):
        self.__dict__.update(recorded)
        self.ids = self.path.split("/")
        self.query = [tuple(item) for item in self.query]

    def value(self, name):
        return dict(self.query).get(name)


# The call of Apple's client for each request; ids are segments of the path, counted from its end.
CALLS = {
    "subscriptionStatuses": lambda c, e: c.get_all_subscription_statuses(e.ids[-1]),
    "transactionHistory": lambda c, e: c.get_transaction_history(
        e.ids[-1], e.value("revision"), TransactionHistoryRequest.TransactionHistoryRequest(),
        api_client.GetTransactionHistoryVersion.V2),
    "transactionInfo": lambda c, e: c.get_transaction_info(e.ids[-1]),
    "appTransaction": lambda c, e: c.get_app_transaction_info(e.ids[-1]),
    "setAppAccountToken": lambda c, e: c.set_app_account_token(
        e.ids[-2], read(UpdateAppAccountTokenRequest.UpdateAppAccountTokenRequest, e.body)),
    "finishTransaction": lambda c, e: c.finish_transaction(e.ids[-2]),
    "consumptionInfo": lambda c, e: c.send_consumption_information(
        e.ids[-1], read(ConsumptionRequest.ConsumptionRequest, e.body)),
    "orderLookup": lambda c, e: c.look_up_order_id(e.ids[-1]),
    "refundHistory": lambda c, e: c.get_refund_history(e.ids[-1], e.value("revision")),
    "extendRenewalDate": lambda c, e: c.extend_subscription_renewal_date(
        e.ids[-1], read(ExtendRenewalDateRequest.ExtendRenewalDateRequest, e.body)),
    "extendAllRenewalDates": lambda c, e: c.extend_renewal_date_for_all_active_subscribers(
        read(MassExtendRenewalDateRequest.MassExtendRenewalDateRequest, e.body)),
    "massExtensionStatus": lambda c, e: c.get_status_of_subscription_renewal_date_extensions(
        e.ids[-1], e.ids[-2]),
    "notificationHistory": lambda c, e: c.get_notification_history(
        e.value("paginationToken"), read(NotificationHistoryRequest.NotificationHistoryRequest, e.body)),
    "requestTestNotification": lambda c, e: c.request_test_notification(),
    "testNotificationStatus": lambda c, e: c.get_test_notification_status(e.ids[-1]),
}


class Client(api_client.AppStoreServerAPIClient):
    """Apple's client, whose requests go no further than to what was recorded."""

    exchange = None

    def _execute_request(self, method, url, params, headers, json, data):
        exchange = self.exchange
        query = [(name, value) for name, values in params.items() for value in values]
        asked = (method, requests.utils.urlparse(url).path, query, json)
        recorded = (exchange.method, exchange.path, exchange.query, exchange.body)
        if asked != recorded:
            raise ValueError(f"Apple's client asks for {asked}, recorded is {recorded}")
        return Answer(exchange)


class Answer:
    def __init__(self, exchange):
        self.status_code = exchange.status
        self.headers = {"content-type": exchange.type} if exchange.type else {}
        self.json = lambda: exchange.answer


def differences(model, raw):
    """Where a model is not what it was read from, and the words it has no name for."""
    again = _get_cattrs_converter(type(model)).unstructure(model)
    return list(unlike(again, raw, "")) + list(nameless(model, ""))


def unlike(again, raw, path):
    if isinstance(again, dict) and isinstance(raw, dict):
        for name in {**raw, **again}:
            if name not in again:
                yield f"{path}.{name} is left over"
            elif name not in raw:
                yield f"{path}.{name} was added"
            else:
                yield from unlike(again[name], raw[name], f"{path}.{name}")
    elif isinstance(again, list) and isinstance(raw, list) and len(again) == len(raw):
        for number, pair in enumerate(zip(again, raw)):
            yield from unlike(*pair, f"{path}[{number}]")
    elif again != raw or type(again) is not type(raw):
        yield f"{path} is {raw!r}, read as {again!r}"


def nameless(model, path):
    if isinstance(model, list):
        for number, item in enumerate(model):
            yield from nameless(item, f"{path}[{number}]")
    elif attr.has(type(model)):
        for field in attr.fields(type(model)):
            value = getattr(model, field.name)
            if field.metadata.get("typeOfField") != "raw":
                yield from nameless(value, f"{path}.{field.name}")
            elif value is not None and getattr(model, field.metadata["correspondingFieldName"]) is None:
                yield f"{path}.{field.metadata['correspondingFieldName']} has no name for {value!r}"


def signed_in(value, name=None):
    """Every signed document in what was said, with its kind."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from signed_in(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from signed_in(item, name)
    elif name in SIGNED:
        yield SIGNED[name], value


def payload_of(text):
    part = text.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def damaged(text, chance):
    """The document with one bit changed, once in each of its three parts."""
    for place in range(3):
        parts = text.split(".")
        part = bytearray(base64.urlsafe_b64decode(parts[place] + "=" * (-len(parts[place]) % 4)))
        bit = chance.randrange(8 * len(part))
        part[bit // 8] ^= 1 << bit % 8
        parts[place] = b64url(bytes(part))
        yield ("header", "payload", "signature")[place], ".".join(parts)


class Judge:
    """Judges one recording; what it finds wrong is told once for each kind, with how often."""

    def __init__(self, recording, stranger):
        self.recording = recording
        self.environment = Environment(recording["environment"])
        other = Environment.SANDBOX if self.environment == Environment.PRODUCTION else Environment.PRODUCTION
        root = base64.b64decode(recording["root"])
        self.verifier = self.verifier_for(root, self.environment)
        self.others = {"of another root": self.verifier_for(stranger, self.environment),
                       "of the other environment": self.verifier_for(root, other)}
        self.chance = random.Random(1)
        self.documents, self.kinds = collections.Counter(), collections.Counter()
        self.answers, self.failures = collections.Counter(), collections.Counter()
        self.refused = 0

    def verifier_for(self, root, environment):
        return SignedDataVerifier(
            [root], False, environment, self.recording["bundleId"], self.recording["appAppleId"])

    @staticmethod
    def decode(verifier, kind, text):
        return {
            "notification": verifier.verify_and_decode_notification,
            "transaction": verifier.verify_and_decode_signed_transaction,
            "renewal": verifier.verify_and_decode_renewal_info,
            "app transaction": verifier.verify_and_decode_app_transaction,
        }[kind](text)

    def judge(self):
        said = self.recording
        for body in said["notifications"]:
            self.all_signed_in(body)
            self.kinds[self.kind(payload_of(body["signedPayload"]))] += 1
        for held in said["devices"]:
            self.document("transaction", held["transaction"])
            if "renewal" in held:  # what is bought once does not renew
                self.document("renewal", held["renewal"])
        for exchange in map(Exchange, said["exchanges"]):
            self.exchange(exchange)
            self.all_signed_in(exchange.answer)
        for receipt in said["receipts"]:
            if not ReceiptUtility().extract_transaction_id_from_app_receipt(receipt):
                self.failures["receipt: no transaction is found in it"] += 1
        for kind in NOTIFICATIONS:
            if kind not in self.kinds:
                self.failures[f"{kind} was never sent"] += 1
        for operation in CALLS:
            if not any(name == operation for name, _ in self.answers):
                self.failures[f"{operation} was never asked for"] += 1

    @staticmethod
    def kind(payload):
        return "/".join(filter(None, [payload["notificationType"], payload.get("subtype")]))

    def all_signed_in(self, value):
        for kind, text in signed_in(value):
            self.document(kind, text)
            if kind == "notification":
                self.all_signed_in(payload_of(text).get("data"))

    def document(self, kind, text):
        self.documents[kind] += 1
        try:
            model = self.decode(self.verifier, kind, text)
        except VerificationException as refusal:
            self.failures[f"{kind}: not believed, {refusal.status.name}"] += 1
            return
        for difference in differences(model, payload_of(text)):
            self.failures[f"{kind}: {difference}"] += 1
        for words, verifier in self.others.items():
            self.must_refuse(verifier, kind, text, words)
        for part, changed in damaged(text, self.chance):
            self.must_refuse(self.verifier, kind, changed, f"with a bit of its {part} changed")

    def must_refuse(self, verifier, kind, text, words):
        try:
            self.decode(verifier, kind, text)
            self.failures[f"{kind}: believed {words}"] += 1
        except VerificationException:
            self.refused += 1

    def exchange(self, exchange):
        self.answers[exchange.operation, exchange.status] += 1
        client = Client(signing_key(), "KEY", "issuer", self.recording["bundleId"], self.environment)
        client.exchange = exchange
        name = f"{exchange.operation} {exchange.status}"
        try:
            model = CALLS[exchange.operation](client, exchange)
        except api_client.APIException as error:
            self.error(name, exchange, error)
            return
        except Exception as error:  # whatever its models throw at what they cannot hold
            self.failures[f"{name}: {type(error).__name__}: {error}"] += 1
            return
        if exchange.status >= 300:
            self.failures[f"{name}: taken for a success"] += 1
        for difference in differences(model, exchange.answer) if model else []:
            self.failures[f"{name}: {difference}"] += 1

    def error(self, name, exchange, error):
        if error.http_status_code != exchange.status or 200 <= exchange.status < 300:
            self.failures[f"{name}: read as an error {error.http_status_code}"] += 1
        if exchange.answer and (error.api_error is None or not error.error_message):
            self.failures[f"{name}: an error without a name, {exchange.answer}"] += 1

    def report(self):
        documents = ", ".join(f"{count} {kind}s" for kind, count in sorted(self.documents.items()))
        errors = sum(count for (_, status), count in self.answers.items() if status >= 300)
        print(f"{self.environment.value}: {documents}")
        print(f"  {len(self.kinds)} kinds of notifications, {sum(self.answers.values())} answers, {errors} of "
              f"them errors; {self.refused} documents refused that are damaged or of somebody else")
        for failure, count in sorted(self.failures.items()):
            print(f"  FAILED {count:4}  {failure}")


_KEY = ec.generate_private_key(ec.SECP256R1()).private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def signing_key():
    return _KEY


def stranger():
    """The certificate of a root that signed nothing."""
    return mint("Root", authority=True, key=ec.generate_private_key(ec.SECP384R1())).der


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("recordings", nargs="+", type=pathlib.Path)
    warnings.simplefilter("ignore", DeprecationWarning)
    other = stranger()
    judges = []
    for path in parser.parse_args().recordings:
        judge = Judge(json.loads(path.read_text()), other)
        judge.judge()
        judge.report()
        judges.append(judge)
    failures, documents, answers = (
        sum(sum(getattr(judge, name).values()) for judge in judges) for name in ("failures", "documents", "answers"))
    print(f"failures: {failures}, documents: {documents}, answers: {answers}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
