"""A TCP proxy before a PostgreSQL server, with a port for each Tideover server, and its faults.

Run by scripts/partition-test.sh:

    database_proxy.py serve DATABASE_PORT CONTROL_PORT PORT...  forwards until it is ended
    database_proxy.py fault CONTROL_PORT ROUND                  the fault of a round, then none

Faults concern one port or all. Each lasts some seconds:

    cut         ends all connections and refuses new ones
    stall       forwards nothing and accepts connections, as a network does that loses every packet
    mute        forwards statements but not their answers, so that commits happen unseen
    reset       ends all connections once, with a reset
    delay       forwards each piece a little later
"""

import asyncio
import os
import socket
import struct
import sys
import time

LOOPBACK = "127.0.0.1"
# Fault, ports it concerns (none: all), seconds, and whether their servers must report it meanwhile.
# A check of `/readyz` may take five seconds, and its result is valid for one.
ROUNDS = [
    ("cut", None, 4, True),
    ("stall", None, 9, True),
    ("stall", 0, 25, True),
    ("mute", None, 9, True),
    ("delay", None, 4, False),
    ("reset", None, 1, False),
    ("mute", 1, 25, True),
    ("cut", 1, 4, True),
    ("stall", None, 20, True),
]
# In seconds, for each direction.
DELAY = float(os.environ.get("TIDEOVER_PROXY_DELAY", "0.15"))


class Way:
    """The connections of one port, and its fault."""

    def __init__(self, database_port):
        self.database_port = database_port
        self.fault = None
        self.changed = asyncio.Condition()
        self.writers = set()

    async def set(self, fault):
        async with self.changed:
            self.fault = fault
            self.changed.notify_all()
        if fault in ("cut", "reset"):
            for writer in list(self.writers):
                end(writer, with_reset=fault == "reset")

    async def may_forward(self, is_answer):
        blocking = ("stall", "mute") if is_answer else ("stall",)
        async with self.changed:
            await self.changed.wait_for(lambda: self.fault not in blocking)

    async def accept(self, reader, writer):
        if self.fault == "cut":
            end(writer, with_reset=True)
            return
        self.writers.add(writer)
        onward = None
        try:
            await self.may_forward(is_answer=False)
            from_database, onward = await asyncio.open_connection(LOOPBACK, self.database_port)
            self.writers.add(onward)
            await asyncio.gather(self.forward(reader, onward, is_answer=False),
                                 self.forward(from_database, writer, is_answer=True))
        except OSError:
            pass
        finally:
            for one in filter(None, [writer, onward]):
                self.writers.discard(one)
                end(one)

    async def forward(self, reader, writer, is_answer):
        """Also the end of a connection is forwarded only when there is no fault."""
        loop, due = asyncio.get_running_loop(), 0
        try:
            while piece := await reader.read(65536):
                await self.may_forward(is_answer)
                # In order, also after a delay has ended: each piece a little after the one before.
                delay = DELAY if self.fault == "delay" else 0
                due = max(due + 1e-6, loop.time() + delay)
                if due - loop.time() < 1e-3:
                    writer.write(piece)
                    await writer.drain()
                else:
                    loop.call_at(due, writer.write, piece)
        finally:
            await self.may_forward(is_answer)
            await asyncio.sleep(max(0, due - loop.time()))
            end(writer)


def end(writer, with_reset=False):
    if with_reset and (end_point := writer.get_extra_info("socket")) is not None:
        try:
            end_point.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass
        writer.transport.abort()
    else:
        writer.close()


async def serve(database_port, control_port, ports):
    ways = [Way(database_port) for _ in ports]

    async def control(reader, writer):
        """A line with a fault, or `none`, and the numbers of the ports it concerns."""
        fault, *numbers = (await reader.readline()).decode().split()
        for number in numbers:
            await ways[int(number)].set(None if fault == "none" else fault)
        writer.write(b"done\n")
        await writer.drain()
        writer.close()

    servers = [await asyncio.start_server(way.accept, LOOPBACK, port)
               for way, port in zip(ways, ports)]
    servers.append(await asyncio.start_server(control, LOOPBACK, control_port))
    print("ready", flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


def order(control_port, fault, numbers):
    with socket.create_connection((LOOPBACK, control_port), timeout=10) as connection:
        connection.sendall(f"{fault} {' '.join(map(str, numbers))}\n".encode())
        if connection.makefile().readline() != "done\n":
            raise SystemExit("the proxy did not obey")


def now():
    return time.time_ns() // 1_000_000


def run_fault(control_port, number, count=2):
    fault, way, seconds, is_seen = ROUNDS[number % len(ROUNDS)]
    ways = range(count) if way is None else [way]
    print(fault, seconds, "s on", *ways)
    print("down", now(), *(ways if is_seen else []), flush=True)
    order(control_port, fault, ways)
    time.sleep(seconds)
    order(control_port, "none", ways)
    print("restored", now(), flush=True)


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    numbers = list(map(int, rest))
    if command == "serve":
        asyncio.run(serve(numbers[0], numbers[1], numbers[2:]))
    else:
        run_fault(*numbers)
