"""A compiled kernel: its program managed for parameters, and the roles that run it.

The client holds the secret key: ``keygen``, ``encrypt``, ``decrypt``. The server holds the kernel, the
evaluation keys and ciphertexts: ``evaluate``. ``run`` plays both in one process.
"""

from ringmill.compiled.choose import compile_traced
from ringmill.compiled.kernel import Compiled
from ringmill.compiled.managed import estimated

__all__ = ["Compiled", "compile_traced", "estimated"]
