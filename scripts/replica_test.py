"""Checks answers from a PostgreSQL replica against everything that was acknowledged.

Run by scripts/replica-test.sh:

    replica_test.py FOLDER PROGRAM     FOLDER has a pair of failover_pair.py
"""

import datetime
import http.client
import json
import pathlib
import re
import sys
import time

from failover_pair import Pair
from postgres_programs import LOOPBACK
from program_stage import PATIENCE, ProgramStage

STALENESS = 3  # seconds
GRANTS = 40    # of each customer
BASE = "/v1/apps/cards/customers"


class Books:
    """What was acknowledged, and what the answers said since."""

    def __init__(self, port, key):
        self.connection = http.client.HTTPConnection(LOOPBACK, port, timeout=PATIENCE)
        self.key = key
        self.changes = []  # of the current customer: when each was acknowledged
        self.customer, self.customers = None, 0
        self.answers = {"replica": 0, "database": 0}
        self.late = self.longest = 0.0

    def send(self, method, path, body=None):
        begin = time.time()
        self.connection.request(method, path, json.dumps(body) if body else None, {
            "Authorization": f"Bearer {self.key}", "Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        self.longest = max(self.longest, time.time() - begin)
        if answer.status not in (200, 201):
            raise SystemExit(f"replica-test: {method} {path}: {answer.status} {text[:300]}")
        return json.loads(text)

    def wait_until_known(self):
        """Waits until the server knows the key, which a command has added."""
        for _ in range(10 * PATIENCE):
            self.connection.request("GET", f"{BASE}/u_0?environment=sandbox", None, {
                "Authorization": f"Bearer {self.key}"})
            answer = self.connection.getresponse()
            answer.read()
            if answer.status == 200:
                return
            time.sleep(0.1)
        raise SystemExit("replica-test: the server never knew the key")

    def change(self):
        if self.customer is None or len(self.changes) == GRANTS:
            self.customers += 1
            self.customer, self.changes = f"u_{self.customers}", []
        self.send("POST", f"{BASE}/{self.customer}/grants?environment=sandbox", {
            "entitlement": "premium", "days": 1 + len(self.changes), "why": "replica test"})
        self.changes.append(time.time())

    def read(self):
        """Reads the customer, and checks that no change is missing that must be there."""
        begin = time.time()
        answer = self.send("GET", f"{BASE}/{self.customer}?environment=sandbox")
        known = answer.get("asKnownAt")
        since = begin if known is None else instant(known)
        expected = sum(1 for change in self.changes if change <= since)
        if answer["customerVersion"] < expected:
            raise SystemExit(f"replica-test: the answer as known at {known} has version"
                             f" {answer['customerVersion']}, but {expected} changes came before")
        if not answer["entitlements"]["premium"]["access"]:
            raise SystemExit(f"replica-test: {self.customer} is locked out")
        if known is not None:
            self.late = max(self.late, begin - since)
        self.answers["database" if known is None else "replica"] += 1
        return known is not None

    def go_on(self, seconds):
        """Changes and reads for some seconds. Returns who answered."""
        self.answers = {"replica": 0, "database": 0}
        end = time.time() + seconds
        while time.time() < end:
            self.change()
            for _ in range(5):
                self.read()
                time.sleep(0.01)
        return dict(self.answers)


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def require(condition, sentence):
    if not condition:
        raise SystemExit(f"replica-test: {sentence}")
    print(f"replica-test: {sentence}", flush=True)


def wait_for_replica(books):
    for _ in range(10 * PATIENCE):
        if books.read():
            return
        time.sleep(0.1)
    raise SystemExit("replica-test: the replica never answered")


def listening(log, process):
    for _ in range(20 * PATIENCE):
        if found := re.search(r"\"listening\".*http://127\.0\.0\.1:(\d+)", log.read_text()):
            return int(found[1])
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise SystemExit(log.read_text()[-1000:])


def check(pair, books):
    books.change()
    wait_for_replica(books)
    found = books.go_on(6)
    require(found["replica"] > found["database"],
            f"both answered ({found}), and no answer lacked what it had to have")

    pair.replica.sql("SELECT pg_wal_replay_pause()")
    books.go_on(STALENESS + 2)
    found = books.go_on(3)
    require(found["replica"] == 0,
            f"a replica that falls behind is not read after {STALENESS} s ({found})")
    pair.replica.sql("SELECT pg_wal_replay_resume()")
    wait_for_replica(books)
    found = books.go_on(3)
    require(found["replica"] > 0, f"it is read again when it has caught up ({found})")

    books.longest = 0
    pair.replica.kill()
    found = books.go_on(STALENESS + 3)
    require(found["database"] > 0, f"the database answers when the replica is lost ({found}),"
                                   f" the longest request took {books.longest:.2f} s")
    pair.replica.start()
    wait_for_replica(books)
    require(books.late <= STALENESS + 0.1,
            f"the oldest answer was as known {books.late:.2f} s before, at most {STALENESS}")


def main(folder, program):
    pair = Pair(pathlib.Path(folder))
    # Commits must not wait for a replica that is stopped here.
    pair.primary.configure()
    pair.primary.reload()
    with ProgramStage(program) as stage:
        (stage.folder / "tideover.json").write_text(f"""{{
          server: {{ listen: "{LOOPBACK}:0" }},
          storage: "postgres://tideover@{LOOPBACK}:{pair.primary.port}/postgres",
          storageReplica: "postgres://tideover@{LOOPBACK}:{pair.replica.port}/postgres",
          storageReplicaStaleness: "{STALENESS}s",
          apps: [{{ id: "cards", environments: ["sandbox"], products: {{
            "monthly": {{ entitlements: ["premium"], period: "P1M", price: "9.99 USD" }} }} }}],
        }}""")
        server = stage.start([program, "serve", "--config", "tideover.json"])
        port = listening(stage.log, server)
        key = stage.run("keys", "add", "--kind", "admin", "--config", "tideover.json").strip()
        books = Books(port, key)
        books.wait_until_known()
        check(pair, books)


if __name__ == "__main__":
    main(*sys.argv[1:])
