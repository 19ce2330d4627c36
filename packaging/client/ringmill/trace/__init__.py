"""Signatures of kernels: what a client knows of them."""

from ringmill.trace.signature import Signature
from ringmill.trace.spec import Spec

__all__ = ["Signature", "Spec"]
