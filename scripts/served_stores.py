"""Runs `tideover sandbox serve` on loopback, with a back end that accepts and keeps every message.

For scripts/verify_apple_served.py and scripts/verify_google_served.py. The stores begin some days
ago and follow the machine's clock, so all dates are real. Steps make customers act and time pass.
"""

import http.server
import json
import pathlib
import queue
import re
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

PATIENCE = 120  # seconds, on a busy machine
AUDIENCE, EMAIL = "https://billing.example.com/push", "pusher@cards.iam.gserviceaccount.com"
APPLE, GOOGLE = "/apple", "/google"


class BackEnd(http.server.ThreadingHTTPServer):
    """Answers 200 to every POST, and keeps its fields and body by path."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.inboxes = {APPLE: queue.Queue(), GOOGLE: queue.Queue()}
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
        self.server.inboxes[self.path].put((self.headers, body))

    def log_message(self, *_):
        pass


class ServedStores:
    """The served stores as a context: they end with it."""

    def __init__(self, program, stage, days):
        """Stores that begin so many days ago. The stage is a scenario file without steps."""
        self.program, self.stage = program, stage
        begin = time.gmtime(time.time() - days * 86_400)
        self.stage["start"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", begin)
        self.log = ""

    def __enter__(self):
        self.back_end = BackEnd()
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name) / "authority"
        scenario = pathlib.Path(self.place.name) / "store.json"
        scenario.write_text(json.dumps(self.stage))
        self.process = subprocess.Popen(
            [self.program, "sandbox", "serve", scenario, "--listen", "127.0.0.1:0", "--clock", "wall",
             "--target", f"http://127.0.0.1:{self.back_end.server_port}", "--deliver", APPLE,
             "--deliver-google", GOOGLE, "--push-audience", AUDIENCE, "--push-email", EMAIL,
             "--authority", self.folder],
            stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self.listen, daemon=True).start()
        try:
            self.url = self.told(r"the simulated stores listen on (\S+)")[0]
            self.soon("the stores answer", lambda: self.answers("/customers"))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.back_end.shutdown()
        self.back_end.server_close()
        self.place.cleanup()

    def listen(self):
        for line in self.process.stderr:
            self.log += line

    def told(self, pattern):
        """The groups of a pattern in what the program writes to standard error."""
        return self.soon(pattern, lambda: re.search(pattern, self.log)).groups()

    def soon(self, sentence, probe):
        """The first true result of a function that is called again and again."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            found = probe()
            if found:
                return found
            time.sleep(0.05)
        raise RuntimeError(f"not seen: {sentence}\n{self.log}")

    def answers(self, path):
        try:
            return urllib.request.urlopen(self.url + path, timeout=PATIENCE).status == 200
        except urllib.error.HTTPError:
            return False

    def get(self, path):
        return urllib.request.urlopen(self.url + path, timeout=PATIENCE).read()

    def step(self, action, **words):
        """Sends a step of a scenario file, as `tideover sandbox control` does."""
        body = json.dumps({"do": action, **words}).encode()
        request = urllib.request.Request(f"{self.url}/control", body, method="POST")
        try:
            return json.load(urllib.request.urlopen(request, timeout=PATIENCE))
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{action}: {error.read().decode()}") from error

    def catch_up(self):
        """Lets time pass up to now, and then at the speed of the machine's clock."""
        self.step("advance", to=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        self.step("speed", factor=1)

    def message(self, path):
        """The oldest message that was not taken yet: its header fields and its body."""
        return self.back_end.inboxes[path].get(timeout=PATIENCE)

    def messages(self, path):
        """Every message that has arrived and was not taken yet."""
        inbox = self.back_end.inboxes[path]
        return [inbox.get() for _ in range(inbox.qsize())]
