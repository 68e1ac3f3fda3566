"""Runs the programs of Debian's PostgreSQL as another user than root. For scripts beside it."""

import os
import pathlib
import shutil
import subprocess

LOOPBACK, PATIENCE = "127.0.0.1", 60
PROGRAMS = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"),
               key=lambda path: float(path.parts[-2]))


def run(program, *words):
    """Runs a program of PostgreSQL to its end. Returns its output; exits if it fails."""
    command = [str(PROGRAMS / program), *map(str, words)]
    if os.getuid() == 0:
        command = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--"] + command
    done = subprocess.run(command, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=2 * PATIENCE)
    if done.returncode != 0:
        raise SystemExit(f"{program} failed ({done.returncode}): {done.stdout[-2000:]}")
    return done.stdout


def give(path):
    """Gives a file to the user that runs PostgreSQL."""
    if os.getuid() == 0:
        shutil.chown(path, "nobody", "nogroup")


def ended(process):
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"
