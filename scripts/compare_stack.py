#!/usr/bin/env python3
"""Measures `tideover serve` and compare_stack_app.py with the same notifications.

compare_stack.py TIDEOVER BENCHMARKS ROUNDS SECONDS

The last line is `ratio: N`: Tideover's notifications a second over those of the faster stack, by the
medians of the rounds.
"""

import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

CONNECTIONS = 32
# More a second than any of the servers took on 2 cores, so that no notification is sent twice.
NOTIFICATIONS_PER_SECOND = 3_000
ROOT = pathlib.Path(__file__).resolve().parent.parent


class Server:
    """A server process; its output goes to a file."""

    def __init__(self, words, log, **environment):
        self.log = log
        self.process = subprocess.Popen(
            words, stdout=log.open("w"), stderr=subprocess.STDOUT, cwd=ROOT / "scripts",
            env={**os.environ, **environment},
        )

    def wait_for(self, condition):
        for _ in range(300):
            found = condition()
            if found:
                return found
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        self.stop()
        sys.exit(f"the server did not start:\n{self.log.read_text()}")

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)


def tideover(program, folder):
    for file in folder.glob("measured.db*"):
        file.unlink()
    server = Server([program, "serve", "--config", folder / "measured.json"], folder / "tideover.log")
    pattern = re.compile(r'listening.*http://([0-9.:]+)["\n]')
    return server, server.wait_for(lambda: pattern.search(server.log.read_text())).group(1)


def stack(folder, remembers):
    for file in folder.glob("stack.db*"):
        file.unlink()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    words = [
        sys.executable, "-B", "-m", "uvicorn", "compare_stack_app:app", "--host", "127.0.0.1",
        "--port", str(port), "--workers", str(os.cpu_count()), "--log-level", "warning",
        "--no-access-log",
    ]
    server = Server(
        words, folder / "stack.log", STACK_FOLDER=str(folder), STACK_REMEMBERS=str(int(remembers))
    )

    def answers():
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            return False

    server.wait_for(answers)
    time.sleep(2)  # until every process of Uvicorn accepts
    return server, f"127.0.0.1:{port}"


def load(address, folder, seconds):
    """Returns notifications a second, and p50 and p99 in milliseconds."""
    said = subprocess.run(
        [
            "wrk", "--threads", "1", "--connections", str(CONNECTIONS), "--duration",
            f"{seconds}s", "--timeout", "30s", "--script",
            ROOT / "Benchmarks/TideoverBenchmarks/load.lua", f"http://{address}", "--",
            "notifications", folder / "corpus",
        ],
        capture_output=True, text=True, check=True,
    ).stdout
    requests, microseconds, refused, lost, repeated, p50, p99 = map(
        int, re.search(r"^RESULT (.*)$", said, re.MULTILINE).group(1).split()
    )
    if refused or lost or repeated:
        sys.exit(f"{refused} refused, {lost} lost, {repeated} times through the corpus:\n{said}")
    return requests / (microseconds / 1e6), p50 / 1e3, p99 / 1e3


def main():
    program, benchmarks, rounds, seconds = *sys.argv[1:3], int(sys.argv[3]), int(sys.argv[4])
    (ROOT / ".build").mkdir(exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="compare-stack-", dir=ROOT / ".build"))
    try:
        count = NOTIFICATIONS_PER_SECOND * seconds
        print(f"minting {count} notifications", file=sys.stderr, flush=True)
        subprocess.run(
            [benchmarks, "prepare", folder, "--count", str(count)],
            check=True, stdout=subprocess.DEVNULL,
        )
        measured = {
            "tideover serve": lambda: tideover(program, folder),
            "FastAPI, certificates remembered": lambda: stack(folder, True),
            "FastAPI": lambda: stack(folder, False),
        }
        results = {name: [] for name in measured}
        for number in range(1, rounds + 1):
            for name, start in measured.items():
                print(f"round {number}: {name}", file=sys.stderr, flush=True)
                server, address = start()
                try:
                    results[name].append(load(address, folder, seconds))
                finally:
                    server.stop()
    finally:
        shutil.rmtree(folder)
    print(f"{os.cpu_count()} cores for the server and the load, {CONNECTIONS} connections,"
          f" {rounds} rounds of {seconds} s; medians")
    print(f"{'':34}{'a second':>10}{'p50 ms':>10}{'p99 ms':>10}")
    rates = []
    for name, rows in results.items():
        rate, p50, p99 = (statistics.median(column) for column in zip(*rows))
        rates.append(rate)
        print(f"{name:34}{rate:10,.0f}{p50:10,.1f}{p99:10,.1f}")
    if not all(rates):
        sys.exit("a server answered nothing in time; give it more seconds")
    print(f"ratio: {rates[0] / max(rates[1:]):.1f}")


main()
