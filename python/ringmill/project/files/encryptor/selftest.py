"""Every mode of the simulated engine against its definition: python3 test/selftest.py LIBRARY [JOBS].

It needs Python alone, and nothing of Ringmill. Samples come from ChaCha20 and expansions from BLAKE3 as the
engine's documentation says; polynomials are Python's integers. So a result is right to the last bit, or it is
named.
"""

from __future__ import annotations

import ctypes
import json
import random
import sys
from collections.abc import Callable, Iterator
from ctypes import c_uint64
from itertools import count
from pathlib import Path
from typing import Any

from polynomials import Words, coefficients, root_of, values, words

PUBLIC, SYMMETRIC, PUBLIC_KEY, DECRYPT, DIVIDED = range(5)
NAMES = ("public", "symmetric", "public key", "decrypt", "divided")
Limbs = list[Words]
Seeds = tuple[Words, Words]
Given = dict[str, Any]

MASK32, MASK64 = (1 << 32) - 1, (1 << 64) - 1


def rotated(x: int, by: int) -> int:
    """A word of 32 bits, rotated to the left."""
    return (x << by | x >> (32 - by)) & MASK32


# ------------------------------------------------- generators


def chacha20(key: Words) -> Iterator[int]:
    """The words of RFC 8439's block function, ten double rounds, with a counter of 64 bits and stream 0."""
    for block in count():
        start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *key, block & MASK32, block >> 32, 0, 0]
        s = list(start)
        for _ in range(10):
            for shift in (0, 1):
                for i in range(4):
                    a, b, c, d = i, 4 + (i + shift) % 4, 8 + (i + 2 * shift) % 4, 12 + (i + 3 * shift) % 4
                    s[a] = (s[a] + s[b]) & MASK32
                    s[d] = rotated(s[d] ^ s[a], 16)
                    s[c] = (s[c] + s[d]) & MASK32
                    s[b] = rotated(s[b] ^ s[c], 12)
                    s[a] = (s[a] + s[b]) & MASK32
                    s[d] = rotated(s[d] ^ s[a], 8)
                    s[c] = (s[c] + s[d]) & MASK32
                    s[b] = rotated(s[b] ^ s[c], 7)
        yield from ((x + y) & MASK32 for x, y in zip(s, start, strict=True))


IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
ORDER = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)


def blake3(key: Words, data: bytes) -> Iterator[int]:
    """The words of BLAKE3's output, keyed, of data that is one block: flags of a keyed root."""
    block = data.ljust(64, b"\0")
    first = [int.from_bytes(block[4 * i : 4 * i + 4], "little") for i in range(16)]
    for number in count():
        s = [*key, *IV[:4], number & MASK32, number >> 32, len(data), 1 | 2 | 8 | 16]
        m = first
        for _ in range(7):
            for shift in (0, 1):
                for i in range(4):
                    a, b, c, d = i, 4 + (i + shift) % 4, 8 + (i + 2 * shift) % 4, 12 + (i + 3 * shift) % 4
                    for half, (by_d, by_b) in enumerate(((16, 12), (8, 7))):
                        s[a] = (s[a] + s[b] + m[8 * shift + 2 * i + half]) & MASK32
                        s[d] = rotated(s[d] ^ s[a], 32 - by_d)
                        s[c] = (s[c] + s[d]) & MASK32
                        s[b] = rotated(s[b] ^ s[c], 32 - by_b)
            m = [m[i] for i in ORDER]
        yield from (s[i] ^ s[i + 8] for i in range(8))
        yield from (s[i + 8] ^ key[i] for i in range(8))


def uniform(key: Words, label: bytes, limb: int, q: int, n: int) -> Words:
    """n residues modulo q, exactly uniform: Lemire's rule on words of 64 bits."""
    data = b"ringmill uniform v1" + len(label).to_bytes(8, "little") + label + limb.to_bytes(4, "little")
    words = blake3(key, data)
    out: Words = []
    while len(out) < n:
        w = next(words) | next(words) << 32
        if w * q & MASK64 >= (1 << 64) % q:
            out.append(w * q >> 64)
    return out


# ------------------------------------------------- samples


def ternary(words: Iterator[int], n: int) -> Words:
    """Five digits of each byte below 243, drawn by as many bytes as are missing."""
    out: Words = []
    while len(out) < n:
        wanted = min(4096, (n - len(out) + 4) // 5)
        drawn = b"".join(next(words).to_bytes(4, "little") for _ in range((wanted + 3) // 4))[:wanted]
        for byte in drawn:
            if byte < 243:
                out += [byte // 3**i % 3 - 1 for i in range(5)]
    return out[:n]


def gaussian_table() -> Words:
    """2^127 P(|X| <= k), rounded, of the discrete Gaussian of deviation 3.2, in integers of 400 bits."""
    one = 1 << 400
    g, term, k = 0, one, 0
    while term:
        g += -term if k % 2 else term
        k += 1
        term = term * 25 // (512 * k)
    weight = [one]
    for x in range(1, 43):  # g^(x^2) = g^((x-1)^2) g^(2x-1)
        power = weight[-1]
        for _ in range(2 * x - 1):
            power = power * g >> 400
        weight.append(power)
    whole, upto = weight[0] + 2 * sum(weight[1:]), 0
    table: Words = []
    for k in range(42):
        upto += weight[k] if k == 0 else 2 * weight[k]
        table.append(((upto << 128) // whole + 1) // 2)
    return table


TABLE = gaussian_table()


def gaussian(words: Iterator[int], n: int) -> Words:
    """512 samples of 64 bits each, then 64 more for those which these do not decide."""
    out: Words = []
    while len(out) < n:
        drawn = [next(words) | next(words) << 32 for _ in range(512)]
        for w in drawn[: n - len(out)]:
            upper = w & (MASK64 >> 1)
            lower = 0
            if any(entry >> 64 == upper for entry in TABLE):
                lower = next(words) | next(words) << 32
            size = sum((upper << 64 | lower) >= entry for entry in TABLE)
            out.append(-size if w >> 63 else size)
    return out


# ------------------------------------------------- the library


class Built(ctypes.Structure):
    """rm_encryptor_parameters."""

    _fields_ = [(x, ctypes.c_uint32) for x in ("abi", "limbs", "w", "w_rest", "log_n", "extra", "seal")]


class Job(ctypes.Structure):
    """rm_encryptor_job."""

    _words = ctypes.POINTER(c_uint64)
    _fields_ = [
        ("mode", ctypes.c_uint32),
        ("secret_seed", ctypes.c_uint32 * 16),
        ("public_seed", ctypes.c_uint32 * 8),
        ("q", _words),
        ("psi", _words),
        ("secret", ctypes.POINTER(ctypes.c_int8)),
        ("message", _words),
        ("key", _words * 2),
        ("part", _words * 2),
        ("cycles", c_uint64),
    ]


class Engine:
    """The library, its primes and roots."""

    def __init__(self, library: str, primes: Words) -> None:
        self.library = ctypes.CDLL(str(Path(library).resolve()))
        self.built = Built()
        self.library.rm_encryptor_parameters_of(ctypes.byref(self.built))
        self.n, self.limbs = 1 << self.built.log_n, self.built.limbs
        if len(primes) != self.limbs + self.built.extra or self.built.abi != 2:
            raise SystemExit("this library is not the one of this folder")
        self.q, self.psi = primes, [root_of(q, self.n) for q in primes]

    def run(
        self,
        mode: int,
        parts: int,
        seeds: Seeds,
        secret: Words | None = None,
        message: Limbs | None = None,
        keys: list[Limbs] | None = None,
    ) -> tuple[list[Limbs] | None, object]:
        """The parts of a result, limb by limb, and the cycles; or what the engine says."""
        job = Job(mode=mode, q=words(self.q), psi=words(self.psi))
        job.secret_seed[:8], job.public_seed[:] = seeds
        if secret:
            job.secret = (ctypes.c_int8 * self.n)(*secret)
        if message:
            job.message = words([x for limb in message for x in limb])
        for i, key in enumerate(keys or []):
            job.key[i] = words([x for limb in key for x in limb])
        out = [words([0] * (self.n * self.limbs)) for _ in range(parts)]
        for i, part in enumerate(out):
            job.part[i] = part
        said = ctypes.create_string_buffer(256)
        if self.library.rm_encryptor_run(ctypes.byref(job), said, ctypes.c_size_t(256)):
            return None, said.value.decode()
        return [
            [list(part[i * self.n : (i + 1) * self.n]) for i in range(self.limbs)] for part in out
        ], job.cycles


# ------------------------------------------------- what every mode is


class Case:
    """Random inputs of every mode, and the results by their definitions."""

    def __init__(self, engine: Engine, rng: random.Random) -> None:
        self.of, self.rng = engine, rng
        self.secret = [rng.randrange(3) - 1 for _ in range(engine.n)]

    def seeds(self) -> Seeds:
        """Two seeds of 32 bytes, as words."""
        return [self.rng.getrandbits(32) for _ in range(8)], [self.rng.getrandbits(32) for _ in range(8)]

    def residues(self, over: bool = False) -> Limbs:
        """Uniform residues of every limb, and of p."""
        primes = self.of.q if over else self.of.q[: self.of.limbs]
        return [[self.rng.randrange(q) for _ in range(self.of.n)] for q in primes]

    def each(self, made: Callable[[int, int, int], Words]) -> Limbs:
        """A result of every limb: what `made` gives for its number, prime and root."""
        return [made(i, self.of.q[i], self.of.psi[i]) for i in range(self.of.limbs)]

    def seeded(self, mode: int) -> tuple[Given, list[Limbs]]:
        """Symmetric, and the public key: one part, the other one expands from a seed."""
        label = b"ciphertext c1" if mode == SYMMETRIC else b"public key a"
        seeds = self.seeds()
        message = self.residues() if mode == SYMMETRIC else None
        e = gaussian(chacha20(seeds[0]), self.of.n)

        def part(i: int, q: int, psi: int) -> Words:
            given = [x + y for x, y in zip(e, message[i], strict=True)] if message else e
            terms = zip(
                values(given, q, psi),
                values(self.secret, q, psi),
                uniform(seeds[1], label, i, q, self.of.n),
                strict=True,
            )
            return [(x - s * a) % q for x, s, a in terms]

        return {"seeds": seeds, "secret": self.secret, "message": message}, [self.each(part)]

    def decrypted(self) -> tuple[Given, list[Limbs]]:
        """c0 + c1 s."""
        c1, c0 = self.residues(), self.residues()

        def part(i: int, q: int, psi: int) -> Words:
            return [
                (x + y * s) % q for x, y, s in zip(c0[i], c1[i], values(self.secret, q, psi), strict=True)
            ]

        return {"seeds": ([0] * 8, [0] * 8), "secret": self.secret, "keys": [c1, c0]}, [self.each(part)]

    def encrypted(self, mode: int) -> tuple[Given, list[Limbs]]:
        """v times b and a, with errors and message; divided by p."""
        divides = mode == DIVIDED
        seeds, message, keys = self.seeds(), self.residues(), [self.residues(divides) for _ in range(2)]
        stream = chacha20(seeds[0])
        v = ternary(stream, self.of.n)
        errors = [gaussian(stream, self.of.n) for _ in range(2)]
        if divides:
            # What the division takes away: the centred residue modulo p, of coefficients.
            p, psi_p = self.of.q[-1], self.of.psi[-1]
            at_p = values(v, p, psi_p)
            for c in range(2):
                x = coefficients([a * b % p for a, b in zip(at_p, keys[c][-1], strict=True)], p, psi_p)
                d = [(y + e) % p for y, e in zip(x, errors[c], strict=True)]
                errors[c] = [e - (y - p if y > p // 2 else y) for e, y in zip(errors[c], d, strict=True)]

        def half(c: int) -> Limbs:
            def part(i: int, q: int, psi: int) -> Words:
                by = pow(self.of.q[-1], -1, q) if divides else 1
                left = values(errors[c], q, psi)
                m = values(message[i], q, psi) if c == 0 else [0] * self.of.n
                terms = zip(values(v, q, psi), keys[c][i], left, m, strict=True)
                return [((x * k + e) * by + y) % q for x, k, e, y in terms]

            return self.each(part)

        return {"seeds": seeds, "message": message, "keys": keys}, [half(0), half(1)]

    def of_mode(self, mode: int) -> tuple[Given, list[Limbs]]:
        """Arguments of a job, and its result."""
        if mode == DECRYPT:
            return self.decrypted()
        return self.seeded(mode) if mode in (SYMMETRIC, PUBLIC_KEY) else self.encrypted(mode)


def main(arguments: list[str]) -> None:
    """Run some jobs of every mode; then what has to be refused."""
    facts = json.loads((Path(__file__).parent.parent / "encryptor.json").read_text())
    engine = Engine(arguments[0], facts["primes"])
    case = Case(engine, random.Random(2026))
    modes = [PUBLIC, SYMMETRIC, PUBLIC_KEY, DECRYPT] + [DIVIDED] * engine.built.extra
    for job in range(int(arguments[1]) if len(arguments) > 1 else 1):
        for mode in modes:
            given, wanted = case.of_mode(mode)
            found, said = engine.run(mode, parts=len(wanted), **given)
            if found is None:
                raise SystemExit(f"{NAMES[mode]}: the engine says: {said}")
            if found != wanted:
                raise SystemExit(f"{NAMES[mode]}, job {job}: not the result of its definition")
            print(
                f"ok   {NAMES[mode]:<12} {engine.n * engine.limbs * len(wanted)} residues, {said} cycles",
                flush=True,
            )
    given, wanted = case.of_mode(PUBLIC)
    given["message"][-1][3] = engine.q[engine.limbs - 1]
    found, said = engine.run(PUBLIC, parts=2, **given)
    if found is not None:
        raise SystemExit("a message that is no residue was encrypted")
    found, said = engine.run(DECRYPT, parts=1, **{**case.of_mode(DECRYPT)[0], "secret": [2] * engine.n})
    if found is not None:
        raise SystemExit("a secret key of other coefficients was taken")
    print("ok   refusals")


if __name__ == "__main__":
    main(sys.argv[1:])
