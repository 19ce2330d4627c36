"""Published designs beside ours: each figure of a paper with the one that a model or a measurement gives.

``casa`` is Tables 2 to 6 of CASA. The figures of a paper stand in a data file beside the module, ours come
from the cycle model (which equals the RTL) and from stored synthesis results, each with its origin.
``taiyi`` is Taiyi's choice of parameters: ours are counts of the exact algorithms.
"""

from __future__ import annotations
