"""Plays a story, and compares the tables of docs/mirror.md with the server's answers.

Run by scripts/mirror-test.sh, which starts PostgreSQL:

    mirror_test.py TIDEOVER EDGE_FUNCTION SEED
"""

import base64
import concurrent.futures
import datetime
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import psycopg
from psycopg.rows import dict_row

from program_stage import PATIENCE, ProgramStage, free_port

APP, ENVIRONMENT = "cards", "simulated"
MIRROR = pathlib.Path("Examples/Mirror")
# What a Supabase project gives its functions: a secret key, or a token of an older project.
SECRET_KEY, ROLE_KEY = "sb_secret_of_the_test", "the token of service_role"
SECRET_KEYS = {"SUPABASE_SECRET_KEYS": json.dumps({"default": SECRET_KEY})}
OLDER_KEY = {"SUPABASE_SERVICE_ROLE_KEY": ROLE_KEY}
STATUSES = {"trial", "active", "canceled", "grace_period", "billing_retry", "paused", "expired", "none"}

MONTHLY = {"entitlements": ["premium"], "group": "pro", "period": "P1M", "price": "9.99 USD"}
THEMES = {"entitlements": ["themes"], "group": "themes", "period": "P1M", "price": "1.99 USD"}
LIFETIME = {"entitlements": ["premium"], "kind": "nonConsumable", "price": "149.99 USD"}
STORE = {
    "scenario": "A mirror", "source": "docs/mirror.md",
    "app": {"id": APP, "bundleId": "com.example.cards"},
    "products": {
        "cards.pro.monthly": {**MONTHLY, "trial": "P1W", "grace": "P16D"},
        "cards.themes": THEMES, "cards.lifetime": LIFETIME,
    },
    "googlePlay": {
        "packageName": "com.example.cards",
        "subscriptions": {"cards.play": {"entitlements": ["premium"], "basePlans": {
            "monthly": {"period": "P1M", "trial": "P1W", "price": "9.99 USD", "grace": "7 d"},
            "prepaid": {"period": "P1M", "price": "9.99 USD", "prepaid": True},
        }}},
    },
    "customers": {
        "anna": {}, "cara": {}, "ben": {"store": "googlePlay"}, "dora": {"store": "googlePlay"},
    },
    "start": "2026-05-01T10:00:00Z",
}
CATALOGUE = {
    "cards.pro.monthly": {**MONTHLY, "trial": "P1W", "grace": "P16D"},
    "cards.themes": THEMES, "cards.lifetime": LIFETIME,
    "cards.play:monthly": {**MONTHLY, "group": "cards.play", "trial": "P1W", "grace": "P7D"},
    "cards.play:prepaid": {**MONTHLY, "group": "cards.play"},
}
# Each line is a step of `tideover sandbox control`, and the statuses of `premium` that it leads to.
STORY = [
    ("subscribe customer=anna product=cards.pro.monthly", {"anna": "trial"}),
    ("buy customer=ben product=cards.play plan=monthly offer=trial", {"ben": "trial"}),
    ("buy customer=dora product=cards.play plan=prepaid", {"dora": "active"}),
    ("subscribe customer=cara product=cards.themes", {"cara": "none"}),
    ("cancel customer=anna", {"anna": "canceled"}),
    ("reenable customer=anna", {"anna": "trial"}),
    ("advance by='6 d'", {"anna": "trial", "ben": "trial"}),
    ("advance by='2 d'", {"anna": "active", "ben": "active", "dora": "active"}),
    ("buy customer=cara product=cards.lifetime", {"cara": "active"}),
    ("failPayments customer=anna", {"anna": "active"}),
    ("failPayments customer=ben", {"ben": "active"}),
    ("advance by='32 d'", {"anna": "grace_period", "ben": "grace_period", "dora": "expired"}),
    ("advance by='20 d'", {"anna": "billing_retry", "ben": "billing_retry"}),
    ("fixPayments customer=anna", {"anna": "active"}),
    ("fixPayments customer=ben", {"ben": "active"}),
    ("cancel customer=anna", {"anna": "canceled"}),
    ("cancel customer=cara product=cards.themes", {"cara": "active"}),
    ("pause customer=ben for=P1M", {"ben": "active"}),
    ("advance by='40 d'", {"anna": "expired", "ben": "paused"}),
    ("resume customer=ben", {"ben": "active"}),
    ("subscribe customer=anna product=cards.pro.monthly", {"anna": "active"}),
    ("refund customer=cara product=cards.lifetime", {"cara": "expired"}),
    ("refund customer=anna product=cards.pro.monthly", {"anna": "expired"}),
    ("grant dora", {"dora": "active"}),
    ("advance by='70 d'", {"anna": "expired", "dora": "expired"}),
]


class Answering(http.server.BaseHTTPRequestHandler):
    """A handler of POST with a server that has `take(path, headers, body)`."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status, content = self.server.take(self.path, self.headers, body)
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class Serving(http.server.ThreadingHTTPServer):
    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answering)
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Recorder(Serving):
    """The endpoint that the server delivers to. It keeps every delivery by its id."""

    def __init__(self):
        self.deliveries = {}
        super().__init__()

    def take(self, _, headers, body):
        fields = {name: value for name, value in headers.items() if name.lower().startswith("webhook-")}
        self.deliveries.setdefault(headers["webhook-id"], Delivery(fields, body))
        return 204, b""


class Delivery:
    def __init__(self, fields, body):
        self.fields, self.body, self.event = fields, body, json.loads(body)

    @property
    def version(self):
        return self.event["customerVersion"]


class Rest(Serving):
    """Calls functions as Supabase's REST interface does, in the role of the key."""

    def __init__(self, database):
        self.database = database
        super().__init__()

    def take(self, path, headers, body):
        name = path.removeprefix("/rest/v1/rpc/")
        if (headers["apikey"], headers["Authorization"]) not in (
                (SECRET_KEY, None), (ROLE_KEY, f"Bearer {ROLE_KEY}")):
            return 401, b""
        arguments = {key: json.dumps(value) if isinstance(value, dict) else value
                     for key, value in json.loads(body).items()}
        call = ", ".join(f"{key} => %({key})s" for key in arguments)
        try:
            with psycopg.connect(self.database) as connection:
                connection.execute("set role service_role")
                connection.execute(f"select {name}({call})", arguments)
        except psycopg.Error as error:
            return 400, str(error).encode()
        return 204, b""


class Rows:
    """The tables of one database."""

    def __init__(self, name):
        with psycopg.connect("dbname=postgres", autocommit=True) as connection:
            connection.execute(f"create database {name}")
        self.address = f"dbname={name}"
        self.connection = psycopg.connect(self.address, autocommit=True, row_factory=dict_row)
        self.connection.execute("set time zone 'UTC'")
        self.run(MIRROR / "postgres.sql")

    def run(self, file):
        with psycopg.connect(self.address) as connection:
            connection.execute(file.read_text())

    def all(self):
        found = self.connection.execute("select * from subscriptions order by user_id, entitlement")
        return {(row["user_id"], row["entitlement"]): row for row in found}

    def has_access(self, customer, entitlement, at):
        row = self.connection.execute("select has_access(%s, %s, %s)", (customer, entitlement, at))
        return row.fetchone()["has_access"]


class Receiver:
    """A program that receives webhooks, and its database."""

    def __init__(self, name, command, rows, environment):
        self.name, self.rows = name, rows
        self.process = subprocess.Popen(
            command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"listening on (\S+)\n", line)
        if not found:
            raise RuntimeError(f"{name} did not start: {line}")
        self.url = found[1]

    def deliver(self, delivery, body=None, fields=None):
        request = urllib.request.Request(self.url, body or delivery.body, method="POST", headers={
            "Content-Type": "application/json", **delivery.fields, **(fields or {})})
        try:
            return urllib.request.urlopen(request, timeout=PATIENCE).status
        except urllib.error.HTTPError as error:
            return error.code

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


class Judge:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.failures = self.steps = self.compared = self.delivered = 0
        self.seen = {}

    def expect(self, sentence, holds, detail=""):
        if not holds:
            self.failures += 1
            print(f"FAILED: {sentence} {detail}", flush=True)

    def deliver(self, receiver, deliveries, at_once=4):
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            statuses = list(pool.map(receiver.deliver, deliveries))
        self.delivered += len(statuses)
        self.expect(f"{receiver.name} accepts deliveries", set(statuses) <= {204}, set(statuses))

    def disturbed(self, new, old):
        """New deliveries doubled, some old ones again, all shuffled."""
        mixed = new * 2 + self.random.sample(old, min(len(old), 10))
        self.random.shuffle(mixed)
        return mixed

    def differences(self, rows, snapshots, now):
        """What differs between the tables and the server's answers."""
        held, found = rows.all(), []
        for customer, snapshot in snapshots.items():
            for entitlement, answer in snapshot["entitlements"].items():
                row = held.pop((customer, entitlement), None)
                if row is None:
                    # A customer without events has no rows, and no access.
                    if answer["access"] or snapshot["customerVersion"]:
                        found.append((customer, entitlement, "no row", answer["state"]))
                    continue
                wanted = self.wanted(answer, self.seen.get((customer, entitlement)))
                found += [(customer, entitlement, name, row[name], value)
                          for name, value in wanted.items() if row[name] != value]
                if rows.has_access(customer, entitlement, now) != answer["access"]:
                    found.append((customer, entitlement, "has_access", answer["access"]))
        return found + [(*key, "must not exist") for key in held]

    def wanted(self, answer, trial):
        return {
            "access": answer["access"], "reason": answer["reason"],
            "product_id": answer["productId"], "store": answer["store"],
            "expires_at": instant(answer["accessUntil"]), "grace_ends_at": instant(answer["graceUntil"]),
            "auto_renew": answer["willRenew"],
            "trial_started_at": instant(trial and trial["startedAt"]),
            "trial_ends_at": instant(trial and trial["endsAt"]),
        }

    def note_trials(self, snapshots):
        for customer, snapshot in snapshots.items():
            for entitlement, answer in snapshot["entitlements"].items():
                if answer["trial"]:
                    self.seen[customer, entitlement] = answer["trial"]


def instant(text):
    return text and datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def soon(sentence, probe):
    """The first true result of a function that is called again and again."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = probe()
        if found:
            return found
        time.sleep(0.05)
    raise RuntimeError(f"not seen: {sentence}")


class Stage(ProgramStage):
    """The simulated stores, and a server that follows their clock."""

    def __init__(self, program):
        super().__init__(program)
        self.recorder = Recorder()
        self.cursor = None

    def __enter__(self):
        try:
            self.set_up()
        except BaseException as error:
            if self.log.exists():
                print(self.log.read_text(), file=sys.stderr)
            self.close()
            raise error
        return self

    def set_up(self):
        self.url = f"http://127.0.0.1:{free_port()}"
        (self.folder / "store.json").write_text(json.dumps(STORE))
        self.start([self.program, "sandbox", "serve", "store.json", "--listen", "127.0.0.1:0",
                    "--target", self.url, "--authority", "authority"])
        self.store = self.logged(r"the simulated stores listen on (\S+)")
        soon("the stores' keys", (self.folder / "authority/service-account.json").exists)
        self.secret = self.run("webhooks", "secret").strip()
        self.write_secret("secret.txt", self.secret)
        (self.folder / "tideover.json").write_text(json.dumps(self.configuration()))
        self.start([self.program, "serve", "--config", "tideover.json", "--clock", f"{self.store}/clock"])
        self.logged(r'("event":"listening")')
        self.key = self.run("keys", "add", "--kind", "secret", "--app", APP,
                            "--config", "tideover.json").strip()
        self.customers = {one["name"]: one["appAccountToken"]
                          for one in json.loads(self.control())["customers"]}

    def configuration(self):
        return {
            "server": {"listen": self.url.removeprefix("http://")}, "storage": "sqlite:tideover.db",
            "webhooks": [{"id": "mirror", "url": f"{self.recorder.url}/hooks", "events": ["*"],
                          "secretFile": "secret.txt", "allowNetworks": ["127.0.0.0/8"]}],
            "apps": [{
                "id": APP, "environments": [ENVIRONMENT],
                "appStore": {
                    "bundleId": "com.example.cards", "appAppleId": 1234567890,
                    "issuerId": "57246542-96fe-1a63-e053-0824d011072a", "keyId": "REHEARSAL1",
                    "privateKeyFile": "authority/AuthKey_REHEARSAL1.p8",
                },
                "googlePlay": {
                    "packageName": "com.example.cards",
                    "push": {"audience": "https://tideover.example/push",
                             "email": "pusher@tideover-rehearsal.iam.gserviceaccount.com"},
                    "serviceAccountFile": "authority/service-account.json",
                },
                "simulatedStore": {"url": self.store, "root": "authority/root.der"},
                "products": CATALOGUE,
            }],
        }

    def control(self, *arguments):
        return self.run("sandbox", "control", *arguments, "--store", self.store, "--json")

    def logged(self, pattern):
        return soon(pattern, lambda: re.search(pattern, self.log.read_text()))[1]

    def get(self, path, **query):
        url = f"{self.url}/v1/apps/{APP}/{path}?{urllib.parse.urlencode(query)}"
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {self.key}"})
        return json.load(urllib.request.urlopen(request, timeout=PATIENCE))

    def now(self):
        return json.load(urllib.request.urlopen(f"{self.store}/clock", timeout=PATIENCE))["now"]

    def play(self, step):
        arguments = [word.replace("'", "") for word in re.findall(r"(?:[^\s']|'[^']*')+", step)]
        if arguments[0] == "grant":
            self.run("grant", self.customers[arguments[1]], "--entitlement", "premium", "--days", "30",
                     "--why", "an outage", "--config", "tideover.json")
        else:
            self.control(*arguments)

    def snapshots(self):
        """The server's answers, once it follows the store's clock."""
        now = self.now()

        def read():
            found = {one: self.get(f"customers/{one}", environment=ENVIRONMENT)
                     for one in self.customers.values()}
            return all(one["asOf"] >= now for one in found.values()) and found
        return soon(f"the server has the time {now}", read), now

    def new_deliveries(self):
        """The deliveries of all events that the feed has now and had not before, in order."""
        query = {"after": self.cursor} if self.cursor else {}
        page = self.get("events", limit=1000, **query)
        self.cursor = page["next"] or self.cursor
        ids = [event["id"] for event in page["events"]]
        soon("a delivery of each event", lambda: set(ids) <= set(self.recorder.deliveries))
        return [self.recorder.deliveries[one] for one in ids]


def held_back(judge, deliveries):
    """Some deliveries that arrive a step later: none of the newest answer, and no trial's dates."""
    newest = {}
    for one in deliveries:
        newest[one.event["customer"]] = max(one.version, newest.get(one.event["customer"], 0))
    return [one for one in deliveries
            if one.version < newest[one.event["customer"]] and judge.random.random() < 0.5
            and not (one.event["data"].get("to") or {}).get("trial")]


def play(judge, stage, ordered, disturbed):
    """Plays the story; returns all deliveries."""
    everything, late = [], []
    for step, statuses in STORY:
        stage.play(step)
        judge.steps += 1
        end_of_patience = time.monotonic() + PATIENCE
        while True:
            snapshots, now = stage.snapshots()
            judge.note_trials(snapshots)
            new = stage.new_deliveries()
            judge.deliver(ordered, new, at_once=1)
            kept = held_back(judge, new)
            batch = [one for one in new if one not in kept] + late
            for receiver in disturbed:
                judge.deliver(receiver, judge.disturbed(batch, everything))
            everything += batch
            late = kept
            rows = [receiver.rows for receiver in (ordered, *disturbed)]
            found = {one.address: judge.differences(one, snapshots, now) for one in rows}
            behind = any(found.values()) or any(wrong_statuses(stage, one, statuses) for one in rows)
            if not behind or time.monotonic() > end_of_patience:
                break
            time.sleep(0.2)
        for one in rows:
            judge.compared += len(one.all())
            judge.expect(f"{step}: {one.address} equals the server", not found[one.address],
                         found[one.address])
            wrong = wrong_statuses(stage, one, statuses)
            judge.expect(f"{step}: statuses in {one.address}", not wrong, wrong)
    return everything + late


def wrong_statuses(stage, rows, statuses):
    held = rows.all()
    found = {name: held.get((stage.customers[name], "premium"), {}).get("status") for name in statuses}
    return {name: (status, statuses[name]) for name, status in found.items() if status != statuses[name]}


def forged(judge, stage, receivers, delivery):
    """Messages that a receiver must refuse. Each would change a row."""
    event = {**delivery.event, "customerVersion": 1_000_000}
    event["data"] = {**event["data"], "answer": {}}
    body = json.dumps(event).encode()
    now = int(time.time())
    other = "whsec_" + base64.b64encode(b"another secret of 32 characters.").decode()
    cases = {
        "a changed body": {},
        "another secret": signed(other, now, body),
        "an old timestamp": signed(stage.secret, now - 600, body),
        "a future timestamp": signed(stage.secret, now + 600, body),
        "no signature": {"webhook-signature": ""},
    }
    for receiver in receivers:
        before = receiver.rows.all()
        for name, fields in cases.items():
            status = receiver.deliver(delivery, body, fields)
            judge.expect(f"{receiver.name} refuses {name}", status == 401, status)
        judge.expect(f"{receiver.name} applied no forgery", receiver.rows.all() == before)


def signed(secret, moment, body):
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"forged.{moment}.".encode() + body, hashlib.sha256).digest()
    return {"webhook-id": "forged", "webhook-timestamp": str(moment),
            "webhook-signature": "v1," + base64.b64encode(digest).decode()}


# What a Supabase project has before anything is added.
PROJECT = """
create schema auth;
create function auth.uid() returns uuid language sql stable as
  $$ select nullif(current_setting('request.jwt.claim.sub', true), '')::uuid $$;
grant usage on schema auth, public to anon, authenticated, service_role;
grant execute on function auth.uid() to anon, authenticated, service_role;
alter default privileges in schema public grant all on tables to anon, authenticated, service_role;
alter default privileges in schema public grant all on functions to anon, authenticated, service_role;
"""
ROLES = "create role anon; create role authenticated; create role service_role bypassrls"


class SupabaseRows(Rows):
    def __init__(self, name):
        super().__init__(name)
        self.run(MIRROR / "supabase/policies.sql")

    def run(self, file):
        with psycopg.connect(self.address) as connection:
            if file.name == "postgres.sql":
                connection.execute(PROJECT)
            connection.execute(file.read_text())

    def count(self, role, customer, query):
        with psycopg.connect(self.address) as connection:
            connection.execute("select set_config('request.jwt.claim.sub', %s, true)", (customer,))
            connection.execute(f"set local role {role}")
            return connection.execute(query).fetchone()[0]


def privileges(judge, rows, mine, other):
    """Users of a Supabase project see their own rows, and change nothing."""
    count = "select count(*) from subscriptions"
    judge.expect("a user reads rows", rows.count("authenticated", mine, count) > 0)
    foreign = f"{count} where user_id <> '{mine}'"
    judge.expect("a user reads no other's rows", rows.count("authenticated", mine, foreign) == 0)
    access = f"select count(*) filter (where has_access('{other}', 'premium')) from (select 1) as one"
    judge.expect("a user learns no other's access", rows.count("authenticated", mine, access) == 0)
    for role in ("anon", "authenticated"):
        for query in ("select apply_tideover('{}', 'cards', 'simulated')",
                      "select replace_subscriptions('x', '{}')", "select note_trial('x', '{}', 1)",
                      "delete from subscriptions returning 1", "select count(*) from users",
                      "update subscriptions set access = true returning 1"):
            try:
                rows.count(role, mine, query)
                judge.expect(f"{role} may not: {query}", False)
            except psycopg.errors.InsufficientPrivilege:
                pass


def main(program, edge_function, seed):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    judge = Judge(int(seed))
    with psycopg.connect("dbname=postgres", autocommit=True) as connection:
        connection.execute(ROLES)
    with Stage(program) as stage:
        def python(name):
            rows = Rows(name)
            command = [sys.executable, "-B", MIRROR / "postgres.py", APP, ENVIRONMENT, "0"]
            return started(f"postgres.py ({name})", command, rows,
                           {"WEBHOOK_SECRET": stage.secret, "DATABASE_URL": rows.address})

        def supabase(name, keys):
            rows = SupabaseRows(name)
            command = ["node", "scripts/edge_function.mjs", edge_function]
            return started(f"the Supabase function ({name})", command, rows, {
                "TIDEOVER_WEBHOOK_SECRET": stage.secret, "TIDEOVER_APP": APP,
                "TIDEOVER_ENVIRONMENT": ENVIRONMENT, "SUPABASE_URL": Rest(rows.address).url, **keys})

        def started(*arguments):
            receiver = Receiver(*arguments)
            stage.callback(receiver.stop)
            return receiver

        ordered = python("in_order")
        disturbed = [python("disturbed"), supabase("supabase", SECRET_KEYS)]
        everything = play(judge, stage, ordered, disturbed)
        backwards = [python("backwards"), supabase("supabase_backwards", OLDER_KEY)]
        for receiver in backwards:
            judge.deliver(receiver, everything[::-1], at_once=1)
            judge.expect(f"{receiver.name}: the same rows in reverse order",
                         receiver.rows.all() == ordered.rows.all())
        missing = STATUSES - {status for _, statuses in STORY for status in statuses.values()}
        judge.expect("the story has every status", not missing, missing)
        forged(judge, stage, [ordered, disturbed[1]], everything[0])
        privileges(judge, disturbed[1].rows, stage.customers["anna"], stage.customers["ben"])
    print(f"failures: {judge.failures}, steps: {judge.steps}, rows: {judge.compared}, "
          f"deliveries: {judge.delivered}")
    return 1 if judge.failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
