"""The usual stack that compare_stack.py measures: FastAPI, Apple's library and SQLite.

Environment variables: STACK_FOLDER contains root.der and gets the database; STACK_REMEMBERS is 1 to
verify each certificate chain only once.
"""

import os
import sqlite3
import threading

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
from fastapi import FastAPI, Response
from pydantic import BaseModel

FOLDER = os.environ["STACK_FOLDER"]
SCHEMA = """
CREATE TABLE IF NOT EXISTS notification (
    uuid TEXT PRIMARY KEY, type TEXT, subtype TEXT, signed_at INTEGER, payload TEXT
);
CREATE TABLE IF NOT EXISTS subscription (
    original_transaction_id TEXT PRIMARY KEY, product TEXT, expires_at INTEGER,
    grace_until INTEGER, auto_renew INTEGER, status INTEGER, signed_at INTEGER
);
CREATE INDEX IF NOT EXISTS subscription_expiry ON subscription (expires_at);
"""


class Remembering:
    """Verifies a chain of certificates once, and then returns its key from memory."""

    def __init__(self, verifier):
        self.verifier = verifier
        self.keys = {}

    def verify_chain(self, certificates, perform_online_checks, effective_date):
        chain = tuple(certificates)
        key = self.keys.get(chain)
        if key is None:
            key = self.verifier.verify_chain(certificates, perform_online_checks, effective_date)
            self.keys[chain] = key
        return key


def verifier():
    with open(os.path.join(FOLDER, "root.der"), "rb") as file:
        made = SignedDataVerifier(
            [file.read()], False, Environment.PRODUCTION, "com.example.cards", 1234567890
        )
    if os.environ.get("STACK_REMEMBERS") == "1":
        made._chain_verifier = Remembering(made._chain_verifier)
    return made


def database():
    connection = sqlite3.connect(
        os.path.join(FOLDER, "stack.db"), timeout=30, isolation_level=None, check_same_thread=False
    )
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.executescript(SCHEMA)
    return connection


class Body(BaseModel):
    signedPayload: str


app = FastAPI()
verify = verifier()
connection = database()
# SQLite has one writer; a process with several connections would only wait in other places.
lock = threading.Lock()


def value(field):
    return None if field is None else field.value


@app.post("/v1/apps/cards/notifications/app-store")
def receive(body: Body):
    try:
        notification = verify.verify_and_decode_notification(body.signedPayload)
        data = notification.data
        transaction = verify.verify_and_decode_signed_transaction(data.signedTransactionInfo)
        renewal = verify.verify_and_decode_renewal_info(data.signedRenewalInfo)
    except VerificationException:
        return Response(status_code=400)
    with lock:
        connection.execute("BEGIN IMMEDIATE")
        new = connection.execute(
            "INSERT OR IGNORE INTO notification VALUES (?, ?, ?, ?, ?)",
            (
                notification.notificationUUID, value(notification.notificationType),
                value(notification.subtype), notification.signedDate, body.signedPayload,
            ),
        ).rowcount
        if new:
            connection.execute(
                "INSERT INTO subscription VALUES (?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (original_transaction_id) DO UPDATE SET product = excluded.product,"
                " expires_at = excluded.expires_at, grace_until = excluded.grace_until,"
                " auto_renew = excluded.auto_renew, status = excluded.status,"
                " signed_at = excluded.signed_at WHERE excluded.signed_at > signed_at",
                (
                    transaction.originalTransactionId, transaction.productId,
                    transaction.expiresDate, renewal.gracePeriodExpiresDate,
                    value(renewal.autoRenewStatus), value(data.status), notification.signedDate,
                ),
            )
        connection.execute("COMMIT")
    return Response(status_code=200)
