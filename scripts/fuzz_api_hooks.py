"""Known ids and messages for Schemathesis, which otherwise only meets apps and customers that do not exist.

Loaded by `schemathesis run` (SCHEMATHESIS_HOOKS). TIDEOVER_FUZZ_KNOWN is the file that fuzz_api.py writes.
"""

import json
import os
import random
import uuid

import schemathesis

with open(os.environ["TIDEOVER_FUZZ_KNOWN"], encoding="utf-8") as file:
    KNOWN = json.load(file)

EVENTS = [
    "INITIAL_PURCHASE", "RENEWAL", "CANCELLATION", "UNCANCELLATION", "EXPIRATION", "BILLING_ISSUE",
    "PRODUCT_CHANGE", "NON_RENEWING_PURCHASE", "TRANSFER", "SUBSCRIPTION_PAUSED", "TEST", "UNHEARD_OF",
]


def put(values, known, share):
    """Replaces a share of the values that there are known ones of."""
    if not isinstance(values, dict):
        return values
    for name in values:
        if known.get(name) and random.random() < share:
            values[name] = random.choice(known[name])
    return values


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    return put(path_parameters, KNOWN["path"], 0.85)


@schemathesis.hook
def map_query(context, query):
    return put(query, KNOWN["query"], 0.6)


def event():
    """A webhook of RevenueCat about a known customer."""
    customer = random.choice(KNOWN["path"]["customer"])
    now, day = KNOWN["now"], 86_400_000
    purchased = now - random.randint(0, 60) * day
    return {
        "api_version": "1.0",
        "event": {
            "type": random.choice(EVENTS),
            "id": str(uuid.uuid4()),
            "event_timestamp_ms": purchased + random.randint(0, 1000),
            "app_user_id": customer,
            "original_app_user_id": customer,
            "aliases": [customer],
            "product_id": "cards.pro.monthly",
            "entitlement_ids": ["premium"],
            "period_type": random.choice(["NORMAL", "TRIAL", "INTRO"]),
            "purchased_at_ms": purchased,
            "expiration_at_ms": purchased + 30 * day,
            "store": random.choice(["APP_STORE", "PLAY_STORE", "STRIPE"]),
            "environment": random.choice(["PRODUCTION", "SANDBOX"]),
            "transaction_id": str(random.randint(1, 40)),
            "original_transaction_id": str(random.randint(1, 9)),
            "transferred_from": [customer],
            "transferred_to": [random.choice(KNOWN["path"]["customer"])],
        },
    }


@schemathesis.hook
def map_body(context, body):
    path = context.operation.path
    if random.random() < 0.5:
        if path.endswith("/notifications/revenuecat"):
            return event()
        if path.endswith("/imports/revenuecat"):
            return "\n".join(random.sample(KNOWN["answers"], 2)) + "\n"
        if path.endswith("/import"):
            return "".join(line + "\n" for line in KNOWN["export"][: random.randint(1, 20)])
    return put(body, KNOWN["body"], 0.7)


@schemathesis.hook
def before_call(context, case, kwargs):
    key = os.environ.get("TIDEOVER_FUZZ_KEY")
    authorization = f"Bearer {key}" if key else None
    # RevenueCat has no Tideover key: it sends the value that is set in its dashboard.
    if case.operation.path.endswith("/notifications/revenuecat") and random.random() < 0.8:
        authorization = KNOWN["dashboard"]
    if authorization:
        case.headers["Authorization"] = authorization
    else:
        case.headers.pop("Authorization", None)


@schemathesis.serializer("application/jsonl", "application/x-ndjson")
def lines(context, value):
    """Lines are text; whatever else was generated is one line of JSON."""
    if isinstance(value, bytes):
        return value
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "surrogatepass")
