"""A folder in which a script runs a Tideover program and other processes until its end."""

import contextlib
import os
import pathlib
import random
import socket
import subprocess
import tempfile

PATIENCE = 60  # seconds, on a busy machine
returned_ports = set()


class ProgramStage(contextlib.ExitStack):
    """Runs processes in a temporary folder. All of them end when it is closed."""

    def __init__(self, program):
        super().__init__()
        self.program = program
        self.folder = pathlib.Path(self.enter_context(tempfile.TemporaryDirectory()))
        self.log = self.folder / "log"

    def write_secret(self, name, text):
        """Writes a file that only its owner can read."""
        (self.folder / name).touch(0o600)
        (self.folder / name).write_text(text)

    def run(self, *arguments, status=0):
        """The output of the program, which must end with a status; None allows any."""
        done = subprocess.run([self.program, *arguments], cwd=self.folder, timeout=PATIENCE,
                              capture_output=True, text=True)
        if status is not None and done.returncode != status:
            raise RuntimeError(f"{arguments}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self, command, **environment):
        """Starts a process whose output is appended to the log."""
        with open(self.log, "ab") as log:
            process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log,
                                       env={**os.environ, **environment})
        self.callback(end, process)
        return process


def end(process):
    process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port():
    """A port that is free now, returned only once. It is none of those that the system gives to
    connections, of which another trial may have thousands meanwhile."""
    while True:
        port = random.randrange(20_000, 32_768)
        if port in returned_ports:
            continue
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            returned_ports.add(port)
            return port
