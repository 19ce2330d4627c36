"""A SoC behind a line, without a core that computes: LiteX's UARTBone over a socket or a pseudo-terminal."""

from __future__ import annotations

import io
import os
import pty
import socket
import threading
from collections.abc import Callable
from typing import Any

WINDOW, MEMORY = 0x9000_0000, 0x4000_0000


class Stand:
    """A UARTBone with a memory in Python, after LiteX's description of its protocol; it may misbehave."""

    def __init__(
        self,
        registers: dict[int, int],
        *,
        bits: int = 32,
        drop_after: int | None = None,
        serial: bool = False,
    ) -> None:
        self.words = {WINDOW + at: value for at, value in registers.items()}
        self.mask = (1 << bits) - 1
        self.left = drop_after
        if serial:
            master, self.slave = pty.openpty()
            self.place = f"serial={os.ttyname(self.slave)}"
            arguments: tuple[Any, ...] = (self._serial, master)
        else:
            door = socket.create_server(("127.0.0.1", 0))
            self.place = f"tcp=127.0.0.1:{door.getsockname()[1]}"
            arguments = (self._socket, door)
        threading.Thread(target=arguments[0], args=arguments[1:], daemon=True).start()

    def _socket(self, door: socket.socket) -> None:
        with door:
            line, _ = door.accept()
        with line, line.makefile("rb") as said:
            self._serve(said.read, line.sendall)

    def _serial(self, master: int) -> None:
        with os.fdopen(master, "r+b", buffering=0) as line, io.BufferedReader(line) as said:
            self._serve(said.read, line.write)
            os.close(self.slave)

    def _at(self, address: int) -> int:
        return MEMORY | (address & self.mask) if address < WINDOW else address

    def _serve(self, read: Callable[[int], bytes], write: Callable[[bytes], object]) -> None:
        while len(head := read(6)) == 6:
            command, count, address = head[0], head[1], 4 * int.from_bytes(head[2:], "big")
            if self.left is not None:
                self.left -= 1
                if self.left < 0:
                    return
            for at in range(address, address + 4 * count, 4):
                if command == 1:
                    self.words[self._at(at)] = int.from_bytes(read(4), "big")
                else:
                    write(self.words.get(self._at(at), 0).to_bytes(4, "big"))
