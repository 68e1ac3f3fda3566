"""Runs the receivers of docs/webhooks.md against deliveries of a Tideover server.

Run by scripts/webhook-receivers.sh:

    webhook_receivers.py TIDEOVER
"""

import base64
import contextlib
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

from program_stage import PATIENCE, ProgramStage, free_port

PAGE = pathlib.Path("docs/webhooks.md")
# How to run the program of each file of the page, after the command that builds it.
RECEIVERS = {
    "receiver.mjs": (None, ["node", "receiver.mjs"]),
    "receiver.py": (None, ["python3", "-B", "receiver.py"]),
    "receiver.go": (["go", "build", "-o", "receiver", "receiver.go"], ["./receiver"]),
    "receiver.php": (None, ["php", "-S", "127.0.0.1:{port}", "receiver.php"]),
}
OTHER = "whsec_" + base64.b64encode(b"another secret of 32 characters.").decode()


class Recorder(http.server.ThreadingHTTPServer):
    """An endpoint that keeps deliveries."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), RecorderHandler)
        self.deliveries = queue.Queue()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class RecorderHandler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        fields = {name: value for name, value in self.headers.items() if name.startswith("webhook-")}
        self.send_response(204)
        self.end_headers()
        self.server.deliveries.put((fields, body))

    def log_message(self, *_):
        pass


class Stage(ProgramStage):
    """The receivers, and a server that delivers to each of them."""

    def __init__(self, program):
        super().__init__(program)
        self.recorder = Recorder()
        self.secret = self.run("webhooks", "secret").strip()
        self.write_secret("secret.txt", self.secret)
        self.write_secret("other.txt", OTHER)
        self.ports = {name: free_port() for name in RECEIVERS}

    def start_receivers(self):
        for name, program in programs().items():
            (self.folder / name).write_text(program)
            build = RECEIVERS[name][0]
            if build:
                offline = {**os.environ, "GO111MODULE": "off", "GOFLAGS": "", "GOPROXY": "off",
                           "GOCACHE": str(self.folder / "cache"), "CGO_ENABLED": "0"}
                subprocess.run(build, cwd=self.folder, env=offline, check=True, timeout=240)
            self.start_receiver(name, self.ports[name], WEBHOOK_SECRET=self.secret)
            self.soon(f"{name} listens", lambda: listens(self.ports[name]))

    def start_receiver(self, name, port, **environment):
        command = [word.format(port=port) for word in RECEIVERS[name][1]]
        return self.start(command, PORT=str(port), **environment)

    def start_server(self):
        with_secret = {"events": ["*"], "allowNetworks": ["127.0.0.0/8"]}
        urls = {identifier(name): f"http://127.0.0.1:{port}/" for name, port in self.ports.items()}
        recorder = f"http://127.0.0.1:{self.recorder.server_port}/"
        listen = f"127.0.0.1:{free_port()}"
        (self.folder / "tideover.json").write_text(json.dumps({
            "server": {"listen": listen}, "storage": "sqlite:tideover.db",
            "webhooks": [
                {"id": "recorder", "url": recorder, "secretFile": "secret.txt", **with_secret},
                *({"id": name, "url": url, "secretFile": "secret.txt", **with_secret}
                  for name, url in urls.items()),
                *({"id": f"{name}-other", "url": url, "secretFile": "other.txt", **with_secret,
                   "events": ["refunded"]} for name, url in urls.items()),
            ],
            "apps": [{
                "id": "cards", "environments": ["production"],
                "appStore": {"bundleId": "com.example.cards", "appAppleId": 1234567890},
                "products": {"cards.pro": {"kind": "nonConsumable", "entitlements": ["premium"],
                                           "price": "9.99 USD"}},
            }],
        }))
        self.start([self.program, "serve", "--config", "tideover.json"])
        self.soon("the server listens", lambda: listens(int(listen.rsplit(":", 1)[1])))

    def webhooks(self, *arguments, status=0):
        return self.run("webhooks", *arguments, "--config", "tideover.json", status=status)

    def soon(self, sentence, probe):
        """The first true result of a function that is called again and again."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            found = probe()
            if found:
                return found
            time.sleep(0.05)
        raise RuntimeError(f"not seen: {sentence}\n{self.log.read_text()}")


def programs():
    """The programs of the page, by the names of their files."""
    found = re.findall(r"^```\w+ file=(\S+)\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    if {name for name, _ in found} != set(RECEIVERS) or len(found) != len(RECEIVERS):
        raise RuntimeError(f"{PAGE} has other programs: {[name for name, _ in found]}")
    return dict(found)


def identifier(name):
    return name.replace(".", "-")


def listens(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True


def signed(secret, fields, moment, body):
    """The fields of a message that is signed at a moment."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = f"{fields['webhook-id']}.{moment}.".encode() + body
    signature = base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
    return {**fields, "webhook-timestamp": str(moment), "webhook-signature": f"v1,{signature}"}


def cases(secret, fields, body):
    """Deliveries by name: the fields, the body, and the status of the answer."""
    now = int(time.time())
    changed = body.replace(b'"customer":"', b'"customer":"x', 1)
    longer = body + b" " * (1 << 20)
    right = signed(secret, fields, now, body)
    other = signed(OTHER, fields, now, body)
    both = f"{other['webhook-signature']} v1a,AAAA {right['webhook-signature']}"
    signature = right["webhook-signature"]
    without_time = {name: value for name, value in right.items() if name != "webhook-timestamp"}
    return {
        "as it was delivered": (fields, body, 204),
        "signed now": (right, body, 204),
        "of a clock that is behind": (signed(secret, fields, now - 240, body), body, 204),
        "of a clock that is ahead": (signed(secret, fields, now + 240, body), body, 204),
        "signed with several secrets": ({**right, "webhook-signature": both}, body, 204),
        "with a changed body": (fields, changed, 401),
        "without a body": (fields, b"", 401),
        "longer than any": (signed(secret, fields, now, longer), longer, 401),
        "under another id": ({**right, "webhook-id": "other"}, body, 401),
        "under another timestamp": ({**right, "webhook-timestamp": str(now - 1)}, body, 401),
        "with another secret": (other, body, 401),
        "without a key": (signed("whsec_", fields, now, body), body, 401),
        "signed ten minutes ago": (signed(secret, fields, now - 600, body), body, 401),
        "signed in ten minutes": (signed(secret, fields, now + 600, body), body, 401),
        "at no time": (signed(secret, fields, "soon", body), body, 401),
        "without a timestamp": (without_time, body, 401),
        "without a signature": ({**right, "webhook-signature": ""}, body, 401),
        "with half a signature": ({**right, "webhook-signature": signature[:20]}, body, 401),
        "with no Base64": ({**right, "webhook-signature": "v1,!"}, body, 401),
        "with a signature of another version":
            ({**right, "webhook-signature": signature.replace("v1,", "v2,")}, body, 401),
    }


def post(port, fields, body):
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", body, method="POST", headers={
        "Content-Type": "application/json", **fields})
    try:
        return urllib.request.urlopen(request, timeout=PATIENCE).status
    except urllib.error.HTTPError as error:
        return error.code


class Judge:
    def __init__(self, stage):
        self.stage, self.failures, self.checks = stage, 0, 0

    def expect(self, sentence, holds, detail=""):
        self.checks += 1
        if not holds:
            self.failures += 1
            print(f"FAILED: {sentence} {detail}", flush=True)

    def deliveries(self, name, event):
        """What the server itself delivers: an event, and test messages with two secrets."""
        webhook = identifier(name)

        def attempts():
            shown = self.stage.webhooks("attempts", webhook, "--json")
            return [one for one in json.loads(shown)["attempts"] if one["event"] == event]
        found = self.stage.soon(f"a delivery to {name}", attempts)
        self.expect(f"{name} accepts an event", [one["status"] for one in found] == [204], found)
        for sender, status in ((webhook, 204), (f"{webhook}-other", 401)):
            shown = self.stage.webhooks("test", sender, "--json", status=None)
            answer = json.loads(shown)["status"]
            self.expect(f"{name} answers {status} to a test of {sender}", answer == status, shown)

    def messages(self, name, fields, body):
        for case, (changed, content, status) in cases(self.stage.secret, fields, body).items():
            found = post(self.stage.ports[name], changed, content)
            self.expect(f"{name} answers {status} to a message {case}", found == status, found)

    def without_secret(self, name):
        port = free_port()
        process = self.stage.start_receiver(name, port, WEBHOOK_SECRET="")
        fields = signed("whsec_", {"webhook-id": "forged"}, int(time.time()), b"{}")
        self.stage.soon(f"{name} ends or listens", lambda: process.poll() or listens(port))
        status = None if process.poll() else post(port, fields, b"{}")
        self.expect(f"{name} accepts nothing without a secret", status in (None, 500), status)


def main(program):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with contextlib.ExitStack() as stack:
        stage = stack.enter_context(Stage(program))
        stage.start_receivers()
        stage.start_server()
        stage.run("grant", "u_42", "--entitlement", "premium", "--days", "7", "--why", "a test", "--new",
                  "--config", "tideover.json")
        fields, body = stage.recorder.deliveries.get(timeout=PATIENCE)
        judge = Judge(stage)
        for name in RECEIVERS:
            judge.deliveries(name, fields["webhook-id"])
            judge.messages(name, fields, body)
            judge.without_secret(name)
    print(f"failures: {judge.failures}, receivers: {len(RECEIVERS)}, checks: {judge.checks}")
    return 1 if judge.failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
