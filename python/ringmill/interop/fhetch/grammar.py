"""The lines of a trace: names of operations, what follows them, and bounds on what is read.

The format has no specification of its own; this is what the recorder of niobium-fhetch (2026-07) writes and
its readers take.

    # comment
    modulus_count N
    m[0] 0xFFFFFFFFFFFFFFFF                   the modulus of copies
    m[1] 0x…                                  moduli, ascending
    sr_addp %dst, %a, %b, m=i
    sr_addps %dst, %a, NUMBER, m=i
    sr_ntt %dst, %a, m=i[, omega=ROOT]
    sr_automorph_eval %dst, %a, m=i[, mask=…][, logn=…], k=ELEMENT
    halt

Addresses hold N words each and are written again and again. ``# Ring Dimension: N`` and ``# output NAME %a
…`` are comments with a meaning.
"""

from __future__ import annotations

#: A modulus that stands for "as the operand".
COPY = (1 << 64) - 1

#: Bounds on what is read.
LINES = 1 << 25
LINE_BYTES = 1 << 16
MODULI = 1 << 12
ADDRESS = (1 << 32) - 1

#: Every operation of the format, and why it is not known where it is not.
_COEFFICIENTS = "limb programs move values, not coefficients"
_AMBIGUOUS = "the format says the constant coefficient, and its simulator adds to all of them"
_FLOATING = "numbers that are no residues"
OPERATIONS = {
    **dict.fromkeys(("sr_addp", "sr_subp", "sr_negp", "sr_mulp", "sr_addps", "sr_subps", "sr_mulps"), ""),
    **dict.fromkeys(("sr_ntt", "sr_intt", "sr_automorph_eval", "halt"), ""),
    **dict.fromkeys(("sr_addps_coeff", "sr_subps_coeff"), _AMBIGUOUS),
    "sr_permute": "the trace has no list of places",
    **dict.fromkeys(("sr_automorph_coeff", "sr_rot_automorph_coeff"), _COEFFICIENTS),
    **dict.fromkeys(
        (
            *("sr_addp_ni", "sr_subp_ni", "sr_mulp_ni", "sr_negp_ni"),
            *("sr_addps_ni", "sr_subps_ni", "sr_mulps_ni"),
            *("sr_addps_coeff_ni", "sr_subps_coeff_ni", "sr_ft", "sr_ift"),
        ),
        _FLOATING,
    ),
}

#: The operations that are known, as limb instructions.
KNOWN = {
    "sr_addp": "`add`",
    "sr_subp": "`sub`",
    "sr_negp": "`neg`",
    "sr_mulp": "`mul`",
    "sr_addps": "`add_const`; of coefficients with an input of ones; 0 is a copy",
    "sr_subps": "as `sr_addps`",
    "sr_mulps": "`mul_const`; modulo another prime `lift`, centred or not",
    "sr_ntt": "`ntt`; with `omega` that is the least root",
    "sr_intt": "`intt`; with `omega` that is the least root",
    "sr_automorph_eval": "`automorphism`",
    "halt": "the end",
}

#: By what follows the two addresses: a third one, or a number.
TWO = ("sr_addp", "sr_subp", "sr_mulp")
NUMBER = ("sr_addps", "sr_subps", "sr_mulps")
ROOTED = ("sr_ntt", "sr_intt")
