"""Runs Schemathesis against a server that has customers of both stores and of RevenueCat.

Run by scripts/fuzz-api.sh, which installs Schemathesis. Every process listens on loopback, is started
here and is ended here by its own id. Each check is one sentence; any that fails makes the run fail.
"""

import base64
import http.client
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from program_stage import free_port

CUSTOMERS = {
    "anna": "7e3fb20b-4cdb-47cc-936d-99d65f608138",
    "ben": "11111111-2222-4333-8444-555555555555",
    "cleo": "3b0c8f1e-90a4-4a57-9c5e-5a5a0c0f1d22",
    "dora": "9d2f7c66-1f0b-4e4e-8a3c-0f5f6e7d8c99",
}
DASHBOARD = "Bearer of the dashboard"
ENVIRONMENTS = {"cards": ["simulated"], "notes": ["production", "sandbox"]}
CHECKS = [
    "not_a_server_error", "status_code_conformance", "content_type_conformance",
    "response_headers_conformance", "response_schema_conformance", "unsupported_method",
    "allow_header_conformance",
]
# 503 is allowed where the document has it; elsewhere, status_code_conformance fails.
SETTINGS = """
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 503]
"""
PRODUCTS = {
    "cards.pro.monthly": {"entitlements": ["premium"], "group": "pro", "period": "P1M", "grace": "P16D"},
    "cards.pro:monthly": {"entitlements": ["premium"], "group": "cards.pro", "period": "P1M", "grace": "P7D"},
    "cards.lifetime": {"entitlements": ["premium"], "kind": "nonConsumable"},
}


class Checks:
    def __init__(self):
        self.held, self.count = 0, 0

    def check(self, sentence, holds):
        self.count += 1
        self.held += bool(holds)
        print(f"{'held  ' if holds else 'FAILED'} {sentence}", flush=True)


class World:
    """A simulated store, a server beside it, and the files of both."""

    def __init__(self, binary, folder, logs):
        self.binary, self.folder, self.logs = binary, folder, logs
        self.store_url = f"http://127.0.0.1:{free_port()}"
        self.url = f"http://127.0.0.1:{free_port()}"
        self.config = folder / "tideover.json"
        self.processes = []
        self.admin_key = None

    # Processes

    def start(self, name, *arguments):
        with open(self.logs / f"{name}.log", "ab") as log:
            process = subprocess.Popen([self.binary, *arguments], stdout=log, stderr=log, cwd=self.folder)
        self.processes.append(process)
        return process

    def run(self, *arguments):
        """What a command wrote; None where it failed, and its messages are logged."""
        done = subprocess.run(
            [self.binary, *arguments], capture_output=True, text=True, cwd=self.folder, timeout=120
        )
        with open(self.logs / "commands.log", "a", encoding="utf-8") as log:
            log.write(f"$ tideover {' '.join(arguments)}\n{done.stdout}{done.stderr}({done.returncode})\n")
        return done.stdout if done.returncode == 0 else None

    def start_store(self):
        self.start(
            "store", "sandbox", "serve", str(self.folder / "store.json5"),
            "--listen", self.store_url.removeprefix("http://"), "--target", self.url,
            "--authority", str(self.folder / "store"), "--month", "2min",
        )
        account = self.folder / "store" / "service-account.json"
        return wait_for(f"{self.store_url}/clock") and wait_until(account.exists)

    def start_server(self):
        server = self.start("server", "serve", "--config", str(self.config))
        return server if wait_for(f"{self.url}/healthz") else None

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()

    # Files

    def write_files(self):
        store = {
            "scenario": "A store to fuzz beside", "source": "Scenarios/README.md",
            "app": {"id": "cards", "bundleId": "com.example.cards"},
            "products": {
                "cards.pro.monthly": {
                    "entitlements": ["premium"], "group": "pro", "period": "P1M", "price": "9.99 USD",
                    "grace": "P16D",
                }
            },
            "googlePlay": {
                "packageName": "com.example.cards",
                "subscriptions": {
                    "cards.pro": {
                        "entitlements": ["premium"],
                        "basePlans": {"monthly": {"period": "P1M", "price": "9.99 USD", "grace": "7 d"}},
                    }
                },
                "products": {"cards.lifetime": {"entitlements": ["premium"], "price": "149.99 USD"}},
            },
            "customers": {
                name: {
                    "store": "googlePlay" if name in ("ben", "dora") else "appStore",
                    "appAccountToken": token,
                }
                for name, token in CUSTOMERS.items()
            },
            "start": "2026-05-01T10:00:00Z",
        }
        self.write("store.json5", json.dumps(store))
        self.write("dashboard.txt", DASHBOARD)

    def write_configuration(self):
        secret = base64.urlsafe_b64encode(os.urandom(32)).decode().rstrip("=")
        self.admin_key = f"tideover_admin_{secret}"
        self.write("admin.key", self.admin_key)
        self.write("pass-key.pem", self.run("keys", "pass") or "")
        relay = {"webhookAuthorizationFile": "dashboard.txt"}
        cards = {
            "id": "cards", "environments": ENVIRONMENTS["cards"],
            "appStore": {
                "bundleId": "com.example.cards", "appAppleId": 1234567890,
                "issuerId": "57246542-96fe-1a63-e053-0824d011072a", "keyId": "REHEARSAL1",
                "privateKeyFile": "store/AuthKey_REHEARSAL1.p8",
            },
            "googlePlay": {
                "packageName": "com.example.cards",
                "push": {
                    "audience": "https://tideover.example/push",
                    "email": "pusher@tideover-rehearsal.iam.gserviceaccount.com",
                },
                "serviceAccountFile": "store/service-account.json",
            },
            "revenueCat": relay,
            "simulatedStore": {"url": self.store_url, "root": "store/root.der"},
            "products": PRODUCTS,
        }
        notes = {
            "id": "notes", "environments": ENVIRONMENTS["notes"],
            "appStore": {"bundleId": "com.example.notes", "appAppleId": 1234567891},
            "revenueCat": relay, "products": PRODUCTS,
        }
        self.write("tideover.json", json.dumps({
            "server": {
                "listen": self.url.removeprefix("http://"), "adminKeyFile": "admin.key",
                "limits": {"connectionsPerAddress": 0, "refusalsPerMinute": 0},
            },
            "pass": {"keyFile": "pass-key.pem"},
            "storage": "sqlite:tideover.db",
            "apps": [cards, notes],
        }))

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)

    # Requests

    def ask(self, path, body=None, key=None, **headers):
        """Status and body of an answer; a status of 0 where there was none."""
        key = key or self.admin_key
        if key:
            headers.setdefault("Authorization", f"Bearer {key}")
        if body is not None:
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self.url + path, data=body, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status, response.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except OSError as error:
            return 0, str(error).encode()

    def make_key(self, kind, *more):
        return (self.run("keys", "add", "--kind", kind, "--config", str(self.config), *more) or "").strip()


def wait_until(holds, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.1)
    return False


def wait_for(url):
    def is_answered():
        try:
            with urllib.request.urlopen(url, timeout=5):
                return True
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False

    return wait_until(is_answered)


# Data


def rfc3339(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def answers():
    """RevenueCat's answers about every customer, each with a production and a sandbox subscription."""
    now, day = int(time.time()), 86_400
    lines = []
    for number, customer in enumerate(CUSTOMERS.values()):
        def subscription(is_sandbox, transaction, store):
            return {
                "purchase_date": rfc3339(now - 5 * day), "expires_date": rfc3339(now + 25 * day),
                "period_type": "normal", "store": store, "is_sandbox": is_sandbox,
                "ownership_type": "PURCHASED", "store_transaction_id": transaction,
            }

        lines.append(json.dumps({
            "request_date_ms": now * 1000, "request_date": rfc3339(now), "app_user_id": customer,
            "subscriber": {
                "original_app_user_id": customer,
                "subscriptions": {
                    "cards.pro.monthly": subscription(False, f"30000000000000{number}", "app_store"),
                    "cards.pro:monthly": subscription(True, f"GPA.33{number}", "play_store"),
                },
                "entitlements": {
                    "premium": {
                        "product_identifier": "cards.pro.monthly", "expires_date": rfc3339(now + 25 * day),
                    }
                },
            },
        }))
    return lines


def event(customer, environment, number):
    now, day = int(time.time() * 1000), 86_400_000
    return json.dumps({
        "api_version": "1.0",
        "event": {
            "type": "INITIAL_PURCHASE", "id": f"{environment}-{number}", "event_timestamp_ms": now,
            "app_user_id": customer, "original_app_user_id": customer, "aliases": [customer],
            "product_id": "cards.pro.monthly", "entitlement_ids": ["premium"], "period_type": "NORMAL",
            "purchased_at_ms": now - day, "expiration_at_ms": now + 29 * day, "store": "APP_STORE",
            "environment": environment, "transaction_id": f"4000000000000{number}",
            "original_transaction_id": f"4000000000000{number}",
        },
    }).encode()


STEPS = [
    ["subscribe", "customer=anna"],
    ["subscribe", "customer=cleo"],
    ["buy", "customer=ben", "product=cards.pro", "plan=monthly"],
    ["buy", "customer=dora", "product=cards.lifetime"],
    ["cancel", "customer=cleo"],
]


def fill(world, checks):
    for step in STEPS:
        words = " ".join(step)
        told = world.run("sandbox", "control", *step, "--store", world.store_url)
        checks.check(f"the simulated stores: {words}", told is not None)
    world.write("answers.jsonl", "\n".join(answers()) + "\n")
    config = str(world.config)
    imported = world.run("import", "revenuecat", "answers.jsonl", "--app", "notes", "--config", config)
    checks.check("RevenueCat's answers are imported", imported is not None)
    for app, environments in ENVIRONMENTS.items():
        statuses = [
            world.ask(
                f"/v1/apps/{app}/notifications/revenuecat",
                event(customer, environment, number),
                Authorization=DASHBOARD,
            )[0]
            for environment in (["SANDBOX"] if app == "cards" else ["PRODUCTION", "SANDBOX"])
            for number, customer in enumerate(CUSTOMERS.values())
        ]
        checks.check(f"{app}: RevenueCat's webhooks are taken in", set(statuses) == {200})
    for app, environments in ENVIRONMENTS.items():
        for environment in environments:
            grant = json.dumps({"entitlement": "premium", "days": 7, "why": "a gift"}).encode()
            path = f"/v1/apps/{app}/customers/{CUSTOMERS['anna']}/grants?environment={environment}"
            checks.check(f"{app}: {environment} has a grant", world.ask(path, grant)[0] in (200, 201))


def known(world):
    """What the hooks put into requests."""
    grants = []
    for app, environments in ENVIRONMENTS.items():
        for environment in environments:
            path = f"/v1/apps/{app}/customers/{CUSTOMERS['anna']}/grants?environment={environment}"
            grants += [grant["id"] for grant in json.loads(world.ask(path)[1])["grants"]]
    for _ in range(20):
        world.ask("/v1/keys", b'{"kind": "secret", "apps": ["notes"]}')
    keys = json.loads(world.ask("/v1/keys")[1])["keys"]
    export = world.ask("/v1/apps/notes/export")[1].decode().splitlines()
    return {
        "path": {
            "app": list(ENVIRONMENTS), "customer": list(CUSTOMERS.values()), "grant": grants,
            # Without the keys of the runs themselves.
            "id": [key["id"] for key in keys if not key.get("name")],
        },
        "query": {
            "app": list(ENVIRONMENTS), "environment": sum(ENVIRONMENTS.values(), []),
            "transaction": ["300000000000000", "40000000000001"], "order": ["GPA.330", "GPA.331"],
            "apply": ["true", "false"], "limit": ["1", "100"],
        },
        "body": {"entitlement": ["premium"], "apps": [["cards"], ["notes"]], "alias": ["u_43", "u_44"]},
        "answers": answers(), "export": export, "dashboard": DASHBOARD, "now": int(time.time() * 1000),
    }


# Fuzzing


def canaries(world):
    """Documents with one path, and with one planted fault each, which must be found."""
    document = json.loads(world.ask("/openapi.json")[1])
    schema = {name: value for name, value in document.items() if name != "paths"}
    health = document["paths"]["/healthz"]["get"]
    body = {"description": "ok", "content": {"application/json": {"schema": {"type": "array"}}}}
    return {
        "canary-body": {**schema, "paths": {"/healthz": {"get": {**health, "responses": {"200": body}}}}},
        "canary-status": {
            **schema, "paths": {"/healthz": {"get": {**health, "responses": {"201": body}}}},
        },
    }


def fuzz(world, name, key, seconds, seed, document="/openapi.json"):
    """What Schemathesis ended with, with one key or none: 0 where it found nothing, 1 where it found
    something; and where its log is."""
    world.write("schemathesis.toml", SETTINGS)
    if isinstance(document, dict):
        world.write(f"{name}.json", json.dumps(document))
        place = str(world.folder / f"{name}.json")
    else:
        place = world.url + document
    command = [
        str(pathlib.Path(sys.executable).parent / "schemathesis"),
        "--config-file", str(world.folder / "schemathesis.toml"),
        "run", place, "--url", world.url,
        "--phases", "coverage,fuzzing", "--checks", ",".join(CHECKS), "--mode", "all",
        "--max-time", str(seconds), "--continue-on-failure", "--request-timeout", "30",
        "--seed", str(seed), "--suppress-health-check", "all", "--no-color", "--warnings", "off",
        "--generation-database", "none",
    ]
    environment = dict(
        os.environ, SCHEMATHESIS_HOOKS="fuzz_api_hooks", TIDEOVER_FUZZ_KEY=key or "",
        TIDEOVER_FUZZ_KNOWN=str(world.folder / "known.json"), PYTHONDONTWRITEBYTECODE="1",
        PYTHONPATH=str(pathlib.Path(__file__).parent),
    )
    path = world.logs / f"{name}.log"
    with open(path, "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=world.folder, env=environment)
        world.processes.append(process)
        try:
            return process.wait(seconds * 2 + 60), path
        except subprocess.TimeoutExpired:
            process.kill()
            return None, path


def found_nothing(code, path):
    if code == 0:
        return True
    print(f"--- the end of {path}")
    print("\n".join(path.read_text(errors="replace").splitlines()[-60:]))
    return False


# Requests that Schemathesis does not make: a parameter that no route takes, a query that is not
# percent-encoded UTF-8, and a body beyond the limit.
LONGEST_BODY = 262_144


def undocumented(world):
    """What the operations of the document answer to such requests, and do not document."""
    paths = json.loads(world.ask("/openapi.json")[1])["paths"]
    places = json.loads((world.folder / "known.json").read_text())["path"]
    values = {name: values[0] for name, values in places.items() if values}
    found = []
    for path, operations in paths.items():
        for method, operation in operations.items():
            target = path
            for name, value in values.items():
                target = target.replace("{" + name + "}", value)
            tries = [(target + "?colour=red", None), (target + "?%ff=1", None)]
            if method == "post":
                tries.append((target, b"x" * (LONGEST_BODY + 1)))
            for where, body in tries:
                status = send(world, method.upper(), where, body)
                if str(status) not in operation["responses"]:
                    found.append(f"{method.upper()} {path}: {status}")
    return found


def send(world, method, target, body):
    """The status of an answer, which can come before the body was sent."""
    connection = http.client.HTTPConnection(world.url.removeprefix("http://"), timeout=30)
    headers = {"Authorization": f"Bearer {world.admin_key}", "Content-Length": str(len(body or b""))}
    try:
        connection.putrequest(method, target)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        try:
            connection.send(body or b"")
        except OSError:
            pass
        return connection.getresponse().status
    finally:
        connection.close()


def answers_still(world, checks, when):
    for path in ("/healthz", "/readyz"):
        checks.check(f"{when}: {path} answers 200", world.ask(path)[0] == 200)
    for app, environments in ENVIRONMENTS.items():
        for environment in environments:
            path = f"/v1/apps/{app}/customers/{CUSTOMERS['anna']}?environment={environment}"
            status, body = world.ask(path)
            holds = status == 200 and "premium" in json.loads(body).get("entitlements", {})
            checks.check(f"{when}: {app} answers about a customer in {environment}", holds)


def replay(world, checks, server):
    for app, environments in ENVIRONMENTS.items():
        for environment in environments:
            told = world.run(
                "replay", "--app", app, "--config", str(world.config), "--environment", environment,
                "--apply", "--server", world.url,
            )
            alive = server.poll() is None
            checks.check(f"replay --apply of {app} in {environment} ends well", told is not None and alive)
            if not alive:
                # The other checks still run.
                server = world.start_server()
                if server is None:
                    checks.check("a server starts again after that", False)
                    return None
    return server


def main(binary, seconds, logs, folder):
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    # The server reads variables with that prefix as configuration.
    for name in [name for name in os.environ if name.startswith("TIDEOVER_")]:
        del os.environ[name]
    checks, world = Checks(), World(binary, folder, logs)
    try:
        world.write_files()
        checks.check("the simulated stores start", world.start_store())
        world.write_configuration()
        server = world.start_server()
        checks.check("the server starts", server is not None)
        if server is None:
            return checks
        fill(world, checks)
        keys = {
            "no-key": None,
            "public-key": world.make_key("public", "--app", "cards", "--app", "notes", "--name", "fuzz"),
            "secret-key": world.make_key("secret", "--name", "fuzz"),
            "admin-key": world.admin_key,
        }
        world.write("known.json", json.dumps(known(world)))
        seed = int.from_bytes(os.urandom(4), "big")
        print(f"seed {seed}", flush=True)
        for name, document in canaries(world).items():
            code, path = fuzz(world, name, None, 3, seed, document)
            is_found = code == 1 and "Server error" not in path.read_text(errors="replace")
            checks.check(f"{name}: the planted fault is found", is_found)
        for name, key in keys.items():
            code, path = fuzz(world, name, key, max(5, seconds // len(keys)), seed)
            checks.check(f"{name}: every answer is as /openapi.json says", found_nothing(code, path))
            alive = server.poll() is None
            checks.check(f"{name}: the server still runs", alive)
            if not alive:
                server = world.start_server()
                if server is None:
                    return checks
        found = undocumented(world)
        print("".join(f"undocumented: {line}\n" for line in found), end="")
        checks.check("what every route refuses is answered as /openapi.json says", not found)
        answers_still(world, checks, "after the fuzzing")
        server = replay(world, checks, server)
        if server is not None:
            server.terminate()
            checks.check("the server stops in order", server.wait(60) == 0)
            checks.check("the server starts again on the same database", world.start_server() is not None)
            answers_still(world, checks, "after the restart")
        return checks
    finally:
        world.end()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="tideover-fuzz-api-") as place:
        result = main(sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve(), pathlib.Path(place))
    print(f"held: {result.held} of {result.count}")
    sys.exit(result.held != result.count)
