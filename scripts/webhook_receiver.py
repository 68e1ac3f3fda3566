"""A receiver of webhooks and a running server, for scripts/verify_webhooks.py.

The receiver follows the public specification of Standard Webhooks 1.0.0 only. Its library
verifies each message; this file adds the check of `v1a` signatures, which the library lacks.
"""

import asyncio
import base64
import collections
import http.client
import json
import pathlib
import re
import subprocess
import threading
import time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError

PATIENCE = 120  # seconds, on a busy machine
LOOPBACK = "127.0.0.1"

Message = collections.namedtuple("Message", "name id at headers body status")


def committed_at(event):
    """The second at which an event was stored: the first 48 bits of its id are milliseconds."""
    return int(event.replace("-", "")[:12], 16) / 1_000


def verified_by_secret(secret, message):
    try:
        Webhook(secret).verify(message.body, message.headers)
    except WebhookVerificationError:
        return False
    return True


def verified_by_key(public_key, message):
    """Whether a signature `v1a` is the key's: Ed25519 over `id.timestamp.body`."""
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key.removeprefix("whpk_")))
    fields = message.headers
    signed = f"{fields['webhook-id']}.{fields['webhook-timestamp']}.".encode() + message.body
    for signature in fields["webhook-signature"].split():
        version, text = signature.split(",", 1)
        if version == "v1a":
            try:
                key.verify(base64.b64decode(text), signed)
                return True
            except InvalidSignature:
                pass
    return False


class Receiver:
    """Answers on loopback and keeps each message. The path names the receiver: `/NAME`.

    `answers[NAME]` is a function of the message and of the number of earlier ones. It returns a
    status, header fields and a delay in seconds; None never answers. Others answer 204 at once.
    """

    def __init__(self):
        self.answers, self.messages, self.connections = {}, [], 0
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        threading.Thread(target=self.run, args=(ready,), daemon=True).start()
        ready.wait()

    def run(self, ready):
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(
            asyncio.start_server(self.serve, LOOPBACK, 0, backlog=4_096))
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        self.loop.run_forever()

    def close(self):
        self.loop.call_soon_threadsafe(self.end)

    def end(self):
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.call_later(0.1, self.loop.stop)

    def url(self, name):
        return f"http://{LOOPBACK}:{self.port}/{name}"

    def of(self, name):
        return [message for message in list(self.messages) if message.name == name]

    async def serve(self, reader, writer):
        self.connections += 1
        try:
            while await self.exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # The sender or `end` closed the connection.
        finally:
            writer.close()

    async def exchange(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        fields = dict(line.split(": ", 1) for line in head[1:] if line)
        fields = {name.lower(): value for name, value in fields.items()}
        body = await reader.readexactly(int(fields.get("content-length", 0)))
        name = head[0].split()[1].removeprefix("/")
        at = time.time()
        message = Message(name, fields.get("webhook-id"), at, fields, body, None)
        answer = self.answers.get(name)
        found = answer(message, len(self.of(name))) if answer else (204, {}, 0)
        self.messages.append(message._replace(status=found and found[0]))
        if found is None:
            await asyncio.sleep(PATIENCE)
            return False
        status, extra, delay = found
        if delay:
            await asyncio.sleep(delay)
        length = {} if status == 204 else {"Content-Length": "0"}
        lines = [f"HTTP/1.1 {status} Answer"]
        lines += [f"{field}: {value}" for field, value in {**length, **extra}.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        await writer.drain()
        return True


class Program:
    """A server in a folder of its own, with one app and the webhooks of a list."""

    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        self.process, self.port, self.log = None, None, []
        self.command("init", "--app", "cards", "--bundle", "com.example.cards",
                     "--product", "cards.pro.monthly:P1M", "--folder", self.folder, configured=False)
        self.secret_key = (self.folder / "secret.key").read_text().strip()
        self.admin_key = (self.folder / "admin.key").read_text().strip()

    def configure(self, webhooks):
        configuration = {
            "server": {"listen": f"{LOOPBACK}:0", "adminKeyFile": "admin.key"},
            "storage": "sqlite:tideover.db",
            "apps": [{
                "id": "cards", "environments": ["sandbox"],
                "appStore": {"bundleId": "com.example.cards"},
                "products": {"cards.pro.monthly": {"entitlements": ["premium"], "period": "P1M"}},
            }],
            "webhooks": webhooks,
        }
        (self.folder / "tideover.json").write_text(json.dumps(configuration))
        self.configured = {webhook["id"] for webhook in webhooks}

    def secret(self, file, *words):
        """Writes a new secret into a file, and returns it with what was printed beside it."""
        made = self.command("webhooks", "secret", *words, configured=False)
        path = self.folder / file
        path.touch(0o600)
        path.write_text(made.stdout)
        return made.stdout.strip(), made.stderr

    def command(self, *words, configured=True):
        extra = ["--config", self.folder / "tideover.json"] if configured else []
        return subprocess.run([self.program, *words, *extra], capture_output=True, text=True,
                              timeout=PATIENCE, check=False)

    def start(self):
        self.process = subprocess.Popen(
            [self.program, "serve", "--config", self.folder / "tideover.json"],
            stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            self.log.append(line)
            found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            if found and '"listening"' in line:
                self.port = int(found[1])
                threading.Thread(target=self.read_log, args=(self.process,), daemon=True).start()
                # A new webhook gets the events from the moment at which it is stored.
                if not eventually(lambda: self.configured <= set(self.webhooks())):
                    raise RuntimeError("the server did not store its webhooks")
                return self
        raise RuntimeError("the server did not start:\n" + "".join(self.log[-20:]))

    def read_log(self, process):
        self.log.extend(process.stderr)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)

    def ask(self, method, path, body=None, connection=None, fields=None, key=None):
        """The status and the decoded body of a response."""
        mine = connection or http.client.HTTPConnection(LOOPBACK, self.port, timeout=PATIENCE)
        fields = {"Authorization": f"Bearer {key or self.admin_key}", **(fields or {})}
        mine.request(method, path, json.dumps(body) if body is not None else None, fields)
        response = mine.getresponse()
        text = response.read()
        if connection is None:
            mine.close()
        return response.status, json.loads(text) if text else None

    def grant(self, customer, connection=None):
        """Gives a customer access, which stores two events; repeating it changes nothing."""
        path = f"/v1/apps/cards/customers/{customer}/grants?environment=sandbox"
        status, body = self.ask(
            "POST", path, {"entitlement": "premium", "days": 7, "why": "a trial of webhooks"},
            connection, {"Idempotency-Key": f"grant-of-{customer}"}, self.secret_key)
        if status not in (200, 201):
            raise RuntimeError(f"a grant was answered {status}: {body}")

    def feed(self):
        """Every event of the feed, by its id."""
        events, after, more = {}, "", True
        while more:
            _, page = self.ask("GET", f"/v1/apps/cards/events?limit=1000{after}", key=self.secret_key)
            events |= {event["id"]: event for event in page["events"]}
            after, more = f"&after={page['next']}", page["more"]
        return events

    def webhooks(self):
        _, found = self.ask("GET", "/v1/apps/cards/webhooks")
        return {webhook["id"]: webhook for webhook in found["webhooks"]}

    def attempts(self, name):
        _, found = self.ask("GET", f"/v1/apps/cards/webhooks/{name}/attempts?limit=1000")
        return found["attempts"]


def eventually(probe, patience=PATIENCE):
    """The first true result of a function that is called again and again; its last at the end."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        found = probe()
        if found:
            return found
        time.sleep(0.05)
    return probe()
