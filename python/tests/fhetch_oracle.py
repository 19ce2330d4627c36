"""An interpreter of FHETCH traces on Python integers, by what the format's own simulator does."""

from __future__ import annotations

import re


def reversed_bits(k: int, bits: int) -> int:
    return int(f"{k:0{bits}b}"[::-1], 2) if bits else 0


def least_root(q: int, n: int) -> int:
    """By trial of all elements in order."""
    return next(x for x in range(2, q) if pow(x, n, q) == q - 1)


def transform(words: list[int], q: int, root: int, *, inverse: bool) -> list[int]:
    """By the definition: word k is the value at root^(2·brv(k)+1)."""
    n = len(words)
    bits = n.bit_length() - 1
    powers = [2 * reversed_bits(k, bits) + 1 for k in range(n)]
    if not inverse:
        return [sum(a * pow(root, j * e, q) for j, a in enumerate(words)) % q for e in powers]
    over = pow(n, -1, q)
    return [
        over * sum(a * pow(root, -j * e, q) for a, e in zip(words, powers, strict=True)) % q for j in range(n)
    ]


def interpret(text: str, n: int, memory: dict[int, list[int]], roots: dict[int, int]) -> dict[int, list[int]]:
    """What stands at each address after the trace."""
    moduli: list[int] = []
    bits = n.bit_length() - 1
    for line in (line.split("#")[0].strip() for line in text.splitlines()):
        if not line or line.startswith("modulus_count"):
            continue
        if line.startswith("m["):
            moduli.append(int(line.split()[1], 16))
            continue
        if line == "halt":
            break
        op, rest = line.split(None, 1)
        at = [int(a) for a in re.findall(r"%(\d+)", rest)]
        q = moduli[int(re.search(r"\bm=(\d+)", rest)[1])]
        a = memory[at[1]]
        number = re.search(r", (\d+), m=", rest)
        c = int(number[1]) if number else 0
        match op:
            case "sr_addp":
                made = [(x + y) % q for x, y in zip(a, memory[at[2]], strict=True)]
            case "sr_subp":
                made = [(x - y) % q for x, y in zip(a, memory[at[2]], strict=True)]
            case "sr_mulp":
                made = [x * y % q for x, y in zip(a, memory[at[2]], strict=True)]
            case "sr_negp":
                made = [-x % q for x in a]
            case "sr_addps":
                made = list(a) if c == 0 else [(x + c) % q for x in a]
            case "sr_subps":
                made = [(x - c) % q for x in a]
            case "sr_mulps":
                made = [x * c % q for x in a]
            case "sr_ntt" | "sr_intt":
                made = transform(a, q, roots[q], inverse=op == "sr_intt")
            case "sr_automorph_eval":
                k, made = int(re.search(r"\bk=(\d+)", rest)[1]), [0] * n
                for j in range(n):
                    source = ((2 * j + 1) * k >> 1) % n
                    made[reversed_bits(j, bits)] = a[reversed_bits(source, bits)]
            case _:
                raise AssertionError(line)
        memory[at[0]] = made
    return memory
