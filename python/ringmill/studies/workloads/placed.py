"""A residual network as one program, whose bootstrappings the compiler places.

`resnet.py` cuts the network into programs, each activation with its bootstrapping, so that a run goes on
where it was killed and holds the masks of one layer at a time. In one piece the compiler sees all of it.
"""

from __future__ import annotations

from typing import Any

from ringmill.studies.workloads import resnet
from ringmill.trace import kernel, region
from ringmill.trace.kernel import Kernel
from ringmill.trace.marks import within_everywhere as within


def program(network: resnet.Network, *, marked: bool = False) -> Kernel:
    """The kernel from an image, as `Grid.pack` puts it into all slots, to scores, where `score_slots` says.

    ``marked`` activations ask to be bootstrapped, as in `resnet.py`; others leave it to the compiler.
    """
    steps = list(resnet.steps(network))

    @kernel
    def network_in_one(x: Any) -> Any:
        values = {"x": x}
        result = x
        for step in steps:
            read = {name: values[source] for name, source in step.reads.items()}
            if step.shared and not marked:
                with region("activation"):
                    result = step.arguments["ramp"](within(read["p"], 1.0))
            else:
                result = step.kernel.function(**read, **step.arguments)
            values[step.writes] = result
        return result

    return network_in_one
