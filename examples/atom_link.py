"""Talks to an ATOM over UDP as the lab's tools do: bound to port 5007, one message per datagram. MOVES THE ARM.

Usage: python3 examples/atom_link.py [address [port [own port]]]
"""

import socket
import struct
import sys

SIGNS = (-1, -1, 1, -1, -1, -1, 1)
RESULTS = ("done", "tracking error", "stopped", "not at the start pose", "bus error")
READY_DEG = (0, 0, -90, 0, 0, 0)


def degrees(steps):
    """Joint angles (degrees) of positions or goals (steps)."""
    return [round(sign * (s - 2048) * 360 / 4096, 1) for sign, s in zip(SIGNS, steps)]


class AtomLink:
    """One UDP client of an ATOM."""

    def __init__(self, address="127.0.0.1", port=5006, own_port=5007):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("", own_port))
        self.socket.settimeout(5)
        self.atom = (address, port)

    def send(self, code, layout="", *values):
        self.socket.sendto(struct.pack("<B" + layout, code, *values), self.atom)

    def receive(self, *codes):
        """The next message with one of these codes."""
        while True:
            message = self.socket.recv(2048)
            if message[0] in codes:
                return message

    def ping(self):
        """Version, state, samples of the plan."""
        self.send(0x01)
        major, state, samples, _, _, _, minor, patch = struct.unpack("<HBIHBBBB", self.receive(0x81)[1:])
        return f"{major}.{minor}.{patch}", state, samples

    def angles_deg(self):
        self.send(0x02)
        reply = self.receive(0x82)
        return degrees(struct.unpack_from(f"<{reply[2]}H", reply, 3))

    def read_register(self, servo, address, length):
        self.send(0x09, "BBB", servo, address, length)
        reply = self.receive(0x86)
        status = struct.unpack_from("<b", reply, 4)[0]
        if status != 0:
            raise OSError(f"register {address} of servo {servo}: status {status}")
        return reply[5:]

    def move_to(self, goal_deg):
        """Moves in the shortest time. Returns the result and the telemetry samples received."""
        self.send(0x0E, f"{len(goal_deg)}hH", *(round(100 * q) for q in goal_deg), 0)
        samples = 0
        while True:
            message = self.receive(0x83, 0x84, 0x85)
            if message[0] == 0x83 and message[2] != 0:
                raise OSError(f"MOVE_TO refused: status {struct.unpack_from('<b', message, 2)[0]}")
            if message[0] == 0x84:
                samples += message[5]
            if message[0] == 0x85:
                return RESULTS[message[1]], samples


def main():
    arguments = sys.argv[1:]
    if "--help" in arguments:
        return print(__doc__)
    link = AtomLink(*arguments[:1], *(int(port) for port in arguments[1:]))
    print("version, state, plan:", *link.ping())
    print("angles:", *link.angles_deg())
    p, d, i = link.read_register(1, 21, 3)
    print("gains of J1: P", p, "D", d, "I", i)
    result, samples = link.move_to(READY_DEG)
    print("move:", result, "with", samples, "telemetry samples")
    print("angles:", *link.angles_deg())


if __name__ == "__main__":
    try:
        main()
    except (TimeoutError, ConnectionError) as error:
        sys.exit(f"no ATOM answers: {error}; start one with atom-sim, or give its address")
