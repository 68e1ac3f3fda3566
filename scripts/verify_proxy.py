"""Runs the nginx example of a page against a back end that counts what arrives.

Run by scripts/verify-proxy.sh.
"""

import http.client
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from program_stage import PATIENCE, free_port

LOOPBACK = "127.0.0.1"
MIB = 1 << 20
SDK_PORT = "127.0.0.1:8081"
PRICES = ["4,99\u00a0\u20ac".encode(), "4,99\u00a0\u00a3".encode("latin-1")]


class BackEnd(http.server.BaseHTTPRequestHandler):
    """Answers with the length of the body, and records the header field of the price."""

    prices = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        BackEnd.prices.append(self.headers.get("price_string", "").encode("latin-1"))
        status = 400 if self.path == "/v1/refused" else 200
        answer = json.dumps({"code": 7103, "length": len(body)}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def example(page):
    """The nginx block of a page that has the location for an unavailable server."""
    blocks = re.findall(r"```nginx\n(.*?)```", pathlib.Path(page).read_text(), re.DOTALL)
    [block] = [one for one in blocks if "@unavailable" in one]
    return block


def configuration(block, folder, port, back_end):
    """The example with other addresses and without TLS, for a user without rights."""
    lines = [line for line in block.splitlines() if "ssl_certificate" not in line]
    server = "\n".join(lines).replace("443 ssl", f"{LOOPBACK}:{port}")
    alone = server.count("proxy_pass") == 1 and SDK_PORT in server
    expect("it leads to the port for SDKs alone", alone, server)
    server = server.replace(SDK_PORT, f"{LOOPBACK}:{back_end}")
    paths = "".join(f"{name}_temp_path {folder}/{name};" for name in
                    ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    user = "user root;" if os.getuid() == 0 else ""  # its workers write to the folder
    return (f"{user} daemon off; pid {folder}/pid; error_log {folder}/error.log;"
            f"events {{}} http {{ access_log off; {paths}\n{server}\n}}\n")


def post(port, path, body, price=b"1"):
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=PATIENCE)
    try:
        connection.putrequest("POST", path)
        connection.putheader("Content-Length", str(len(body)))
        connection.putheader("price_string", price)
        connection.endheaders()
        try:
            connection.send(body)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the answer may come before the body has been sent
        answer = connection.getresponse()
        return answer.status, answer.headers.get("Content-Type", ""), answer.read()
    finally:
        connection.close()


def expect(sentence, holds, found):
    if not holds:
        raise AssertionError(f"{sentence}: {found}")
    print(f"  {sentence}")


def is_unavailable(answer):
    status, kind, body = answer
    return status == 503 and kind == "application/json" and json.loads(body)["code"] == 7110


def wait_until_listening(port):
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return post(port, "/v1/receipts", b"{}")
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def check(port, back_end):
    answer = wait_until_listening(port)
    expect("without a server the answer is 503 in JSON", is_unavailable(answer), answer)
    server = http.server.ThreadingHTTPServer((LOOPBACK, back_end), BackEnd)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        for price in PRICES:
            status, _, body = post(port, "/v1/receipts", b"a" * 2 * MIB, price)
            whole = status == 200 and json.loads(body)["length"] == 2 * MIB
            expect("a body of 2 MiB arrives", whole, (status, body))
            expect(f"price_string {price} arrives", BackEnd.prices[-1] == price, BackEnd.prices)
        status, _, body = post(port, "/v1/refused", b"{}")
        same = status == 400 and json.loads(body)["code"] == 7103
        expect("an error of the server passes unchanged", same, (status, body))
        answer = post(port, "/v1/receipts", b"a" * (2 * MIB + 1))
        expect("a longer body is 503 in JSON", is_unavailable(answer), answer)
    finally:
        server.shutdown()
        server.server_close()
    answer = post(port, "/v1/receipts", b"{}")
    expect("after the server stopped the answer is 503 in JSON", is_unavailable(answer), answer)


def main():
    nginx = shutil.which("nginx") or "/usr/sbin/nginx"
    with tempfile.TemporaryDirectory() as folder:
        port, back_end = free_port(), free_port()
        file = pathlib.Path(folder, "nginx.conf")
        file.write_text(configuration(example(sys.argv[1]), folder, port, back_end))
        process = subprocess.Popen([nginx, "-c", str(file), "-p", folder],
                                   stderr=subprocess.DEVNULL)
        try:
            check(port, back_end)
        finally:
            process.terminate()
            process.wait(PATIENCE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
