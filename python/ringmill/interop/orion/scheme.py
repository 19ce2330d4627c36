"""Orion's scheme on a recording backend."""

from __future__ import annotations

from typing import Any

from ringmill.errors import CommandError, fail
from ringmill.interop.orion.backend import Backend


def scheme(**options: Any) -> Any:
    """Return what stands for the module `orion`: a scheme of Orion whose backend is Ringmill.

    Its calls are those of Orion: `init_scheme`, `encode`, `encrypt`, `fit`, `compile`. The parameters of the
    configuration say how many slots there are; ring and primes are planned when a result is decrypted.

    Args:
        **options: of `Kernel.compile`, such as `precision` and `magnitude`.

    Raises
    ------
    CommandError
        The packages orion-fhe and torch are not installed.
    """
    try:
        from orion.core.orion import Scheme
        from orion.nn.module import Module
    except ImportError as error:
        fail(
            CommandError,
            "NoOrion",
            f"Orion is not installed: {error}. `pip install 'ringmill[orion]'`, on CPython up to 3.12.",
        )

    class Recorded(Scheme):  # type: ignore[misc]
        """Orion's scheme, recorded."""

        def setup_backend(self, params: Any) -> Backend:
            """Return the backend, whatever library the configuration names."""
            return Backend(params, **options)

        def fit(self, net: Any, input_data: Any, batch_size: int = 128) -> None:
            """Find the ranges of layers and fit activations; ranges bound what layers give."""
            super().fit(net, input_data, batch_size)
            for module in net.modules():
                if isinstance(module, Module) and not hasattr(module, "_ringmill_bound"):
                    module._ringmill_bound = module.register_forward_hook(self._bounded)

        def _bounded(self, module: Any, _: Any, result: Any) -> None:
            reach = [getattr(module, name, None) for name in ("output_min", "output_max")]
            if module.he_mode and None not in reach and hasattr(result, "ids"):
                largest = max(abs(float(end)) for end in reach)  # type: ignore[arg-type]
                # As far as Orion's own polynomials reach. Below 1, activations may have been scaled to 1.
                self.backend.within(result.ids, max(largest * float(module.margin), 1.0))

    return Recorded()
