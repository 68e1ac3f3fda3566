"""Drives Chromium over its DevTools pipe: visits each page of the dashboard and checks it.

    python3 scripts/dashboard_shots.py PROGRAM FOLDER

Needs only Python's standard library.
"""

import base64
import contextlib
import json
import os
import re
import select
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from program_stage import PATIENCE, free_port

EXPERIMENT = """experiments: {
        "june-words": {
          entitlement: "premium", start: "2026-05-01T00:00:00Z",
          arms: { plain: {}, kind: { quiet: "1d" } },
        },
      },
      """


class Browser:
    """Chromium with one page, controlled by messages that end with a zero byte."""

    def __init__(self, profile):
        to_browser, self.writer = os.pipe()
        self.reader, from_browser = os.pipe()

        def connect():
            # Moved first, so that neither overwrites the other.
            a, b = os.dup(to_browser), os.dup(from_browser)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [
                "chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
                "--remote-debugging-pipe", "--no-first-run", "--disable-background-networking",
                "--hide-scrollbars", f"--user-data-dir={profile}", "about:blank",
            ],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=connect, close_fds=False,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ["Page", "Network", "Log", "Runtime"]:
            self.call(f"{domain}.enable")

    def receive(self):
        """Returns the next message; raises an error after a minute without one."""
        while b"\0" not in self.buffer:
            if not select.select([self.reader], [], [], PATIENCE)[0]:
                raise RuntimeError(f"Chromium has said nothing for {PATIENCE} s")
            part = os.read(self.reader, 1 << 16)
            if not part:
                raise RuntimeError("Chromium ended")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url):
        self.events = []
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + PATIENCE
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{url} does not load")
            self.events.append(self.receive())

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']['text']}")
        return answer["result"].get("value")

    def press(self, key, text="", code=0):
        key = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **key)
        self.call("Input.dispatchKeyEvent", type="keyUp", **key)

    def tab_to(self, selector):
        """Moves the focus by Tab alone; false if an element cannot be reached."""
        for _ in range(200):
            if self.evaluate(f"document.activeElement.matches({json.dumps(selector)})"):
                return True
            self.press("Tab", code=9)
        return False

    def submit(self):
        """Presses Enter in a form, and waits for the page after it."""
        self.events = []
        self.press("Enter", "\r", 13)
        deadline = time.monotonic() + PATIENCE
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            if time.monotonic() > deadline:
                raise RuntimeError("the form leads to no page")
            self.events.append(self.receive())

    def close(self):
        self.process.terminate()
        self.process.wait(PATIENCE)


class Demo:
    """The demo's server, with its one-time link and its customers."""

    def __init__(self, program):
        self.process = subprocess.Popen(
            [program, "demo", "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        self.people = {}
        # Stops the wait for the link.
        watchdog = threading.Timer(PATIENCE, self.process.terminate)
        watchdog.start()
        try:
            self.read()
        finally:
            watchdog.cancel()
        # What follows must not fill the pipe.
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            person = re.search(r"customers/([0-9a-f-]{36})\?", line)
            if person:
                self.people["protagonist"] = person.group(1)
            other = re.match(r"  ([0-9a-f-]{36})  (\w+)$", line)
            if other:
                self.people[other.group(2)] = other.group(1)
            link = re.search(r"(http://[^ ]*)(/dashboard/enter\?token=[\w-]+)", line)
            if link:
                self.root, self.link = link.groups()
                return
        raise RuntimeError("the demo printed no link")

    def close(self):
        self.process.terminate()
        self.process.wait(PATIENCE)


def wait_for(url):
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def wait_for_files(folder, *names):
    """Waits for the keys of the simulated stores, which are written after they listen."""
    deadline = time.monotonic() + PATIENCE
    while not all(os.path.exists(os.path.join(folder, name)) for name in names):
        if time.monotonic() > deadline:
            raise TimeoutError(f"the simulated stores did not write all of {names}")
        time.sleep(0.1)


class SimulatedStores:
    """Simulated stores, and a server that follows their clock, with a key to sign in."""

    def __init__(self, program, folder):
        self.processes = []
        root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        store, server = free_port(), free_port()
        self.root = f"http://127.0.0.1:{server}"
        self.start(
            program, "sandbox", "serve", os.path.join(root, "Examples/store.json5"),
            "--listen", f"127.0.0.1:{store}", "--target", self.root, "--authority", folder,
        )
        wait_for(f"http://127.0.0.1:{store}/clock")
        wait_for_files(folder, "root.der", "AuthKey_REHEARSAL1.p8", "service-account.json")
        with open(os.path.join(root, "Examples/rehearsed.json5")) as file:
            text = file.read()
        text = text.replace("127.0.0.1:8080", f"127.0.0.1:{server}")
        text = text.replace("127.0.0.1:9090", f"127.0.0.1:{store}").replace("../store/", "")
        text = text.replace("storage:", "dashboard: { enabled: true },\n  storage:", 1)
        text = text.replace("products: {", EXPERIMENT + "products: {", 1)
        path = os.path.join(folder, "tideover.json")
        with open(path, "w") as file:
            file.write(text)
        self.start(
            program, "serve", "--config", path, "--clock", f"http://127.0.0.1:{store}/clock"
        )
        wait_for(self.root + "/healthz")
        self.key = subprocess.check_output(
            [program, "keys", "add", "--kind", "admin", "--name", "Maria", "--config", path],
            text=True, stderr=subprocess.DEVNULL,
        ).strip()

    def start(self, *command):
        self.processes.append(
            subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )

    def close(self):
        for process in self.processes:
            process.terminate()
            process.wait(PATIENCE)


def faults(browser, root, width):
    """Returns what is wrong with the page that is open."""
    found = []
    for event in browser.events:
        method, about = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            found.append("script error: " + about["exceptionDetails"]["text"])
        if method == "Log.entryAdded" and about["entry"]["level"] == "error":
            found.append("reported: " + about["entry"]["text"])
        if method == "Network.requestWillBeSent":
            url = about["request"]["url"]
            if not url.startswith((root + "/", "data:")):
                found.append("requested elsewhere: " + url)
    if browser.evaluate("document.documentElement.scrollWidth") > width:
        found.append("the page is wider than its window")
    unnamed = browser.evaluate(
        "[...document.querySelectorAll('input:not([type=hidden]),select,button,a')].filter(e =>"
        " !(e.textContent.trim() || e.ariaLabel || (e.labels && e.labels.length))).length"
    )
    if unnamed:
        found.append(f"{unnamed} controls have no name")
    return found


def keys(browser):
    """Returns what the keyboard does not do on a customer's page."""
    found = []
    browser.press("/", "/")
    if browser.evaluate("document.activeElement.name") != "q":
        found.append("/ does not focus the search")
    browser.evaluate("document.querySelector('svg.drawing a').focus()")
    browser.press("ArrowRight")
    place = "[...document.querySelectorAll('svg.drawing a')].indexOf(document.activeElement)"
    if browser.evaluate(place) != 1:
        found.append("the arrow keys do not move on the drawing")
    browser.evaluate("document.querySelector('input[type=range]').focus()")
    for _ in range(2):
        browser.press("ArrowLeft", code=37)
    time.sleep(1)
    if browser.evaluate("document.activeElement.type") != "range":
        found.append("an arrow key on the slider leads to another page")
    return found


def act(browser, form, fields, confirms=False):
    """Fills in and sends a form of a customer's page by keyboard alone; returns what is wrong.

    With `confirms`, the page after it has the same form once more, to confirm."""
    for name, text in {**fields, None: None}.items():
        control = f"[name={name}]" if name else "button"
        if not browser.tab_to(f"form[action*='/{form}?'] {control}"):
            return [f"Tab does not reach {control} of {form}"]
        if text:
            browser.call("Input.insertText", text=text)
    browser.submit()
    if confirms:
        return act(browser, form, {})
    said = browser.evaluate("document.querySelector('[role=status]')?.textContent ?? ''")
    return [] if said else [f"the form {form} does not say what it did"]


def help_customer(browser, demo, page):
    """Does every change of a customer's page once; returns what is wrong."""
    found = []
    for form, fields in [
        ("refresh", {}),
        ("grant", {"days": "7", "why": "an outage"}),
        ("revoke", {"why": "given by mistake"}),
        ("alias", {"alias": "anonymous-7f3e", "why": "signed in"}),
    ]:
        browser.open(demo.root + page)
        found += act(browser, form, fields, confirms=form == "alias")
        found += faults(browser, demo.root, 1440)
    return found


def click(browser, label):
    """Presses the button with a name, and waits for the page after it; false without one."""
    browser.events = []
    name = json.dumps(label)
    found = browser.evaluate(
        "(() => { const button = [...document.querySelectorAll('button')].find(b =>"
        f" (b.ariaLabel ?? b.textContent) === {name}); button?.click(); return !!button }})()"
    )
    if not found:
        return False
    deadline = time.monotonic() + PATIENCE
    while not any(e.get("method") == "Page.loadEventFired" for e in browser.events):
        if time.monotonic() > deadline:
            raise RuntimeError(f"{label} leads to no page")
        browser.events.append(browser.receive())
    return True


def play_stores(browser, root):
    """Drives the simulated stores by the page's buttons; returns what is wrong."""
    found = []
    answers = "[...document.querySelectorAll('.halves .badge')].map(b => b.textContent).join()"
    choose = "document.querySelectorAll('select[name={}]')[{}].value = '{}'"
    for label, choice, expected in [
        (
            "Buy: anna", ("product", 0, "cards.pro.monthly"),
            "trial,nothing bought,nothing bought,nothing bought",
        ),
        (
            "Buy: ben", ("product", 1, "cards.pro:monthly"),
            "trial,nothing bought,active,nothing bought",
        ),
        ("Payments fail: anna", None, None),
        ("Leap", ("length", 0, "1 w"), "grace,nothing bought,active,nothing bought"),
        ("Payments recover: anna", None, "active,nothing bought,active,nothing bought"),
        ("Refund: ben", None, None),
        ("Step to the next event", None, None),
    ]:
        if choice:
            browser.evaluate(choose.format(*choice))
        if not click(browser, label):
            found.append(f"there is no button {label}")
        time.sleep(0.5)
        shown = browser.evaluate(answers)
        if expected and shown != expected:
            found.append(f"after {label} the answers are {shown}, not {expected}")
        found += faults(browser, root, 1440)
    before = browser.evaluate("document.querySelector('#clock time').dateTime")
    browser.evaluate(choose.format("speed", 0, "86400"))
    click(browser, "Play")
    time.sleep(3)
    if browser.evaluate("document.querySelector('#clock time').dateTime") == before:
        found.append("the page does not follow the running clock")
    browser.evaluate(choose.format("speed", 0, "0"))
    click(browser, "Play")
    return found


def continue_demo(browser, demo, page):
    """Fails and recovers a renewal of the demo by the page's buttons; returns what is wrong."""
    found = []
    badge = "[...document.querySelectorAll('.halves .badge')][0].textContent"
    for label, expected in [
        ("Payments fail: anna", "active"), ("Leap", "grace"), ("Payments recover: anna", "active"),
    ]:
        browser.open(demo.root + page)
        browser.evaluate("document.querySelector('select[name=length]').value = '1 month'")
        if not click(browser, label):
            found.append(f"there is no button {label}")
        shown = browser.evaluate(badge)
        if shown != expected:
            found.append(f"after {label} the demo answers {shown}, not {expected}")
        found += faults(browser, demo.root, 1440)
    return found


def shoot(browser, folder, name, width):
    size = browser.call("Page.getLayoutMetrics")["cssContentSize"]
    shot = browser.call(
        "Page.captureScreenshot", captureBeyondViewport=True,
        clip={"x": 0, "y": 0, "width": width, "height": min(size["height"], 4000), "scale": 1},
    )
    with open(os.path.join(folder, f"{name}.png"), "wb") as output:
        output.write(base64.b64decode(shot["data"]))


def set_view(browser, theme, width):
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=900, deviceScaleFactor=1, mobile=False,
    )
    browser.call(
        "Emulation.setEmulatedMedia",
        features=[{"name": "prefers-color-scheme", "value": theme}],
    )


def visit_stores(browser, program, folder):
    """Visits the pages that only a server with a file and simulated stores has."""
    found = []
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
        stores = stack.enter_context(contextlib.closing(SimulatedStores(program, place)))
        set_view(browser, "light", 1440)
        browser.open(stores.root + "/dashboard/sign-in")
        browser.evaluate(f"document.querySelector('[name=key]').value = {json.dumps(stores.key)}")
        click(browser, browser.evaluate("document.querySelector('main button').textContent"))
        app = "/dashboard/apps/cards"
        browser.open(stores.root + f"{app}/sandbox")
        found += play_stores(browser, stores.root)
        customer = browser.evaluate("document.querySelector('.halves a').pathname")
        browser.open(stores.root + customer)
        lineage = browser.evaluate("document.querySelector('[name=purchase]').value")
        pages = {
            "sandbox": f"{app}/sandbox", "configuration": f"{app}/configuration",
            "experiments": f"{app}/experiments",
            "customer-purchases": customer,
            "move": f"{customer}/move?purchase={lineage}&to=u_43&why=bought+under+another+id",
            "join": f"{customer}/alias?alias=u_43&why=signed+in",
        }
        for theme in ["light", "dark"]:
            for width in [360, 390, 1440, 2560]:
                set_view(browser, theme, width)
                for name, path in pages.items():
                    browser.open(stores.root + path)
                    found += [
                        f"{name}-{theme}-{width}: {fault}"
                        for fault in faults(browser, stores.root, width)
                    ]
                    if width in [390, 1440]:
                        shoot(browser, folder, f"{name}-{theme}-{width}", width)
        browser.open(stores.root + pages["move"])
        if not click(browser, "Move the purchase"):
            found.append("the move cannot be confirmed")
        said = browser.evaluate("document.querySelector('[role=status]')?.textContent ?? ''")
        if "was moved" not in said:
            found.append("the page does not say that the purchase was moved")
    return found


def main():
    program, folder = sys.argv[1:3]
    failed = False
    with tempfile.TemporaryDirectory() as profile, contextlib.ExitStack() as stack:
        demo = stack.enter_context(contextlib.closing(Demo(program)))
        browser = stack.enter_context(contextlib.closing(Browser(profile)))
        app = "/dashboard/apps/cards"
        pages = {"apps": "/dashboard", "app": app, "nothing-found": f"{app}/search?q=none"}
        pages["search"] = f"{app}/search?q=7"
        first = demo.people["protagonist"]
        pages["customer-protagonist"] = f"{app}/customers/{first}"
        pages["past"] = f"{app}/customers/{first}?at=2026-06-28T10:00:00Z"
        pages["unknown"] = f"{app}/customers/unknown-id"
        pages["webhooks"] = f"{app}/webhooks"
        pages["maintenance"] = f"{app}/maintenance"
        pages["events"] = f"{app}/events"
        pages["no-experiments"] = f"{app}/experiments"
        pages["problem"] = "/dashboard/apps/none"
        for theme in ["light", "dark"]:
            for width in [390, 1440]:
                set_view(browser, theme, width)
                visits = dict(pages)
                if theme == "light" and width == 1440:
                    for name, person in demo.people.items():
                        visits[f"customer-{name}"] = f"{app}/customers/{person}"
                    visits["customer-helped"] = f"{app}/customers/unknown-id"
                if theme == "light" and width == 390:
                    browser.call("Network.clearBrowserCookies")
                    visits = {"sign-in": "/dashboard/sign-in", **pages}
                for name, path in visits.items():
                    if name == "customer-helped":
                        for fault in help_customer(browser, demo, path):
                            failed = True
                            print(f"{name}-{theme}-{width}: {fault}", flush=True)
                    if name == "apps" and "sign-in" in visits:
                        browser.open(demo.root + demo.link)
                    browser.open(demo.root + path)
                    wrong = faults(browser, demo.root, width)
                    if name == "problem":
                        wrong = [w for w in wrong if "404" not in w]
                    if name == "customer-protagonist":
                        wrong += keys(browser)
                    shoot(browser, folder, f"{name}-{theme}-{width}", width)
                    for fault in wrong:
                        failed = True
                        print(f"{name}-{theme}-{width}: {fault}", flush=True)
        set_view(browser, "light", 1440)
        for fault in continue_demo(browser, demo, f"{app}/sandbox"):
            failed = True
            print(fault, flush=True)
        for fault in visit_stores(browser, program, folder):
            failed = True
            print(fault, flush=True)
    if failed:
        return 1
    print(f"dashboard-shots: every page is right; see {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
