"""Connects a server to a PostgreSQL with certificates of two authorities made here.

Run by scripts/verify-postgres-tls.sh.
"""

import http.client
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from postgres_programs import LOOPBACK, give, run
from program_stage import free_port

NAME, PASSWORD = "db.tideover.example", "correct horse \\:battery"
PATIENCE = 20


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.PIPE)


class Authority:
    """A certificate authority that signs for any interval of time."""

    def __init__(self, folder, name):
        self.folder, self.root = folder / name, folder / f"{name}.pem"
        self.folder.mkdir()
        (self.folder / "index").touch()
        (self.folder / "config").write_text(f"""
[ca]
default_ca = own
[own]
database = {self.folder}/index
new_certs_dir = {self.folder}
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = server
unique_subject = no
[any]
commonName = supplied
[server]
subjectAltName = DNS:{NAME}
""")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-noenc", "-keyout", self.folder / "key", "-out", self.root, "-days", 30,
                "-subj", f"/CN={name}")

    def sign(self, path, begin="20200101000000Z", end="20491231000000Z"):
        """Writes a certificate and its key beside it, for PostgreSQL."""
        key, request = path.with_suffix(".key"), path.with_suffix(".csr")
        openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-noenc", "-keyout", key, "-out", request, "-subj", f"/CN={NAME}")
        openssl("ca", "-batch", "-config", self.folder / "config", "-keyfile",
                self.folder / "key", "-cert", self.root, "-in", request, "-out", path,
                "-startdate", begin, "-enddate", end, "-notext")
        key.chmod(0o600)
        path.chmod(0o644)
        give(key)


class Database:
    """A PostgreSQL that accepts only passwords, by TLS unless it has no certificate."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.data, self.settings = folder / "data", folder / "settings"
        folder.mkdir()
        give(folder)
        password = folder / "password"
        password.write_text(PASSWORD)
        give(password)
        run("initdb", "-D", self.data, "--username=tideover", "--auth=scram-sha-256",
            f"--pwfile={password}", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
        password.unlink()

    def configure(self, certificate):
        kind = "hostssl" if certificate else "host"
        (self.folder / "hba").write_text(f"{kind} all tideover {LOOPBACK}/32 scram-sha-256\n")
        settings = {"listen_addresses": LOOPBACK, "port": self.port, "max_connections": 50,
                    "unix_socket_directories": "", "hba_file": self.folder / "hba",
                    "ssl": "on" if certificate else "off"}
        if certificate:
            settings |= {"ssl_cert_file": certificate,
                         "ssl_key_file": certificate.with_suffix(".key")}
        self.settings.write_text("".join(f"{key} = '{value}'\n" for key, value in settings.items()))

    def control(self, *words):
        run("pg_ctl", "-D", self.data, "-w", *words)

    def start(self, certificate):
        self.configure(certificate)
        self.control("-l", self.folder / "log", "-o", f"-c config_file={self.settings}", "start")

    def stop(self):
        if (self.data / "postmaster.pid").exists():
            self.control("-m", "immediate", "stop")

    def serve(self, certificate):
        self.stop()
        self.start(certificate)


class Server:
    """A server on that database. It ends at once if it cannot connect."""

    def __init__(self, program, folder, database, host=NAME, **parameters):
        passfile = folder / "passfile"
        parameters = {"hostaddr": LOOPBACK, "sslmode": "verify-full", "passfile": passfile,
                      "connect_timeout": 5} | parameters
        query = "&".join(f"{key}={value}" for key, value in parameters.items())
        address = f"postgres://tideover@{host}:{database.port}/postgres?{query}"
        configuration = folder / "tideover.json"
        configuration.write_text(f'''{{
          server: {{ listen: "{LOOPBACK}:0" }}, storage: "{address}",
          apps: [{{ id: "trial", environments: ["sandbox"], products: {{
            "monthly": {{ entitlements: ["premium"], period: "P1M", price: "9.99 USD" }} }},
            appStore: {{ bundleId: "com.example.trial" }} }}],
        }}''')
        self.log = folder / "server.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([program, "serve", "--config", configuration],
                                            stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=subprocess.STDOUT,
                                            env={"PATH": os.environ["PATH"]})

    def said(self):
        return self.log.read_text()

    def port(self):
        """The port that it listens on; None if it ended."""
        for _ in range(PATIENCE * 20):
            if found := re.search(r"listening.*http://127\.0\.0\.1:(\d+)", self.said()):
                return int(found[1])
            if self.process.poll() is not None:
                return None
            time.sleep(0.05)
        return None

    def readiness(self, port):
        connection = http.client.HTTPConnection(LOOPBACK, port, timeout=PATIENCE)
        connection.request("GET", "/readyz")
        return connection.getresponse().status

    def becomes(self, port, status):
        for _ in range(PATIENCE * 5):
            if self.readiness(port) == status:
                return True
            time.sleep(0.2)
        return False

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(PATIENCE)


class Trial:
    def __init__(self, program, folder, is_wrong):
        self.program, self.folder, self.is_wrong = program, folder, is_wrong
        self.wrong, self.count = [], 0
        self.authority, foreign = Authority(folder, "own"), Authority(folder, "foreign")
        self.good, self.expired = folder / "good.crt", folder / "expired.crt"
        self.foreign, self.early = folder / "foreign.crt", folder / "early.crt"
        self.authority.sign(self.good)
        self.authority.sign(self.expired, end="20200201000000Z")
        self.authority.sign(self.early, begin="20480101000000Z")
        foreign.sign(self.foreign)
        self.write_password(PASSWORD)
        self.database = Database(folder / "database")

    def write_password(self, text, mode=0o600):
        text = text.replace("\\", "\\\\").replace(":", "\\:")
        passfile = self.folder / "passfile"
        passfile.write_text(f"*:*:*:tideover:{text}\n")
        passfile.chmod(mode)

    def server(self, **parameters):
        return Server(self.program, self.folder, self.database,
                      **({"sslrootcert": self.authority.root} | parameters))

    def expect(self, is_so, sentence):
        self.count += 1
        print(("  " if is_so else "  WRONG: ") + sentence)
        if not is_so:
            self.wrong.append(sentence)

    def accepts(self, name, **parameters):
        server = self.server(**parameters)
        port = server.port()
        self.expect(port is not None and server.readiness(port) == 200, f"{name}: accepted")
        if port is None:
            print(server.said()[-500:])
        server.end()

    def refuses(self, name, words, **parameters):
        """The server must end, and name the cause. With --wrong, certificates are not verified."""
        if self.is_wrong:
            parameters["sslmode"] = "require"
            parameters["sslrootcert"] = "/missing"  # an existing one would be used
        server = self.server(**parameters)
        port = server.port()
        said = server.said()
        self.expect(port is None, f"{name}: refused")
        if self.is_wrong:
            server.end()
            return
        self.expect(words in said, f"{name}: says `{words}`")
        self.expect(PASSWORD not in said, f"{name}: the password is not in the log")
        if port is None and words not in said:
            print(said[-500:])
        server.end()

    def certificates(self):
        self.database.serve(self.good)
        if not self.is_wrong:
            self.accepts("own authority, right name, password")
            self.accepts("wrong name without verifying names", host="other.tideover.example",
                         sslmode="verify-ca")
        self.refuses("wrong name", "does not match host name", host="other.tideover.example")
        for certificate, name in [(self.expired, "expired certificate"),
                                  (self.early, "certificate of the future"),
                                  (self.foreign, "foreign authority")]:
            self.database.serve(certificate)
            self.refuses(name, "certificate verify failed")

    def others(self):
        self.database.serve(None)
        self.refuses("server without TLS", "server does not support SSL")
        self.database.serve(self.good)
        self.refuses("missing root certificate", 'root certificate file "/missing" does not exist',
                     sslrootcert="/missing")
        self.refuses("client without TLS", "no encryption", sslmode="disable")
        self.write_password("wrong")
        self.refuses("wrong password", "password authentication failed")
        self.write_password(PASSWORD, mode=0o640)
        self.refuses("password file that others can read", "no password supplied")
        self.write_password(PASSWORD)

    def change_of_certificate(self):
        """A running server does not follow a database to another certificate, and comes back."""
        server = self.server()
        port = server.port()
        self.expect(port is not None, "accepted before the change")
        if port is None:
            return
        self.database.serve(self.foreign)
        self.expect(server.becomes(port, 503), "/readyz is 503 with a foreign certificate")
        self.database.serve(self.good)
        self.expect(server.becomes(port, 200), "/readyz is 200 again with the own one")
        server.end()


def main(program, *more):
    is_wrong = "--wrong" in more
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o711)  # PostgreSQL runs as another user than root
        trial = Trial(program, folder, is_wrong)
        try:
            trial.certificates()
            if not is_wrong:
                trial.others()
                trial.change_of_certificate()
        finally:
            trial.database.stop()
    print(f"checks: {trial.count}, wrong: {len(trial.wrong)}")
    # Without verification each of the four bad certificates must have been accepted.
    return 0 if len(trial.wrong) == (trial.count if is_wrong else 0) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
