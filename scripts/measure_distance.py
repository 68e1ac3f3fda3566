"""Measures grants and reads of a server whose database is behind a proxy.

Run by scripts/measure-distance.sh.
"""

import http.client
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from database_proxy import LOOPBACK, order

COUNT = 30


def configure(folder, port):
    (folder / "tideover.json").write_text(f"""{{
      server: {{ listen: "{LOOPBACK}:0" }},
      storage: "postgres://tideover@{LOOPBACK}:{port}/postgres?connect_timeout=30",
      apps: [{{ id: "cards", environments: ["sandbox"], products: {{
        "monthly": {{ entitlements: ["premium"], period: "P1M", price: "9.99 USD" }} }} }}],
    }}""")
    return folder / "tideover.json"


def listening(log, process):
    for _ in range(600):
        if found := re.search(r"listening.*http://127\.0\.0\.1:(\d+)", log.read_text()):
            return int(found[1])
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise SystemExit(log.read_text()[-1000:])


def timed(connection, method, path, key, body=None):
    begin = time.perf_counter()
    connection.request(method, path, json.dumps(body) if body else None,
                       {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    if answer.status not in (200, 201):
        raise SystemExit(f"{path} was answered {answer.status}: {text[:300]}")
    return 1000 * (time.perf_counter() - begin)


def main(program, control_port, port, distance):
    environment = {"PATH": os.environ["PATH"]}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        configuration = configure(folder, port)
        log = folder / "log"
        with log.open("wb") as sink:
            server = subprocess.Popen([program, "serve", "--config", configuration], stdout=sink,
                                      stderr=subprocess.STDOUT, env=environment)
        try:
            address = listening(log, server)
            made = subprocess.run([program, "keys", "add", "--kind", "admin", "--config",
                                   configuration], capture_output=True, text=True, env=environment)
            if made.returncode != 0:
                raise SystemExit(made.stderr)
            key = made.stdout.strip()
            time.sleep(4)  # until the server knows the key
            connection = http.client.HTTPConnection(LOOPBACK, address, timeout=30)
            customers = [f"{distance}-{number}" for number in range(COUNT)]
            base = "/v1/apps/cards/customers"
            grant = {"entitlement": "premium", "days": 7, "why": "measured"}
            timed(connection, "POST", f"{base}/first/grants?environment=sandbox", key, grant)
            if float(distance) > 0:
                order(control_port, "delay", [0])
            writes = [timed(connection, "POST", f"{base}/{one}/grants?environment=sandbox", key,
                            grant) for one in customers]
            reads = [timed(connection, "GET", f"{base}/{one}?environment=sandbox", key)
                     for one in customers]
            order(control_port, "none", [0])
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(30)
    figures = "  ".join(f"{name} {statistics.median(times):.1f} / {max(times):.1f} ms"
                        for name, times in [("write", writes), ("read", reads)])
    print(f"round trip {distance} ms: {figures}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
