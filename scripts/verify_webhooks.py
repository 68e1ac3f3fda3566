"""Tries the webhooks of `tideover serve` with a receiver of its own on loopback.

Run by scripts/verify-webhooks.sh, which installs what it imports. The library `standardwebhooks`
verifies each message. docs/trials.md describes the parts.
"""

import argparse
import collections
import email.utils
import http.client
import json
import os
import pathlib
import queue
import random
import re
import resource
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

from webhook_receiver import (
    LOOPBACK, PATIENCE, Program, Receiver, committed_at, eventually, verified_by_key, verified_by_secret)

LOCAL = ["127.0.0.0/8"]
WAIT = 8  # seconds that a receiver asks for; the plan alone would wait 4.5 to 5.5
GOAL = 5  # seconds from commit to a healthy receiver, at the 99th percentile


class Part:
    """One part of the trial, with a receiver and a server of its own."""

    def __init__(self, options):
        self.options, self.failures, self.found = options, [], collections.Counter()
        self.receiver = Receiver()
        self.place = tempfile.TemporaryDirectory()
        self.server = Program(options.program, self.place.name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.server.process and self.server.process.poll() is None:
            self.server.kill()
        self.receiver.close()
        self.place.cleanup()

    def expect(self, sentence, holds):
        self.found["checks"] += 1
        if not holds:
            self.failures.append(sentence)
            print(f"  failed: {sentence}", flush=True)

    def hook(self, name, url=None, **more):
        return {"id": name, "url": url or self.receiver.url(name), "secretFile": "secret",
                "allowNetworks": LOCAL, **more}

    def verify_all(self, secret):
        """Checks each message with the library, and that the library rejects a changed one."""
        for message in list(self.receiver.messages):
            body = message.body[:-1] + b" }"
            self.expect(f"{message.name}: {message.id} verifies", verified_by_secret(secret, message))
            self.expect("a changed body is rejected",
                        not verified_by_secret(secret, message._replace(body=body)))
            fields = {**message.headers, "webhook-id": "another"}
            self.expect("a changed id is rejected",
                        not verified_by_secret(secret, message._replace(headers=fields)))
            self.found["messages"] += 1

    def equals_feed(self, message, event):
        body = json.loads(message.body)
        same = all(body.get(name) == event[name] for name in event)
        return same and (body["type"], body["timestamp"]) == (event["kind"], event["effectiveAt"])

    def got(self, name, count=1, patience=PATIENCE):
        return eventually(lambda: len(self.receiver.of(name)) >= count, patience)


class Messages(Part):
    """Signatures, rotation, replay, filters, and what a receiver's answers change."""

    def run(self):
        self.secret, _ = self.server.secret("secret")
        _, shown = self.server.secret("signing", "--asymmetric")
        self.public_key = re.search(r"whpk_\S+", shown)[0]
        later = lambda: email.utils.formatdate(time.time() + WAIT + 1, usegmt=True)
        first = {
            "busy": lambda: (429, {"Retry-After": str(WAIT)}, 0), "gone": lambda: (410, {}, 0),
            "pausing": lambda: (503, {"Retry-After": later()}, 0), "broken": lambda: (500, {}, 0)}
        for name, answer in first.items():
            self.receiver.answers[name] = lambda _, count, answer=answer: (
                (204, {}, 0) if count else answer())
        moves = dict(zip((301, 302, 303, 307, 308), map("moved{}".format, range(5))))
        for status, name in moves.items():
            trap = {"Location": self.receiver.url("trap")}
            self.receiver.answers[name] = lambda *_, status=status, trap=trap: (status, trap, 0)
        names = [*first, *moves.values()]
        self.server.configure([
            self.hook("plain", signingKeyFile="signing"), self.hook("started", events=["started"]),
            self.hook("changed", events=["entitlement_*"]),
            *(self.hook(name, events=["started"]) for name in names)])
        self.server.start()
        self.server.grant("anna")
        for name in ("plain", "started", "changed", *names):
            self.expect(f"{name} gets a message", self.got(name, 2 if name == "plain" else 1))
        self.bodies()
        self.gone()
        self.moved(moves)
        self.replays()
        self.pings()
        self.delays()
        self.verify_all(self.secret)
        self.rotation()

    def bodies(self):
        feed = self.server.feed()
        for message in list(self.receiver.messages):
            self.expect(f"{message.name}: the body is the feed's event",
                        self.equals_feed(message, feed[message.id]))
        plain = self.receiver.of("plain")
        self.expect("every event arrives once, in order", [m.id for m in plain] == list(feed))
        numbers = [json.loads(message.body)["sequence"] for message in plain]
        self.expect("sequence rises", numbers == sorted(set(numbers)))
        for message in plain:
            self.expect("v1a verifies", verified_by_key(self.public_key, message))
            changed = message._replace(body=message.body + b" ")
            self.expect("v1a of a changed body is rejected", not verified_by_key(self.public_key, changed))
        for name, kind in (("started", "started"), ("changed", "entitlement_changed")):
            kinds = {json.loads(message.body)["type"] for message in self.receiver.of(name)}
            self.expect(f"{name} gets only {kind}: {kinds}", kinds == {kind})

    def gone(self):
        reason = eventually(lambda: self.server.webhooks()["gone"]["disabled"])
        self.expect(f"410 disables: {reason}", reason == "gone")
        self.server.grant("ben")
        self.expect("others get the next event", self.got("started", 2))
        self.expect("a disabled one gets nothing", len(self.receiver.of("gone")) == 1)
        enabled = self.server.command("webhooks", "enable", "gone")
        self.expect(f"enable succeeds: {enabled.stderr}", enabled.returncode == 0)
        self.expect("what waited arrives", self.got("gone", 3))
        self.expect("the first is repeated", len({m.id for m in self.receiver.of("gone")}) == 2)

    def moved(self, moves):
        for status, name in moves.items():
            attempts = eventually(lambda name=name: self.server.attempts(name))
            found = {(attempt["outcome"], attempt["status"]) for attempt in attempts}
            self.expect(f"{status} is a failure: {found}", found == {("failed", status)})
        self.expect("no redirect is followed", not self.receiver.of("trap"))

    def replays(self):
        plain = self.receiver.of("plain")
        count = len(plain)
        first = plain[0]
        one = self.server.command("webhooks", "replay", "plain", "--event", first.id)
        self.expect(f"replay of an event: {one.stderr}", one.returncode == 0)
        self.expect("the event is sent again", self.got("plain", count + 1))
        again = self.receiver.of("plain")[count]
        self.expect("it is the same event", (again.id, again.body) == (first.id, first.body))
        today = time.strftime("%Y-%m-%d", time.gmtime(plain[0].at))
        whole = self.server.command("webhooks", "replay", "plain", "--from", today)
        self.expect(f"replay of a day: {whole.stderr}", whole.returncode == 0)
        feed = self.server.feed()
        self.expect("all of the day are sent again", self.got("plain", count + 1 + len(feed)))
        ids = {message.id for message in self.receiver.of("plain")[count + 1:]}
        self.expect("the range has each event of the feed", ids == set(feed))
        second = sorted(feed)[1]
        status, found = self.server.ask(
            "POST", "/v1/apps/cards/webhooks/plain/replay", {"after": second})
        self.expect(f"replay after an event: {found}", (status, found["queued"]) == (202, len(feed) - 2))
        count += 1 + len(feed) + found["queued"]
        self.expect("those after it are sent again", self.got("plain", count))
        unknown = "00000000-0000-7000-8000-000000000000"
        status, _ = self.server.ask("POST", "/v1/apps/cards/webhooks/plain/replay", {"event": unknown})
        self.expect(f"an unknown event is refused: {status}", status == 404)

    def pings(self):
        sent = self.server.command("webhooks", "test", "plain")
        self.expect(f"a test succeeds: {sent.stdout}{sent.stderr}",
                    (sent.returncode, sent.stdout) == (0, "delivered: status 204\n"))
        kind = json.loads(self.receiver.of("plain")[-1].body)["type"]
        self.expect(f"the test message is one: {kind}", kind == "webhook_test")
        failed = self.server.command("webhooks", "test", "moved0")
        self.expect(f"a test that fails says so: {failed.stdout}",
                    failed.returncode != 0 and "301" in failed.stdout)

    def delays(self):
        """The first attempts failed; the next ones keep to the plan, or to `Retry-After`."""
        for name, least, most in (("busy", WAIT, 40), ("pausing", WAIT - 1, 40), ("broken", 4.5, 40)):
            first = self.receiver.of(name)[0]
            again = eventually(lambda name=name, first=first: next(
                (m for m in self.receiver.of(name)[1:] if m.id == first.id), None))
            if not again:
                self.expect(f"{name} gets it again", False)
                continue
            waited = again.at - first.at
            self.expect(f"{name} waits {waited:.1f} s", least <= waited <= most)
            self.expect(f"{name}: the body is the same", again.body == first.body)
            fields = [m.headers["webhook-timestamp"] for m in (first, again)]
            self.expect(f"{name}: the timestamp is the attempt's", int(fields[0]) < int(fields[1]))

    def rotation(self):
        (self.server.folder / "previous").touch(0o600)
        (self.server.folder / "previous").write_text(self.secret)
        new, _ = self.server.secret("secret")
        for previous, customer in (("previous", "cara"), (None, "dora")):
            more = {"previousSecretFile": previous} if previous else {}
            self.server.configure([self.hook("plain", **more)])
            reloaded = self.server.command("reload")
            self.expect(f"reload succeeds: {reloaded.stderr}", reloaded.returncode == 0)
            count = len(self.receiver.of("plain"))
            self.server.grant(customer)
            self.expect("messages go on", self.got("plain", count + 2))
            for message in self.receiver.of("plain")[count:]:
                self.expect("the new secret verifies", verified_by_secret(new, message))
                self.expect(f"the former secret verifies: {bool(previous)}",
                            verified_by_secret(self.secret, message) == bool(previous))
                signatures = message.headers["webhook-signature"].split()
                self.expect(f"{len(signatures)} signatures", len(signatures) == (2 if previous else 1))
                self.found["messages"] += 1


class Kills(Part):
    """SIGKILL in the middle of deliveries: each event arrives at least once."""

    def run(self):
        self.secret, _ = self.server.secret("secret")
        dice = random.Random(self.options.seed)
        self.forgotten, self.failed = set(), set()
        self.receiver.answers["all"] = self.answer
        self.server.configure([self.hook("all")])
        self.server.start()
        self.customers = queue.Queue()
        for number in range(self.options.events // 2):
            self.customers.put(f"customer-{number}")
        granting = [threading.Thread(target=self.grant_all, daemon=True) for _ in range(4)]
        for thread in granting:
            thread.start()
        kills = busy = 0
        while kills < self.options.kills:
            time.sleep(dice.uniform(0.05, 0.4))
            before = len(self.receiver.messages)
            self.server.kill()
            kills += 1
            busy += len(self.receiver.messages) > before or not self.customers.empty()
            self.server.start()
        for thread in granting:
            thread.join(PATIENCE)
        feed = self.server.feed()
        missing = lambda: set(feed) - {m.id for m in self.receiver.of("all") if m.status == 204}
        eventually(lambda: not missing())
        self.server.stop()
        self.judge(feed, kills)

    def answer(self, message, _):
        """204, and for some events 500 the first time. The wrong judge forgets others."""
        number = int(message.id[-6:], 16)
        if self.options.wrong and number % 100 == 0:
            self.forgotten.add(message.id)
        if number % 97 == 0 and message.id not in self.failed:
            self.failed.add(message.id)
            return (500, {}, 0)
        return (204, {}, 0)

    def grant_all(self):
        """Gives each customer access, again and again until it is confirmed."""
        connection = None
        while True:
            try:
                customer = self.customers.get_nowait()
            except queue.Empty:
                return
            while True:
                try:
                    connection = connection or http.client.HTTPConnection(
                        LOOPBACK, self.server.port, timeout=PATIENCE)
                    self.server.grant(customer, connection)
                    break
                except (OSError, http.client.HTTPException):
                    connection = None
                    time.sleep(0.02)

    def judge(self, feed, kills):
        kept = [m for m in self.receiver.of("all")
                if m.status == 204 and m.id not in self.forgotten]
        arrived = collections.Counter(message.id for message in kept)
        lost, foreign = set(feed) - set(arrived), set(arrived) - set(feed)
        doubled = sum(arrived.values()) - len(arrived)
        invalid = sum(not verified_by_secret(self.secret, message) for message in kept)
        other = sum(message.id in feed and not self.equals_feed(message, feed[message.id])
                    for message in kept)
        customers = collections.Counter(event["customer"] for event in feed.values())
        with sqlite3.connect(self.server.folder / "tideover.db") as database:
            [integrity] = database.execute("PRAGMA integrity_check").fetchone()
        print(f"  kills: {kills}, events: {len(feed)}, lost: {len(lost)}, doubled: {doubled}, "
              f"integrity: {integrity}", flush=True)
        self.expect(f"none is lost but what the judge forgot: {sorted(lost)[:3]}", lost == self.forgotten)
        self.expect("a wrong judge forgets some", bool(self.forgotten) == self.options.wrong)
        self.expect("every confirmed grant has its two events",
                    len(customers) == self.options.events // 2 and set(customers.values()) == {2})
        self.expect(f"none is foreign: {sorted(foreign)[:3]}", not foreign)
        self.expect(f"all verify, but {invalid}", not invalid)
        self.expect(f"all bodies are the feed's, but {other}", not other)
        self.expect(f"the file is whole: {integrity}", integrity == "ok")
        self.found["messages"] += len(kept)


class Delays(Part):
    """Slow, silent and dead receivers delay no other one."""

    def run(self):
        self.server.secret("secret")
        self.receiver.answers["silent"] = lambda *_: None
        self.receiver.answers["slow"] = lambda *_: (204, {}, 10)
        kinds = {"refusing": self.refusing, "silent": self.silent}
        for kind, dead in kinds.items():
            if kind != "silent" or not self.options.short:
                self.sockets = []
                self.measure(kind, [dead(number) for number in range(self.options.dead)])
                for each in self.sockets:
                    each.close()

    def refusing(self, number):
        """An address at which nothing listens."""
        return f"http://127.{1 + number // 200}.7.{1 + number % 200}:9/"

    def silent(self, number):
        """An address that accepts connections, and never answers."""
        host = f"127.{1 + number // 200}.9.{1 + number % 200}"
        self.sockets.append(socket.create_server((host, 0), backlog=64))
        return f"http://{host}:{self.sockets[-1].getsockname()[1]}/"

    def measure(self, kind, dead):
        # Its id is the last one, so that a server which works through a list reaches it last.
        healthy, begin = f"z-{kind}", len(self.server.log)
        hooks = [self.hook(f"{kind}-{number}", url) for number, url in enumerate(dead)]
        self.server.configure([*hooks, self.hook("silent"), self.hook("slow"), self.hook(healthy)])
        self.server.start()
        connection = http.client.HTTPConnection(LOOPBACK, self.server.port, timeout=PATIENCE)
        grants, end, number = [], time.monotonic() + self.options.seconds, 0
        while time.monotonic() < end:
            asked = time.monotonic()
            self.server.grant(f"{kind}-{number}", connection)
            grants.append(time.monotonic() - asked)
            number += 1
            time.sleep(max(0, 0.2 - grants[-1]))
        arrived = {}
        eventually(lambda: len({m.id for m in self.receiver.of(healthy)}) >= 2 * number, 60)
        for message in self.receiver.of(healthy):
            arrived.setdefault(message.id, message.at - committed_at(message.id))
        delay, grant = percentiles(arrived.values()), percentiles(grants)
        print(f"  {len(dead)} {kind}, 1 silent, 1 slow: {len(arrived)} of {2 * number} events arrived, "
              f"p50 {delay[0]:.2f} s, p99 {delay[1]:.2f} s; grants p50 {grant[0]:.3f} s, "
              f"p99 {grant[1]:.3f} s", flush=True)
        self.expect(f"{kind}: all arrive", len(arrived) == 2 * number)
        self.expect(f"{kind}: p99 {delay[1]:.2f} s is under {GOAL} s", delay[1] < GOAL)
        self.expect(f"{kind}: grants are not delayed, p99 {grant[1]:.2f} s", grant[1] < 1)
        self.expect("the silent and the slow one get messages too",
                    self.receiver.of("silent") and self.receiver.of("slow"))
        errors = [line for line in self.server.log[begin:] if '"code":"storage"' in line]
        self.expect(f"storage is never busy: {errors[:1]}", not errors)
        self.server.kill()
        self.found["messages"] += len(arrived)


def percentiles(values):
    values = sorted(values) or [float("inf")]
    return values[len(values) // 2], values[int(len(values) * 0.99)]


# Hosts that reach something private. `PUBLIC` and `PUBLIC6` are the control: they must be reached.
PUBLIC, PUBLIC6 = "8.8.4.4", "2a00:1450:4001::1"
SPELLINGS = """
127.0.0.1 127.1 127.0.1 127.9.9.9 2130706433 0x7f000001 0x7F.0.0.1 0x7f.1 017700000001 0177.0.0.1
0177.0x0.0.1 00000177.0.0.1 127.0.0.1. 0 0.0.0.0 0x0 00 0.1 localhost LOCALHOST localhost. %31%32%37.0.0.1
10.0.0.1 10.1 167772161 0xa000001 012.0.0.1 172.16.0.1 172.31.255.254 2886729729 192.168.0.1 192.168.1
3232235521 0xc0a80001 0300.0250.0.1 169.254.169.254 169.254.43518 2852039166 0xa9fea9fe
0251.0376.0251.0376 0251.254.0xa9.254 100.64.0.1 100.100.100.200 1681915905 168.63.129.16 192.0.0.192
192.0.2.1 192.88.99.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.250 240.0.0.1
255.255.255.255 4294967295 [::] [::1] [0:0:0:0:0:0:0:1] [0000::1] [::127.0.0.1] [::7f00:1]
[::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:7f00:1] [::FFFF:10.0.0.1] [::ffff:a9fe:a9fe]
[::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b::a9fe:a9fe] [64:ff9b:1::a00:1] [2002:7f00:1::]
[2002:a9fe:a9fe::1] [2001:0:53aa:64c:0:0:80ff:fffe] [2001:db8::1] [2001:2::1] [3fff::1] [100::1]
[fc00::1] [fd00:ec2::254] [fe80::1] [fe80::1%25lo] [fec0::1] [ff02::1] [4000::1] [5f00::1]
①②⑦.⓪.⓪.① 127。0。0。1 １２７.0.0.1
""".split()
NAMES = {
    "loopback.test": [LOOPBACK], "private.test": ["10.0.0.1"], "metadata.test": ["169.254.169.254"],
    "shared.test": ["100.64.0.1"], "six.test": ["::1"], "mapped.test": ["::ffff:127.0.0.1"],
    "unique.test": ["fd00:ec2::254"], "nat64.test": ["64:ff9b::7f00:1"], "any.test": ["0.0.0.0"],
    "mixed.test": ["10.0.0.1", LOOPBACK],
}
PUBLIC_NAME, REBINDING, HALF = "public.test", "rebinding.test", "half.test"


class Guard(Part):
    """No spelling of a private address is reached, in a network namespace of its own.

    There each address is the machine itself, so that a listener sees every connection, and the
    only name server is this program.
    """

    def run(self):
        self.server.secret("secret")
        self.reached = []
        for family, host in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
            for port in (80, 443):
                listener = socket.create_server((host, port), family=family)
                threading.Thread(target=self.listen, args=(listener,), daemon=True).start()
        self.questions = collections.Counter()
        threading.Thread(target=self.resolve, daemon=True).start()
        hosts = (SPELLINGS + list(NAMES))[::4 if self.options.short else 1]
        self.configuration(hosts)
        self.added(hosts)
        self.public()
        self.redirects()

    def listen(self, listener):
        while True:
            connection, _ = listener.accept()
            self.reached.append(connection.getsockname()[0])
            connection.close()

    def resolve(self):
        """Answers questions about the names above; a rebinding one is public only at first."""
        door = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        door.bind((LOOPBACK, 53))
        while True:
            asked, peer = door.recvfrom(512)
            labels, place = [], 12
            while asked[place]:
                labels.append(asked[place + 1:place + 1 + asked[place]].decode().lower())
                place += 1 + asked[place]
            name, kind = ".".join(labels), int.from_bytes(asked[place + 1:place + 3])
            self.questions[name, kind] += 1
            rebound = [PUBLIC] if self.questions[name, kind] % 2 else [LOOPBACK]
            known = {**NAMES, PUBLIC_NAME: [PUBLIC], REBINDING: rebound, HALF: [PUBLIC, "10.0.0.1"]}
            found = [address for address in known.get(name, []) if (":" in address) == (kind == 28)]
            records = b""
            for address in found if kind in (1, 28) else []:
                packed = socket.inet_pton(socket.AF_INET6 if kind == 28 else socket.AF_INET, address)
                records += b"\xc0\x0c" + kind.to_bytes(2) + b"\0\1\0\0\0\0" + len(packed).to_bytes(2) + packed
            code = b"\x81\x80" if name in known else b"\x81\x83"
            counts = b"\0\1" + (len(found) if records else 0).to_bytes(2) + b"\0\0\0\0"
            door.sendto(asked[:2] + code + counts + asked[12:place + 5] + records, peer)

    def unseen(self, sentence):
        private = [address for address in self.reached
                   if address.removeprefix("::ffff:") not in (PUBLIC, PUBLIC6)]
        self.expect(f"{sentence}: no connection but {private}", not private)
        self.reached.clear()

    def configuration(self, hosts):
        """In the configuration: plain http and addresses are refused at once, names when it connects."""
        for host in hosts:
            self.server.configure([self.hook("one", f"http://{host}/", allowNetworks=[])])
            checked = self.server.command("config")
            self.expect(f"http://{host}/ is refused in the configuration: {checked.returncode}",
                        checked.returncode == 78)
        urls = [f"https://{host}/" for host in hosts]
        hooks = [self.hook(f"one-{number}", url, allowNetworks=[]) for number, url in enumerate(urls)]
        accepted = [hook for hook in hooks if self.is_accepted(hook)]
        self.server.configure(accepted)
        self.server.start()
        self.server.grant("anna")
        for hook in accepted:
            found = eventually(lambda hook=hook: self.server.attempts(hook["id"]), 60)
            outcomes = {(attempt["outcome"], attempt["status"]) for attempt in found or []}
            self.expect(f"{hook['url']} fails: {outcomes}", outcomes == {("failed", None)})
        self.unseen("webhooks of the configuration")
        self.found["spellings"] += len(hosts)

    def is_accepted(self, hook):
        self.server.configure([hook])
        return self.server.command("config").returncode == 0

    def added(self, hosts):
        """By route and by command: refused when added, or when the test message is sent."""
        for host in hosts:
            for url in (f"https://{host}/", f"https://{host}:80/x"):
                status, found = self.server.ask("POST", "/v1/apps/cards/webhooks", {"url": url})
                if status == 201:
                    path = f"/v1/apps/cards/webhooks/{found['id']}/test"
                    _, sent = self.server.ask("POST", path)
                    self.expect(f"{url} is not reached: {sent}", sent["delivered"] is False)
                else:
                    self.expect(f"{url} is refused: {status}", status == 400)
            status, _ = self.server.ask("POST", "/v1/apps/cards/webhooks", {"url": f"http://{host}/"})
            self.expect(f"http://{host}/ is refused: {status}", status == 400)
            made = self.server.command("webhooks", "add", f"https://{host}/")
            if made.returncode == 0:
                sent = self.server.command("webhooks", "test", re.search(r"webhook (\S+);", made.stderr)[1])
                self.expect(f"a test of {host} fails: {sent.stdout}", "failed" in sent.stdout)
        self.unseen("webhooks that were added")

    def public(self):
        """The control: what is public is reached, so that the listener would see the others."""
        for host in (PUBLIC, f"[{PUBLIC6}]", PUBLIC_NAME):
            _, found = self.server.ask("POST", "/v1/apps/cards/webhooks", {"url": f"https://{host}/"})
            self.server.ask("POST", f"/v1/apps/cards/webhooks/{found['id']}/test")
            self.expect(f"{host} is reached", bool(self.reached))
            self.reached.clear()
        for name in (REBINDING, HALF):
            _, found = self.server.ask("POST", "/v1/apps/cards/webhooks", {"url": f"https://{name}/"})
            for _ in range(6):
                self.server.ask("POST", f"/v1/apps/cards/webhooks/{found['id']}/test")
            self.expect(f"{name} is reached where it is public", bool(self.reached))
            self.unseen(name)

    def redirects(self):
        """A receiver that redirects to private addresses, from a network that is allowed."""
        self.server.stop()
        for number, host in enumerate(("169.254.169.254", LOOPBACK, "[::1]", "2130706433")):
            for status in (301, 302, 303, 307, 308):
                place = {"Location": f"http://{host}/"}
                self.receiver.answers[f"to-{number}-{status}"] = (
                    lambda *_, status=status, place=place: (status, place, 0))
        hooks = [self.hook(name) for name in self.receiver.answers]
        self.server.configure([*hooks, self.hook("other", "https://private.test/")])
        self.server.start()
        for hook in hooks:
            sent = self.server.command("webhooks", "test", hook["id"])
            self.expect(f"a redirect is a failure: {sent.stdout}", "failed: status 3" in sent.stdout)
        sent = self.server.command("webhooks", "test", "other")
        self.expect(f"allowNetworks allows no other network: {sent.stdout}", "failed" in sent.stdout)
        self.unseen("redirects")


PARTS = {"messages": Messages, "kills": Kills, "delays": Delays, "guard": Guard}


def in_namespace(options):
    """Runs this program again for the guard, in namespaces of its own; 75 if that is not possible."""
    with tempfile.NamedTemporaryFile("w") as resolver:
        resolver.write("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
        resolver.flush()
        script = """
            ip link set lo up && ip route add local default dev lo &&
            ip -6 route add local ::/0 dev lo && mount --bind "$0" /etc/resolv.conf || exit 75
            exec "$@"
        """
        again = [sys.executable, "-B", __file__, options.program, "guard", "--in-namespace",
                 *(["--short"] if options.short else [])]
        return subprocess.run(
            ["unshare", "--user", "--map-root-user", "--net", "--mount", "sh", "-c", script,
             resolver.name, *again], check=False).returncode


def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("program")
    words.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all, if none is named")
    words.add_argument("--short", action="store_true")
    words.add_argument("--wrong", action="store_true", help="the judge of `kills` forgets some events, which must be found")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--in-namespace", action="store_true")
    options = words.parse_intermixed_args()
    if not set(options.parts) <= set(PARTS):
        words.error(f"the parts are {', '.join(PARTS)}")
    options.events, options.kills = (2_000, 8) if options.short or options.wrong else (10_000, 60)
    options.dead, options.seconds = 1_000, 10 if options.short else 30
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 16_384), most))
    failures, found = 0, collections.Counter()
    for name in options.parts or PARTS:
        print(f"{name}:", flush=True)
        if name == "guard" and not options.in_namespace:
            code = in_namespace(options)
            if code == 75 or code == 1 and not namespaces():
                print("  skipped: this system allows no network namespace", flush=True)
            else:
                failures += code
            continue
        with PARTS[name](options) as part:
            part.run()
            failures += len(part.failures)
            found += part.found
            print("  " + ", ".join(f"{kind}: {count}" for kind, count in part.found.items()), flush=True)
    if options.in_namespace:
        return min(failures, 70)
    print(f"failures: {failures}, messages: {found['messages']}")
    return 1 if failures else 0


def namespaces():
    probe = ["unshare", "--user", "--map-root-user", "--net", "--mount", "true"]
    return subprocess.run(probe, check=False, capture_output=True).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
