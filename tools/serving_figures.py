"""Measures what serving costs: start time, processor time, memory, stream jitter. See docs/performance.md.

Usage: python3 tools/serving_figures.py target/release/atom-sim [--seconds 10] [--starts 10]
Linux only (it reads /proc). Standard library only.
"""

import argparse
import base64
import json
import os
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time

RATE_HZ = 100
STREAM = 0x88
SUBSCRIBE = struct.pack("<BH", 0x0C, RATE_HZ)
MOVE_TO_READY = struct.pack("<B6hH", 0x0E, 0, 0, -9000, 0, 0, 0, 0)


class UdpClient:
    """One UDP client: `send` a message, `receive` one."""

    def __init__(self, ready):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect((ready["host"], ready["udp_port"]))

    def send(self, message):
        self.socket.send(message)

    def receive(self):
        return self.socket.recv(2048)


class WebSocketClient:
    """One WebSocket client, as little of the protocol as the measurement needs: frames up to 64 KiB."""

    def __init__(self, ready):
        self.socket = socket.create_connection((ready["host"], ready["websocket_port"]))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16)).decode()
        request = (
            f"GET /ws HTTP/1.1\r\nHost: {ready['host']}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
        )
        self.socket.sendall(request.encode())
        self.stream = self.socket.makefile("rb")
        status = self.stream.readline()
        if b" 101 " not in status:
            raise ConnectionError(f"no WebSocket: {status!r}")
        while self.stream.readline() not in (b"\r\n", b""):
            pass

    def send(self, message):
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(message))
        self.socket.sendall(struct.pack("BB", 0x82, 0x80 | len(message)) + mask + masked)

    def receive(self):
        _, length = self.stream.read(2)
        if length == 126:
            (length,) = struct.unpack(">H", self.stream.read(2))
        return self.stream.read(length)


class BareTimer:
    """A process that does nothing but send a packet at each due time: how late the machine itself is."""

    PROGRAM = """
import socket, struct, sys, time
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
to.connect(("127.0.0.1", int(sys.argv[1])))
begin, rate_hz = time.perf_counter(), int(sys.argv[2])
for number in range(int(float(sys.argv[3]) * rate_hz)):
    time.sleep(max(0.0, begin + number / rate_hz - time.perf_counter()))
    to.send(struct.pack("<BI", 0x88, number * 1000 // rate_hz))
to.send(b"end")
"""

    def __init__(self, seconds):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        port = self.socket.getsockname()[1]
        self.process = subprocess.Popen([sys.executable, "-c", self.PROGRAM, str(port), str(RATE_HZ), str(seconds)])

    def watch(self, arrivals):
        """Notes of each packet its number and its arrival (s)."""
        while (message := self.socket.recv(64)) != b"end":
            arrival = time.perf_counter()
            (t_ms,) = struct.unpack_from("<I", message, 1)
            arrivals.append((round(t_ms * RATE_HZ / 1000), arrival))
        self.process.wait(10)


class Simulator:
    """The simulator as a process on free ports."""

    def __init__(self, binary):
        command = [binary, "--port", "0", "--udp-port", "0", "--log", "off"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.ready = json.loads(self.process.stdout.readline())

    def cpu_s(self):
        """Processor time so far (s), all threads, user and system."""
        tasks = f"/proc/{self.process.pid}/task"
        return sum(int(open(f"{tasks}/{task}/schedstat").read().split()[0]) for task in os.listdir(tasks)) / 1e9

    def resident_mb(self):
        pages = int(open(f"/proc/{self.process.pid}/statm").read().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def stop(self):
        self.process.terminate()
        self.process.wait(10)


def start_ms(binary):
    """Wall time from starting the process until its WebSocket port accepts (ms)."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [binary, "--port", str(port), "--udp-port", "0", "--log", "off"]
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return (time.perf_counter() - begin) * 1e3
            except ConnectionRefusedError:
                if time.perf_counter() - begin > 10:
                    raise
                time.sleep(0.0005)
    finally:
        process.terminate()
        process.wait(10)


def watch(client, arrivals, until):
    """Keeps a subscription up and notes of each STREAM packet its number in the stream and its arrival (s)."""
    first_ms = None
    renewed = 0.0
    while (now := time.perf_counter()) < until:
        if now - renewed > 1:
            client.send(SUBSCRIBE)
            renewed = now
        message = client.receive()
        arrival = time.perf_counter()
        if message[0] == STREAM:
            (t_ms,) = struct.unpack_from("<I", message, 1)
            first_ms = t_ms if first_ms is None else first_ms
            arrivals.append((round((t_ms - first_ms) * RATE_HZ / 1000), arrival))


def lateness_ms(arrivals):
    """Lateness of each packet against the grid of the period through the earliest one (ms)."""
    offsets = [arrival - number / RATE_HZ for number, arrival in arrivals]
    earliest = min(offsets)
    return [(offset - earliest) * 1e3 for offset in offsets]


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def measure(binary, seconds, starts, moving):
    figures = {"start_ms": statistics.median(start_ms(binary) for _ in range(starts))}
    simulator = Simulator(binary)
    try:
        time.sleep(1)
        before = simulator.cpu_s()
        time.sleep(seconds)
        figures["idle_cpu_percent"] = (simulator.cpu_s() - before) / seconds * 100
        clients = {
            "websocket_1": WebSocketClient(simulator.ready),
            "websocket_2": WebSocketClient(simulator.ready),
            "udp_1": UdpClient(simulator.ready),
            "udp_2": UdpClient(simulator.ready),
        }
        arrivals = {name: [] for name in clients}
        until = time.perf_counter() + seconds + 1
        threads = [
            threading.Thread(target=watch, args=(client, arrivals[name], until)) for name, client in clients.items()
        ]
        # In the same run, so that the two can be compared on a machine that others use too.
        arrivals["bare_timer"] = []
        threads.append(threading.Thread(target=BareTimer(seconds + 1).watch, args=(arrivals["bare_timer"],)))
        for thread in threads:
            thread.start()
        if moving:
            clients["udp_1"].send(MOVE_TO_READY)
        time.sleep(0.5)
        before = simulator.cpu_s()
        time.sleep(seconds)
        figures["four_clients_cpu_percent"] = (simulator.cpu_s() - before) / seconds * 100
        figures["resident_mb"] = simulator.resident_mb()
        for thread in threads:
            thread.join()
        for name, times in arrivals.items():
            late = lateness_ms(times)
            figures[f"{name}_packets"] = len(times)
            figures[f"{name}_late_ms_p50"] = percentile(late, 0.5)
            figures[f"{name}_late_ms_p99"] = percentile(late, 0.99)
    finally:
        simulator.stop()
    return figures


def main():
    parser = argparse.ArgumentParser(description="What serving costs on this machine.")
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--moving", action="store_true", help="with a MOVE_TO at the start of the four clients")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    figures = measure(os.path.abspath(arguments.binary), arguments.seconds, arguments.starts, arguments.moving)
    if arguments.json:
        print(json.dumps(figures, indent=1))
    else:
        for name, value in figures.items():
            print(f"{name:28} {value:8.3f}" if isinstance(value, float) else f"{name:28} {value:8}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
