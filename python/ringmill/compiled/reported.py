"""What a compiled kernel prints of itself."""

from __future__ import annotations

from typing import Any

from ringmill import html, memory
from ringmill.compiled.managed import Managed

# Keys of more bytes are reported with what takes fewer.
MANY_BYTES = 1e9

# What `cost` reports beside operations.
_NO_OPERATIONS = ("key_switches", "hoisted", "levels", "key_bytes")


def _moved(way: dict[str, Any]) -> str:
    """What a way to run a program moves."""
    off_chip, spilled = (way[name] / 1e6 for name in ("off_chip", "spilled_and_refilled"))
    return f"{off_chip:,.1f} MB over the edge, {spilled:,.1f} of these spilled and refilled"


class Reported(Managed):
    """A managed kernel with its report."""

    def __repr__(self) -> str:
        places = len(self.bootstraps)
        often = f"{places} bootstrapping{'s' if places > 1 else ''}, " if places else ""
        return (
            f"<compiled {self.name}: {self.signature.slots} slots, depth {self.plan.depth}, {often}"
            f"keys: {self.keys_needed}; switching {self.switching}; {self.params!r}>"
        )

    def __str__(self) -> str:
        """What it is, needs and gives, a line each."""
        lines = {
            "parameters": repr(self.params),
            "depth": f"{self.plan.depth} level{'s' if self.plan.depth != 1 else ''}",
            **({"algebra": str(self.algebra)} if self.algebra else {}),
            "operations": self._operations(),
            "keys": f"{self.keys_needed}; {self._key_bytes() / 1e6:,.1f} MB in memory{self._fewer_keys()}",
            "error": f"2^{max(self.predicted_error.values()):.1f} in the worst slot, as predicted"
            + self.functions.reported(self._noise()),
            **self._capacity(),
            **self._published(),
            **self.functions.lines(),
        }
        reported = [f"  {name:<11} {line}" for name, line in lines.items()]
        return "\n".join([f"kernel {self.name}, {self.signature.slots} slots", *reported])

    def _capacity(self) -> dict[str, str]:
        """What the program moves over the edge of the chip that it was compiled for, and how."""
        if self.capacity is None:
            return {}
        taken = next(way for way in self.ways if way["chosen"])
        what = {
            "by_primes": "goes prime by prime",
            "recompute": "computes products again",
            "by_cost": "lets go first what is cheap to bring back",
        }
        does = [words for name, words in what.items() if taken[name]] or ["stays as it is written"]
        return {
            "capacity": f"{self.capacity}: {_moved(taken)}; as written {_moved(self.ways[0])}. "
            f"Of {len(self.ways)} ways it {' and '.join(does)}"
        }

    def _published(self) -> dict[str, str]:
        """What remains of the precision after flooding."""
        if self.sanitising:
            error = self.sanitised_error(self.sanitising.decryptions, self.sanitising.statistical)
            count, bits = self.sanitising.decryptions, self.sanitising.statistical
            what = f"{count:,} results of one model with {bits} bits of statistical security"
            return {"sanitised": f"2^{error:.1f} for {what}"}
        if self.flooding is None:
            return {}
        count, bits = self.flooding.decryptions, self.flooding.statistical
        left = self.published_error(count, bits)
        return {
            "published": f"2^{left:.1f} for {count:,} decryptions with {bits} bits of statistical security"
        }

    def _repr_html_(self) -> str:
        """The same lines for a notebook."""
        title, *lines = str(self).splitlines()
        return html.table(title, dict(line.strip().split(maxsplit=1) for line in lines))

    def _operations(self) -> str:
        """How many operations of each kind, and what takes the time."""
        counts = {name: n for name, n in self.cost.items() if name not in _NO_OPERATIONS}
        parts = [", ".join(f"{n:,} {name}" for name, n in counts.items())]
        parts += [f"{self.cost['key_switches']:,} key switches"]
        parts += [f"{len(self.bootstraps):,} bootstrappings"] if self.bootstraps else []
        return "; ".join(parts)

    def _fewer_keys(self) -> str:
        """What takes fewer, where keys are many."""
        few = 2 * max(self.signature.slots.bit_length() - 1, 1)
        count = len(self.plan.rotations)
        if self._key_bytes() < MANY_BYTES or count <= few:
            return ""
        others = self.plan.needs_relin + self.plan.needs_conjugation
        less = memory.of_keys(self.params, others + few, self.forms)
        return f"; compiled with rotation_keys={few} about {less / 1e6:,.0f} MB, for more key switches"

    def _key_bytes(self) -> float:
        """Bytes of the keys that ``keygen`` makes, in this machine's memory."""
        params, plan = self.params, self.plan
        count = plan.needs_relin + plan.needs_conjugation + len(plan.rotations)
        words = 2 * params.dnum * (len(params.q) + len(params.p)) * 8 << params.log_n
        # What the plan counts beside these, words too, is the encapsulation key.
        return memory.of_keys(params, count, self.forms) + plan.key_bytes - count * words
