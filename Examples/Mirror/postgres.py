"""Receives webhooks and keeps `users` and `subscriptions` in PostgreSQL. See docs/mirror.md.

WEBHOOK_SECRET=whsec_... DATABASE_URL=postgresql://... python3 postgres.py cards production 8000
"""
import http.server, json, os, sys

import psycopg  # Debian: python3-psycopg
from tideover import WebhookRefusal, verify_webhook  # Clients/python

LARGEST = 1 << 20  # bytes of a body


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        if not 0 <= length <= LARGEST:
            return self.answer(413)
        try:
            webhook = verify_webhook(self.headers, self.rfile.read(length), self.server.secret)
        except WebhookRefusal:
            return self.answer(401)
        try:
            self.apply(webhook.payload)
        except psycopg.Error as error:  # the server sends it again later
            self.log_error("%s", error)
            return self.answer(503)
        self.answer(204)

    def apply(self, event):
        """Applies an event in one transaction; use a pool of connections if you have one."""
        with psycopg.connect(self.server.database) as connection:
            connection.execute("select apply_tideover(%s, %s, %s)",
                               (json.dumps(event), self.server.app, self.server.environment))

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_request(self, *_):
        pass


def main(app, environment, port):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Receiver)
    server.app, server.environment = app, environment
    server.secret, server.database = os.environ["WEBHOOK_SECRET"], os.environ["DATABASE_URL"]
    if not server.secret.startswith("whsec_"):
        sys.exit("WEBHOOK_SECRET is not a secret. Create one with `tideover webhooks secret`.")
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
