"""From a kernel, a device and constraints to parameters and a core.

>>> import ringmill as rm
>>> @rm.kernel
... def mean_square(x=rm.vector(64)):
...     return (x * x).sum() * (1 / 64)
>>> narrow = {"log_n": [12], "butterflies": [8, 16], "words": [36], "buses": [512]}
>>> found = rm.explore(mean_square, "zcu104", max_error=1e-3, space=narrow, seconds=0, progress="none")
>>> found.best["predicted"]["error"]["value"] <= 1e-3, found.best_proven
(True, True)
"""

from ringmill.explorer.constraints import Constraints
from ringmill.explorer.kinds import Compared, compare
from ringmill.explorer.large import Large, accelerators
from ringmill.explorer.result import Exploration
from ringmill.explorer.run import devices, explore, variants
from ringmill.explorer.sweep import on_ray, sweep
from ringmill.targets import machine_fields, targets

__all__ = [
    "Compared",
    "Constraints",
    "Exploration",
    "Large",
    "accelerators",
    "compare",
    "devices",
    "explore",
    "machine_fields",
    "on_ray",
    "sweep",
    "targets",
    "variants",
]
