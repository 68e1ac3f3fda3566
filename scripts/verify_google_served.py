"""Checks `tideover sandbox serve` with Google's own libraries, as a back end uses them.

Run by scripts/verify-google.sh, which installs what it imports. google-auth gets access tokens with
the key file that the served stores write, and verifies the token of a push with the served keys.
google-api-python-client calls the Play Developer API and Pub/Sub, with the discovery documents that
it contains. Answers must have only members that the documents describe. Each check is one sentence.
"""

import base64
import json
import sys
import time

import google.auth.exceptions
import google.auth.transport.requests
import googleapiclient.discovery
import googleapiclient.errors
from google.oauth2 import id_token, service_account

from served_stores import AUDIENCE, EMAIL, GOOGLE, ServedStores
from verify_google import ISSUERS, SCOPE, Checks, refusal

PACKAGE = "com.example.cards"
PUB_SUB = "https://www.googleapis.com/auth/pubsub"
# Deprecated, and no longer in Google's document of October 2026. The stores still write it.
DEPRECATED = {"SubscriptionPurchaseV2.latestOrderId"}
QUEUE = "projects/tideover-rehearsal/subscriptions/pull"
STAGE = {
    "scenario": "A store for Google's libraries", "source": "scripts/verify_google_served.py",
    "app": {"id": "cards"},
    "googlePlay": {
        "packageName": PACKAGE,
        "subscriptions": {"cards.pro": {"entitlements": ["premium"], "basePlans": {
            "monthly": {"period": "P1M", "price": "9.99 USD", "grace": "7 d"}}}},
        "products": {"cards.lifetime": {"entitlements": ["premium"], "price": "49.99 USD"},
                     "cards.coins": {"entitlements": ["coins"], "price": "0.99 USD", "consumable": True}},
    },
    "customers": {"anna": {"store": "googlePlay"}},
}


class Play:
    """The Play Developer API; checks each answer against the discovery document."""

    def __init__(self, checks, stores, credentials):
        self.checks = checks
        self.api = api("androidpublisher", "v3", stores, credentials)
        self.schemas = self.api._rootDesc["schemas"]

    def ask(self, schema, request):
        answer = request.execute()
        faults = set(self.unknown(answer, {"$ref": schema}, schema)) - DEPRECATED
        self.checks.check(f"{request.methodId}: every member is described {faults or ''}", not faults)
        return answer

    def unknown(self, value, kind, place):
        """The paths in a value that are not in the document, or have another type there."""
        if "$ref" in kind:
            kind = self.schemas[kind["$ref"]]
        types = {"string": str, "boolean": bool, "integer": int, "number": (int, float), "array": list,
                 "object": dict}
        if not isinstance(value, types[kind["type"]]):
            yield place
        elif isinstance(value, list):
            for item in value:
                yield from self.unknown(item, kind["items"], place)
        elif isinstance(value, dict):
            for name, item in value.items():
                known = kind.get("properties", {}).get(name)
                if known:
                    yield from self.unknown(item, known, f"{place}.{name}")
                else:
                    yield f"{place}.{name}"


def api(name, version, stores, credentials):
    return googleapiclient.discovery.build(
        name, version, credentials=credentials, client_options={"api_endpoint": stores.url},
        static_discovery=True)


def credentials(stores, scope, **changes):
    file = json.loads((stores.folder / "service-account.json").read_text())
    return service_account.Credentials.from_service_account_info({**file, **changes}, scopes=[scope])


def reason(request):
    """The status and the reason of the error that answers a request."""
    try:
        request.execute()
    except googleapiclient.errors.HttpError as error:
        return error.status_code, error.error_details[0]["reason"]
    return None


def check_access(checks, stores):
    request = google.auth.transport.requests.Request()
    account = credentials(stores, SCOPE)
    account.refresh(request)
    checks.check("google-auth gets an access token with the key file", account.valid)
    foreign = credentials(stores, SCOPE, client_email="other@cards.iam.gserviceaccount.com")
    error = refusal(lambda: foreign.refresh(request))
    checks.check("the assertion of an unknown account is refused", "invalid_grant" in str(error))
    error = refusal(lambda: credentials(stores, "https://www.googleapis.com/auth/none").refresh(request))
    checks.check("an unknown scope is refused", "invalid_scope" in str(error))


def pushed(stores, kind):
    """The token and the content of the next push of a kind."""
    while True:
        headers, body = stores.message(GOOGLE)
        content = json.loads(base64.b64decode(body["message"]["data"]))
        if kind in content:
            return headers["Authorization"].removeprefix("Bearer "), content[kind]


def check_push(checks, stores):
    stores.step("requestTestNotification", customer="anna")
    token, _ = pushed(stores, "testNotification")
    request = google.auth.transport.requests.Request()
    for form in ("v1", "v3"):
        def verify(audience, url=f"{stores.url}/oauth2/{form}/certs"):
            return id_token.verify_token(token, request, audience, certs_url=url)

        claims = verify(AUDIENCE)
        checks.check(f"{form}: the token of a push is verified", claims["iss"] in ISSUERS)
        sender = claims["email"] == EMAIL and claims["email_verified"] is True
        checks.check(f"{form}: it names who pushes, verified", sender)
        wrong = refusal(lambda: verify("https://other.example"))
        checks.check(f"{form}: it is for no other audience", wrong)


def check_subscription(checks, stores, play):
    stores.step("buy", customer="anna", product="cards.pro", acknowledged=False)
    token = pushed(stores, "subscriptionNotification")[1]["purchaseToken"]
    purchases = play.api.purchases()
    where = {"packageName": PACKAGE, "token": token}

    def read():
        return play.ask("SubscriptionPurchaseV2", purchases.subscriptionsv2().get(**where))

    bought = read()
    checks.check("it is active", bought["subscriptionState"] == "SUBSCRIPTION_STATE_ACTIVE")
    checks.check("nothing has acknowledged it", bought["acknowledgementState"].endswith("_PENDING"))
    purchases.subscriptions().acknowledge(**where, subscriptionId="cards.pro", body={}).execute()
    bought = read()
    checks.check("it is acknowledged", bought["acknowledgementState"].endswith("_ACKNOWLEDGED"))
    context = {"deferDuration": "864000s", "etag": bought["etag"]}
    answer = play.ask("DeferSubscriptionPurchaseResponse", purchases.subscriptionsv2().defer(
        **where, body={"deferralContext": context}))
    deferred = answer["itemExpiryTimeDetails"][0]["expiryTime"]
    checks.check("its renewal is put off", deferred > bought["lineItems"][0]["expiryTime"])
    order = bought["lineItems"][0]["latestSuccessfulOrderId"]
    orders = play.api.orders()
    one = play.ask("Order", orders.get(packageName=PACKAGE, orderId=order))
    checks.check("its order is its own", one["purchaseToken"] == token)
    batch = play.ask("BatchGetOrdersResponse", orders.batchget(packageName=PACKAGE, orderIds=[order]))
    checks.check("its order is read among others", batch["orders"] == [one])
    context = {"cancellationType": "USER_REQUESTED_STOP_RENEWALS"}
    play.ask("CancelSubscriptionPurchaseResponse", purchases.subscriptionsv2().cancel(
        **where, body={"cancellationContext": context}))
    checks.check("it is cancelled", read()["subscriptionState"] == "SUBSCRIPTION_STATE_CANCELED")
    play.ask("RevokeSubscriptionPurchaseResponse", purchases.subscriptionsv2().revoke(
        **where, body={"revocationContext": {"fullRefund": {}}}))
    checks.check("it is revoked", read()["subscriptionState"] == "SUBSCRIPTION_STATE_EXPIRED")
    return order


def check_product(checks, stores, play, product):
    """Buys a product, reads both versions of the purchase, acknowledges it; returns its order."""
    stores.step("buy", customer="anna", product=product, acknowledged=False)
    token = pushed(stores, "oneTimeProductNotification")[1]["purchaseToken"]
    second, first = play.api.purchases().productsv2(), play.api.purchases().products()
    where = {"packageName": PACKAGE, "token": token}

    def read():
        return (play.ask("ProductPurchaseV2", second.getproductpurchasev2(**where)),
                play.ask("ProductPurchase", first.get(**where, productId=product)))

    new, old = read()
    checks.check("both versions name one order", new["orderId"] == old["orderId"])
    checks.check("both say it is bought and not acknowledged",
                 (new["purchaseStateContext"]["purchaseState"], new["acknowledgementState"],
                  old["purchaseState"], old["acknowledgementState"])
                 == ("PURCHASED", "ACKNOWLEDGEMENT_STATE_PENDING", 0, 0))
    first.acknowledge(**where, productId=product, body={}).execute()
    checks.check("it is acknowledged", read()[1]["acknowledgementState"] == 1)
    if product == "cards.coins":
        first.consume(**where, productId=product).execute()
        checks.check("it is consumed", read()[1]["consumptionState"] == 1)
    return new["orderId"]


def check_voided(checks, stores, play, subscription, product):
    play.api.orders().refund(packageName=PACKAGE, orderId=product, revoke=True).execute()
    stores.step("advance", by="1 d")

    def voided(**query):
        return play.ask("VoidedPurchasesListResponse", play.api.purchases().voidedpurchases().list(
            packageName=PACKAGE, **query))

    alone = [item["orderId"] for item in voided()["voidedPurchases"]]
    checks.check("products alone are listed unless asked", alone == [product])
    page = voided(type=1, maxResults=1, startTime=round(time.time() * 1000) - 20 * 86_400_000)
    next_page = voided(type=1, maxResults=1, token=page["tokenPagination"]["nextPageToken"])
    orders = [item["orderId"] for part in (page, next_page) for item in part["voidedPurchases"]]
    checks.check("both are listed, page by page", sorted(orders) == sorted([subscription, product]))


def check_errors(checks, stores, play):
    def get(api):
        return reason(api.purchases().subscriptionsv2().get(packageName=PACKAGE, token="nobodys-token"))

    checks.check("an unknown token has an error", get(play.api) == (404, "purchaseTokenNotFound"))
    request = play.api.purchases().products().get(packageName=PACKAGE, productId="cards.pro", token="none")
    checks.check("so has one of no product", reason(request) == (404, "purchaseTokenNotFound"))
    other = api("androidpublisher", "v3", stores, credentials(stores, PUB_SUB))
    checks.check("a token of another scope opens nothing", get(other) == (403, "insufficientPermissions"))


def check_pub_sub(checks, stores):
    queue = api("pubsub", "v1", stores, credentials(stores, PUB_SUB)).projects().subscriptions()
    pulled = queue.pull(subscription=QUEUE, body={"maxMessages": 100}).execute()["receivedMessages"]
    kinds = {key for item in pulled for key in json.loads(base64.b64decode(item["message"]["data"]))}
    both = {"subscriptionNotification", "oneTimeProductNotification"}
    checks.check("messages of both kinds are pulled", both <= kinds)
    ids = [item["ackId"] for item in pulled]
    deadline = {"ackIds": ids, "ackDeadlineSeconds": 60}
    queue.modifyAckDeadline(subscription=QUEUE, body=deadline).execute()
    queue.acknowledge(subscription=QUEUE, body={"ackIds": ids}).execute()
    left = queue.pull(subscription=QUEUE, body={"maxMessages": 100}).execute()
    checks.check("what is acknowledged does not come again", "receivedMessages" not in left)


def main():
    checks = Checks()
    with ServedStores(sys.argv[1], STAGE, days=10) as stores:
        check_access(checks, stores)
        check_push(checks, stores)
        play = Play(checks, stores, credentials(stores, SCOPE))
        check_errors(checks, stores, play)
        sold = play.ask("ListSubscriptionsResponse", play.api.monetization().subscriptions().list(
            packageName=PACKAGE))
        checks.check("what is on sale is listed", sold["subscriptions"][0]["productId"] == "cards.pro")
        subscription = check_subscription(checks, stores, play)
        check_product(checks, stores, play, "cards.coins")
        product = check_product(checks, stores, play, "cards.lifetime")
        check_voided(checks, stores, play, subscription, product)
        check_pub_sub(checks, stores)
        stores.catch_up()
    print(f"held: {checks.held} of {checks.count}")
    return 0 if checks.held == checks.count else 1


if __name__ == "__main__":
    sys.exit(main())
