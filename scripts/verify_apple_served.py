"""Checks `tideover sandbox serve` with Apple's own library, as a back end uses it.

Run by scripts/verify-apple.sh, which installs what it imports. Apple's client makes each of its
calls with the key that the served store writes, and must read each answer into its models with
nothing left over. Given the served root, Apple's verifier must accept each signed document that is
posted or answered, and refuse it once it is changed. Both environments are checked.
"""

import base64
import collections
import sys
import time
import warnings

from appstoreserverlibrary import api_client
from appstoreserverlibrary.api_client import APIError, GetTransactionHistoryVersion
from appstoreserverlibrary.models import (
    ConsumptionRequest, ConsumptionRequestV1, ExtendRenewalDateRequest, MassExtendRenewalDateRequest,
    NotificationHistoryRequest, TransactionHistoryRequest, UpdateAppAccountTokenRequest)
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.Status import Status

from served_stores import APPLE, ServedStores
from verify_apple import Judge, differences, payload_of, read, signing_key, stranger

BUNDLE, NUMBER = "com.example.cards", 1_234_567_890
MONTHLY, WEEKLY, COINS = "cards.pro.monthly", "cards.pro.weekly", "cards.coins"
TOKEN, REQUEST = "7e3fb20b-4cdb-47cc-936d-99d65f608138", "7b3c0f8e-7f5e-4b1c-8a57-0c7d4a1d3c11"
DAYS = 170
# The start of the notification history, in days ago: a day less than Apple keeps.
KEPT = {Environment.PRODUCTION: 179, Environment.SANDBOX: 29}

STAGE = {
    "scenario": "A store for Apple's library", "source": "scripts/verify_apple_served.py",
    "products": {
        MONTHLY: {"entitlements": ["premium"], "group": "pro", "period": "P1M", "price": "9.99 USD",
                  "grace": "P16D"},
        WEEKLY: {"entitlements": ["news"], "group": "news", "period": "P1W", "price": "1.99 USD"},
        COINS: {"kind": "consumable", "entitlements": ["coins"], "price": "0.99 USD"},
    },
    "customers": {"anna": {"appAccountToken": TOKEN}, "ben": {}, "cara": {}},
}

# Calls of the Retention Messaging API, which the simulated store does not have.
NOT_SIMULATED = [
    "configure_default_message", "configure_realtime_url", "delete_default_message", "delete_image",
    "delete_message", "delete_realtime_url", "get_default_message", "get_image_list", "get_message_list",
    "get_performance_test_results", "get_realtime_url", "initiate_performance_test", "upload_image",
    "upload_message",
]

CONSUMPTION = {"customerConsented": True, "sampleContentProvided": False, "deliveryStatus": "DELIVERED"}
CONSUMPTION_V1 = {
    "accountTenure": 1, "appAccountToken": TOKEN, "consumptionStatus": 1, "customerConsented": True,
    "deliveryStatus": 0, "lifetimeDollarsPurchased": 1, "lifetimeDollarsRefunded": 0, "platform": 1,
    "playTime": 1, "refundPreference": 2, "sampleContentProvided": False, "userStatus": 1,
}


class Client(api_client.AppStoreServerAPIClient):
    """Apple's client, asking the served store; the library has no parameter for the host."""

    def __init__(self, stores, environment, key):
        issuer, key_id = stores.told(r"issuer id (\S+), key id (\S+) and the key in")
        super().__init__(key, key_id, issuer, BUNDLE, environment)
        self._base_url = stores.url

    def _execute_request(self, *request):
        self.response = super()._execute_request(*request)
        return self.response


class ServedJudge(Judge):
    """Judges one served store."""

    def __init__(self, stores, environment):
        super().__init__({
            "environment": environment.value, "bundleId": BUNDLE, "appAppleId": NUMBER,
            "root": base64.b64encode(stores.get("/root.der")).decode()}, stranger())
        self.stores = stores
        [path] = stores.folder.glob("AuthKey_*.p8")
        self.client = Client(stores, environment, path.read_bytes())
        self.asked, self.posted = set(), []

    def expect(self, sentence, holds):
        if not holds:
            self.failures[f"{sentence} does not hold"] += 1

    def ask(self, name, *words, client=None):
        """Makes a call, and checks the model that its answer is read into."""
        client = client or self.client
        self.asked.add(name)
        model = getattr(client, name)(*words)
        self.answers[name, client.response.status_code] += 1
        if model is not None:
            answer = client.response.json()
            for difference in differences(model, answer):
                self.failures[f"{name}: {difference}"] += 1
            self.all_signed_in(answer)
        return model

    def must_fail(self, status, error, name, *words, client=None):
        """Checks that a call fails with a status and an error; None for an error without a body."""
        try:
            self.ask(name, *words, client=client)
        except api_client.APIException as failure:
            self.answers[name, failure.http_status_code] += 1
            found = failure.http_status_code, failure.api_error
        else:
            found = None
        self.expect(f"{name}{words}: {found} is {(status, error)}", found == (status, error))

    def receive(self):
        """Judges and keeps what was posted since the last time."""
        for _, body in self.stores.messages(APPLE):
            self.all_signed_in(body)
            self.posted.append(payload_of(body["signedPayload"]))
            self.kinds[self.kind(self.posted[-1])] += 1

    def judge(self):
        self.purchases()
        self.histories()
        self.changes()
        self.refunds()
        self.notifications()
        self.errors()
        missing = {name for name in dir(api_client.AppStoreServerAPIClient) if name[0] != "_"}
        missing -= self.asked | set(NOT_SIMULATED)
        self.expect(f"every call is made, {missing or 'none'} is left", not missing)

    def purchases(self):
        step = self.stores.step
        step("subscribe", customer="anna", product=WEEKLY)
        step("subscribe", customer="ben", product=MONTHLY)
        step("failPayments", customer="ben")
        step("advance", by=f"{DAYS - 1} d")
        step("subscribe", customer="cara", product=MONTHLY)
        step("buy", customer="cara", product=COINS)
        self.stores.catch_up()
        self.receive()
        numbers = {payload["data"].get("appAppleId") for payload in self.posted}
        self.expect("every notification states the app's number", numbers == {NUMBER})
        bought = [payload_of(payload["data"]["signedTransactionInfo"]) for payload in self.posted]
        self.ids = {transaction["productId"]: transaction["transactionId"] for transaction in bought}
        originals = {item["productId"]: item["originalTransactionId"] for item in bought[:2]}
        self.anna, self.ben = originals[WEEKLY], originals[MONTHLY]
        self.cara, self.coins = self.ids[MONTHLY], self.ids[COINS]
        for kind in ("SUBSCRIBED/INITIAL_BUY", "DID_RENEW", "DID_FAIL_TO_RENEW/GRACE_PERIOD",
                     "GRACE_PERIOD_EXPIRED", "EXPIRED/BILLING_RETRY", "ONE_TIME_CHARGE"):
            self.expect(f"{kind} is posted", kind in self.kinds)

    def histories(self):
        statuses = self.ask("get_all_subscription_statuses", self.cara)
        self.expect("cara's is active", statuses.data[0].lastTransactions[0].status == Status.ACTIVE)
        statuses = self.ask("get_all_subscription_statuses", self.ben, [Status.EXPIRED])
        self.expect("ben's has expired", statuses.data[0].lastTransactions[0].status == Status.EXPIRED)
        statuses = self.ask("get_all_subscription_statuses", self.cara, [Status.EXPIRED, Status.REVOKED])
        self.expect("cara's is no other", statuses.data == [])
        both = [self.history(version) for version in GetTransactionHistoryVersion]
        self.expect("both versions of the history agree", both[0] == both[1] and len(both[0]) >= 12)
        filters = {
            "startDate": 0, "endDate": round(time.time() * 1000), "productIds": [WEEKLY],
            "productTypes": ["AUTO_RENEWABLE"], "sort": "DESCENDING", "revoked": False,
            "inAppOwnershipType": "PURCHASED"}
        request = read(TransactionHistoryRequest.TransactionHistoryRequest, filters)
        page = self.ask("get_transaction_history", self.anna, None, request, GetTransactionHistoryVersion.V2)
        newest = [payload_of(item)["transactionId"] for item in page.signedTransactions]
        self.expect("a history can be turned around", newest == both[0][::-1][:20])
        info = self.ask("get_transaction_info", self.coins)
        found = payload_of(info.signedTransactionInfo)
        self.expect("a transaction is read by its id", found["productId"] == COINS)
        self.ask("get_app_transaction_info", self.anna)
        self.ask("finish_transaction", self.coins)

    def history(self, version):
        """The ids of anna's transactions, page by page."""
        ids, revision, more = [], None, True
        while more:
            page = self.ask("get_transaction_history", self.anna, revision,
                            TransactionHistoryRequest.TransactionHistoryRequest(), version)
            ids += [payload_of(item)["transactionId"] for item in page.signedTransactions]
            revision, more = page.revision, page.hasMore
        return ids

    def changes(self):
        self.ask("set_app_account_token", self.cara, read(
            UpdateAppAccountTokenRequest.UpdateAppAccountTokenRequest, {"appAccountToken": REQUEST}))
        named = payload_of(self.ask("get_transaction_info", self.cara).signedTransactionInfo)
        self.expect("a transaction has the token that was set", named["appAccountToken"] == REQUEST)
        extension = {"extendByDays": 10, "extendReasonCode": 1, "requestIdentifier": REQUEST}
        answer = self.ask("extend_subscription_renewal_date", self.cara, read(
            ExtendRenewalDateRequest.ExtendRenewalDateRequest, extension))
        self.expect("cara's renewal date is extended", answer.success)
        self.ask("extend_renewal_date_for_all_active_subscribers", read(
            MassExtendRenewalDateRequest.MassExtendRenewalDateRequest, {**extension, "productId": MONTHLY}))
        self.ask("get_status_of_subscription_renewal_date_extensions", REQUEST, MONTHLY)

    def refunds(self):
        self.stores.step("requestRefund", customer="cara", product=MONTHLY)
        consumption = read(ConsumptionRequest.ConsumptionRequest, CONSUMPTION)
        self.ask("send_consumption_information", self.cara, consumption)
        consumption = read(ConsumptionRequestV1.ConsumptionRequestV1, CONSUMPTION_V1)
        self.ask("send_consumption_data", self.cara, consumption)
        self.stores.step("refund", customer="cara", product=MONTHLY)
        history = self.ask("get_refund_history", self.cara, None)
        refunded = [payload_of(item)["transactionId"] for item in history.signedTransactions]
        self.expect("the refund is listed", refunded == [self.cara])
        again = self.ask("get_refund_history", self.cara, history.revision)
        self.expect("no other refund is listed", again.signedTransactions == [])
        if self.environment == Environment.PRODUCTION:
            order = self.ask("look_up_order_id", "MXXXXX")
            self.expect("an unknown order is invalid", order.status.name == "INVALID")
        else:
            self.must_fail(404, None, "look_up_order_id", "MXXXXX")

    def notifications(self):
        test = self.ask("request_test_notification").testNotificationToken
        self.stores.soon("a test notification", lambda: self.receive() or self.kinds["TEST"])
        status = self.ask("get_test_notification_status", test)
        self.expect("the test was sent once", len(status.sendAttempts) == 1)
        now = round(time.time() * 1000)
        start = now - KEPT[self.environment] * 86_400_000
        query = {"startDate": start, "endDate": now + 60_000}
        request = read(NotificationHistoryRequest.NotificationHistoryRequest, query)
        kinds, token, more = collections.Counter(), None, True
        while more:
            page = self.ask("get_notification_history", token, request)
            kinds.update(self.kind(payload_of(item.signedPayload)) for item in page.notificationHistory)
            token, more = page.paginationToken, page.hasMore
        posted = collections.Counter(map(self.kind, filter(lambda p: p["signedDate"] >= start, self.posted)))
        self.expect(f"the history has what was posted: {kinds} is {posted}", kinds == posted)

    def errors(self):
        filters = TransactionHistoryRequest.TransactionHistoryRequest()
        unknown = APIError.TRANSACTION_ID_NOT_FOUND
        for name, *words in [
                ("get_transaction_info",), ("get_all_subscription_statuses",), ("get_app_transaction_info",),
                ("get_refund_history", None), ("get_transaction_history", None, filters)]:
            self.must_fail(404, unknown, name, "4711", *words)
        invalid = APIError.INVALID_TRANSACTION_ID
        self.must_fail(400, invalid, "get_transaction_info", "none")
        foreign = Client(self.stores, self.environment, signing_key())
        self.must_fail(401, None, "get_transaction_info", self.coins, client=foreign)


def main():
    warnings.simplefilter("ignore", DeprecationWarning)
    failures = documents = answers = 0
    for environment in (Environment.PRODUCTION, Environment.SANDBOX):
        app = {"id": "cards", "bundleId": BUNDLE, "appAppleId": NUMBER, "environment": environment.value}
        with ServedStores(sys.argv[1], {**STAGE, "app": app}, DAYS) as stores:
            judge = ServedJudge(stores, environment)
            judge.judge()
        judge.report()
        failures += sum(judge.failures.values())
        documents += sum(judge.documents.values())
        answers += sum(judge.answers.values())
    print(f"failures: {failures}, documents: {documents}, answers: {answers}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
