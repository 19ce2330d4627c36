"""Networks in ONNX files on encrypted records: `from_onnx`.

An element of a tensor is a column: one ciphertext for many records. A node that is affine in its encrypted
operand is one matrix, found by evaluating the node itself. Runs of such nodes fold into one sum.
"""

from __future__ import annotations

from ringmill.models.onnx.convert import from_onnx

__all__ = ["from_onnx", "page"]


def page() -> str:
    """Return the table of operators in ``docs/models.md``."""
    from ringmill.models.onnx import ensembles, nodes, trained

    rows = [
        ("affine, folded into one sum", nodes.AFFINE),
        ("functions, as polynomials", nodes.FUNCTIONS),
        ("products", nodes.BOTH - nodes.AFFINE),
        ("on request: `approximate=[…]`", nodes.REQUEST),
        ("of trained models, `ai.onnx.ml`", ensembles.SERVER | trained.REWRITTEN),
        ("known from shapes", nodes.SHAPES),
        ("at the end of a model, by the client", nodes.CLIENT | nodes.JUMPS),
        ("after these, by the client too", nodes.FOLLOW),
    ]
    lines = [f"| {how} | {', '.join(f'`{op}`' for op in sorted(operators))} |" for how, operators in rows]
    return "\n".join(["| how | operators |", "|---|---|", *lines, ""])
