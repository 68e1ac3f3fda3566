"""Runs a pair of PostgreSQL servers, a primary and its replica, and fails over between them.

Run by scripts/failover-test.sh:

    failover_pair.py start FOLDER [--remote-apply]  prints the address of both
    failover_pair.py start FOLDER --alone           starts a primary without a replica
    failover_pair.py stop FOLDER                    ends both and removes the folder
    failover_pair.py fail-over FOLDER ROUND         rebuilds the replica, then fails over
    failover_pair.py lose FOLDER ROUND              the same with a replica that was cut off before
    failover_pair.py restart FOLDER ROUND           ends the primary and starts it again
    failover_pair.py forget FOLDER ROUND            the same; it has not written its latest commits
"""

import json
import os
import pathlib
import shutil
import signal
import sys
import time

from postgres_programs import LOOPBACK, PATIENCE, ended, give, run
from program_stage import free_port


def now():
    return time.time_ns() // 1_000_000


class Node:
    """One of the two servers. Its settings are outside of its data, which is replaced."""

    def __init__(self, folder, name, port, other_port, remote_apply):
        self.folder, self.name, self.port, self.other_port = folder, name, port, other_port
        self.data, self.settings = folder / name, folder / f"{name}.conf"
        self.remote_apply = remote_apply

    def configure(self, synchronous="", source=None, **other):
        """`source` is the port that it would replicate from; `synchronous` names its replica;
        `other` are further settings."""
        settings = {
            "listen_addresses": LOOPBACK, "port": self.port, "unix_socket_directories": "",
            "hba_file": self.folder / "hba.conf", "max_connections": 100, "wal_log_hints": "on",
            "wal_keep_size": "512MB", "logging_collector": "off", "cluster_name": self.name,
            "synchronous_commit": "remote_apply" if self.remote_apply else "on",
            "synchronous_standby_names": f"FIRST 1 ({synchronous})" if synchronous else "",
            "primary_conninfo": f"host={LOOPBACK} port={source or self.other_port} user=tideover"
                                f" application_name={self.name} connect_timeout=2",
            **other,
        }
        lines = [f"{key} = '{value}'\n" for key, value in settings.items()]
        self.settings.write_text("".join(lines))
        self.settings.chmod(0o644)

    def control(self, *words):
        return run("pg_ctl", "-D", self.data, "-w", "-t", PATIENCE, *words)

    def start(self):
        self.control("-l", self.folder / f"{self.name}.log", "-o",
                     f"-c config_file={self.settings}", "start")

    def reload(self):
        self.control("reload")

    def process(self):
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def kill(self):
        """Ends the server and all its processes at once, as a power cut would."""
        first = self.process()
        children = pathlib.Path(f"/proc/{first}/task/{first}/children").read_text().split()
        for process in [first, *map(int, children)]:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        while not all(map(ended, [first, *map(int, children)])):
            time.sleep(0.01)
        # After a power cut no process has this number. Here it may still have one until its parent
        # has asked for its end, and pg_rewind would take the server for running.
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def sql(self, statement):
        return run("psql", "-X", "-At", "-d", self.address("tideover_control"), "-c",
                   statement).strip()

    def address(self, name):
        return (f"host={LOOPBACK} port={self.port} user=tideover dbname=postgres"
                f" application_name={name}")


class Pair:
    def __init__(self, folder):
        self.folder = folder
        self.state = json.loads((folder / "state").read_text())
        ports, remote = self.state["ports"], self.state["remoteApply"]
        self.nodes = {
            "a": Node(folder, "a", ports[0], ports[1], remote),
            "b": Node(folder, "b", ports[1], ports[0], remote),
        }

    @property
    def primary(self):
        return self.nodes[self.state["primary"]]

    @property
    def replica(self):
        return self.nodes["b" if self.state["primary"] == "a" else "a"]

    @staticmethod
    def start(folder, remote_apply, alone):
        folder.mkdir(mode=0o711)
        (folder / "hba.conf").write_text(f"host all,replication tideover {LOOPBACK}/32 trust\n")
        (folder / "hba.conf").chmod(0o644)
        state = {"primary": "a", "ports": [free_port(), free_port()], "remoteApply": remote_apply}
        (folder / "state").write_text(json.dumps(state))
        give(folder)
        pair = Pair(folder)
        run("initdb", "-D", pair.primary.data, "--username=tideover", "--auth=trust",
            "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
        pair.primary.configure()
        pair.primary.start()
        if alone:
            print(f"postgres://tideover@{LOOPBACK}:{pair.primary.port}/postgres")
            return
        pair.add_replica(by_rewinding=False)
        ports = ",".join(f"{LOOPBACK}:{port}" for port in state["ports"])
        print(f"postgres://tideover@{ports}/postgres?target_session_attrs=read-write")

    def stop(self):
        for node in self.nodes.values():
            if (node.data / "postmaster.pid").exists() and not ended(node.process()):
                node.control("-m", "immediate", "stop")
        shutil.rmtree(self.folder)

    def add_replica(self, by_rewinding):
        """Makes the node that is not running the synchronous replica of the other one."""
        self.replica.configure()
        if by_rewinding:
            # Until its first checkpoint the new primary has the old timeline in its control file,
            # and pg_rewind of PostgreSQL 15 would find nothing to do.
            self.primary.sql("CHECKPOINT")
            run("pg_rewind", f"--target-pgdata={self.replica.data}",
                f"--source-server={self.primary.address('rewind')}",
                f"--config-file={self.replica.settings}", "--no-sync")
        else:
            shutil.rmtree(self.replica.data, ignore_errors=True)
            run("pg_basebackup", "-D", self.replica.data, "-d", self.primary.address("backup"),
                "--checkpoint=fast", "--no-sync")
        signal_file = self.replica.data / "standby.signal"
        signal_file.touch()
        give(signal_file)
        self.replica.start()
        self.primary.configure(synchronous=self.replica.name)
        self.primary.reload()
        self.wait_for_synchrony()

    def wait_for_synchrony(self):
        deadline = time.monotonic() + PATIENCE
        while self.primary.sql("SELECT sync_state FROM pg_stat_replication"
                               f" WHERE application_name = '{self.replica.name}'") != "sync":
            if time.monotonic() > deadline:
                raise SystemExit("the replica did not become synchronous")
            time.sleep(0.05)

    def cut_off_replica(self):
        """The planted fault: commits need no replica, and it receives none from now on."""
        self.primary.configure()
        self.primary.reload()
        self.replica.configure(source=1)
        self.replica.reload()
        time.sleep(0.7)

    @staticmethod
    def wait_under_load(number):
        time.sleep(0.3 + 0.37 * number % 0.5)  # not always at the same moment

    @staticmethod
    def end(node, number):
        """Ends a server by force. Every third time it ends its own processes."""
        print(f"down {now()}", flush=True)
        if number % 3 == 2:
            node.control("-m", "immediate", "stop")
        else:
            node.kill()

    def restart(self, number, forgets):
        if forgets:
            # The planted fault: commits wait for no disk.
            self.primary.configure(synchronous_commit="off", wal_writer_delay="10s",
                                   wal_writer_flush_after="1GB")
            self.primary.reload()
        self.wait_under_load(number)
        self.end(self.primary, number)
        self.primary.start()
        print(f"restored {now()}", flush=True)

    def fail_over(self, number, loses):
        if number > 0:
            began = time.monotonic()
            self.add_replica(by_rewinding=number % 2 == 1)
            kind = "pg_rewind" if number % 2 == 1 else "pg_basebackup"
            print(f"replica by {kind} in {time.monotonic() - began:.1f} s", flush=True)
        self.wait_under_load(number)
        if loses:
            self.cut_off_replica()
        self.end(self.primary, number)
        self.replica.control("promote")
        print(f"restored {now()}", flush=True)
        self.state["primary"] = self.replica.name
        (self.folder / "state").write_text(json.dumps(self.state))


def main(command, folder, *more):
    folder = pathlib.Path(folder).resolve()
    if command == "start":
        Pair.start(folder, "--remote-apply" in more, "--alone" in more)
    elif command == "stop":
        Pair(folder).stop()
    elif command in ("restart", "forget"):
        Pair(folder).restart(int(more[0]), forgets=command == "forget")
    else:
        Pair(folder).fail_over(int(more[0]), loses=command == "lose")


if __name__ == "__main__":
    main(*sys.argv[1:])
