"""What `make bench` measures: each row's peer, and the ratio that it should reach."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One work against one peer; the bars are ratios peer / ours at the median, one thread."""

    work: str
    peer: str
    bar_avx2: float | None = None
    bar_ifma: float | None = None
    #: Minutes long and gigabytes large: measured in few rounds, and only when it is named.
    heavy: bool = False

    @property
    def set(self) -> str:
        """The parameter set, the ring degree or the bootstrapping that the work is done at."""
        return self.work.partition("/")[2]

    def bar(self, isa: str) -> float | None:
        """Return the ratio to reach on an instruction set, where one is set."""
        return self.bar_ifma if isa == "ifma" else self.bar_avx2


_NTT = [
    row
    for size in ("2^12", "2^14", "2^16")
    for row in (Row(f"ntt/{size}/50", "tfhe-ntt", 3.0, 1.6), Row(f"intt/{size}/50", "tfhe-ntt", 2.8, 1.6))
]

ROWS = [
    *_NTT,
    Row("ntt/2^14/52", "tfhe-ntt"),
    Row("intt/2^14/52", "tfhe-ntt"),
    Row("ntt/2^14/60", "tfhe-ntt", 1.2, 1.3),
    Row("intt/2^14/60", "tfhe-ntt"),
    Row("mul_relin/II", "tenseal"),
    Row("mul_ct_ct/III", "seal", 6, 10),
    Row("relin/III", "seal", 5, 7.5),
    Row("relin/III", "openfhe"),
    Row("rotate/III", "seal", 5, 7.5),
    Row("rotate/III", "openfhe"),
    Row("rescale/III", "seal", 6, 8),
    Row("mul_relin/III", "tenseal"),
    Row("mul_relin/III", "lattigo"),
    Row("mul_relin/III", "desilo"),
    Row("rotate/III", "lattigo"),
    Row("rotate/III", "desilo"),
    Row("encrypt/III", "seal"),
    Row("encrypt/III", "lattigo"),
    Row("keygen/III", "seal"),
    Row("relin/V", "openfhe", 2.8, 4),
    Row("rotate/V", "openfhe"),
    Row("rotate/V", "lattigo"),
    Row("rotate/V", "desilo"),
    Row("rescale/V", "openfhe"),
    Row("encode/V", "seal", 5, 5),
    Row("decode/V", "seal", 10, 12),
    Row("matvec256/IV", "seal", 4, 4),
    Row("relin/V50", "openfhe", 6.5, 7),
    Row("rotate/V50", "openfhe", 6.5, 7),
    # 32 rotations of one ciphertext, which share its decomposition, against as many single ones: their sum,
    # as linear maps take it, which shares the division by P too; and eight whose results are kept.
    Row("hoist32/V50", "single", 2.5, 2.5),
    Row("hoist8kept/V50", "single"),
    # All levels, by the method chosen for each against hybrid key switching with one key.
    Row("keyswitch_mix/V50", "fixed", 1.1, 1.1),
    Row("keyswitch_mix/36x48", "fixed", 1.1, 1.1),
    # One bootstrapping that leaves nine levels, against both level budgets of the peer. Ours is of complex
    # numbers, the peer's of real ones.
    Row("boot/full/2^16", "openfhe-3-3", 5, 7, heavy=True),
    Row("boot/full/2^16", "openfhe-4-4", 5, 7, heavy=True),
    Row("boot/2^8/2^16", "openfhe-3-3", 4, 4, heavy=True),
    Row("boot/2^8/2^16", "openfhe-4-4", 4, 4, heavy=True),
    # Real numbers on both sides, in the peer's faster order; and more levels left, against nine.
    Row("boot/full-real/2^16", "openfhe-3-3-first", heavy=True),
    Row("boot/full-15/2^16", "nine", heavy=True),
]


def selected(wanted: tuple[str, ...]) -> list[Row]:
    """Return the rows whose work begins with one of the words, or all light ones without any."""
    if not wanted:
        return [row for row in ROWS if not row.heavy]
    return [row for row in ROWS if row.work.startswith(wanted)]
