"""Published designs beside ours: each figure of a paper with the one that a model or a measurement gives.

The figures of a paper stand in a data file beside the module (``paper``); ours have their origin with them.
``casa`` is Tables 2 to 6 of CASA: ours come from the cycle model, which equals the RTL, and from stored
synthesis results. ``coxhe`` is Tables I and III of coxHE and ``coxhe_figures`` its Fig. 4 and 5: ours are
designs explored for the same boards. ``taiyi`` is Taiyi's choice of parameters: ours are counts of the exact
algorithms.
"""

from __future__ import annotations
