"""The time of samplers depends on what they refuse, and on nothing else of their bits: in yosys's netlist.

What a seed, or a block of a generator, reaches is followed over registers. Cut are the bits that say that
something is refused: a byte, a word of 0, a sample that needs more bits. Then samples alone are reached, at
any length.
"""

import json
from pathlib import Path

import pytest

from rtl.tools.block import load, sources
from rtl.tools.cone import Netlist, reached
from rtl.tools.flows import yosys

#: What a sampler writes; every other output says when, and where.
SAMPLES = {"trit_data_o", "gauss_data_o"}
#: Of the engine's sampler: bytes that are kept; samples that need more bits, and when they have them.
SECRET = ["i_trits.keep", "tie", "tie_done"]
#: Of SEAL's: words of 0.
SEAL = ["zero"]


def netlist(where: Path, top: str, params: dict[str, int], old: str = "", new: str = "") -> Netlist:
    """A sampler; with `new` for `old` in the text of its draws."""
    files = []
    for file in sources(load("sampler"))[0]:
        text = file.read_text("utf-8")
        if old and file.stem in ("rm_secret_draw", "rm_seal_draw") and old in text:
            assert text.count(old) == 1
            text = text.replace(old, new)
        (where / file.name).write_text(text, "utf-8")
        files.append(file.name)
    generics = " ".join(f"-G {name}={value}" for name, value in params.items())
    script = (
        f"read_slang --top {top} {generics} {' '.join(files)}\n"
        "proc\nflatten\nopt_clean\nmemory_collect\nwrite_json net.json\n"
    )
    yosys(script, where, "cone")
    modules: Netlist = json.loads((where / "net.json").read_text())["modules"]
    return modules[top]


@pytest.mark.parametrize(
    ("top", "refused"), [("rm_secret_draw", SECRET), ("rm_seal_draw", SEAL)], ids=["engine", "seal"]
)
def test_the_time_of_draws_depends_on_refusals_alone(tmp_path, top, refused):
    sampler = netlist(tmp_path, top, {"LogNMax": 14})
    assert reached(sampler, "block_i", cut_nets=refused) == SAMPLES
    # The cut is what holds it: refusals have a time.
    for name in refused[:2]:
        others = [other for other in refused if other != name]
        assert reached(sampler, "block_i", cut_nets=others) > SAMPLES


@pytest.mark.parametrize(
    ("top", "params", "refused"),
    [
        ("rm_secret_sampler", {"LogNMax": 14, "Doubles": 1}, [f"i_draw.{name}" for name in SECRET]),
        ("rm_seal_sampler", {"LogNMax": 14, "Rounds": 1}, [f"i_draw.{name}" for name in SEAL]),
    ],
    ids=["engine", "seal"],
)
def test_nothing_but_samples_follows_from_a_seed(tmp_path, top, params, refused):
    assert reached(netlist(tmp_path, top, params), "seed_i", cut_nets=refused) == SAMPLES


@pytest.mark.parametrize(
    ("top", "old", "new", "refused"),
    [
        (
            "rm_secret_draw",
            "gauss_we_o   = write ? '1 : '0;",
            "gauss_we_o   = write ? ~negative : '0;",
            SECRET,
        ),
        (
            "rm_seal_draw",
            "assign gauss_we_o   = valid_q[Latency-1] ? '1 : '0;",
            "assign gauss_we_o   = valid_q[Latency-1] ? {8{sample_q[0] != '0}} : '0;",
            SEAL,
        ),
    ],
    ids=["engine", "seal"],
)
def test_a_time_that_follows_a_sample_is_seen(tmp_path, top, old, new, refused):
    assert reached(netlist(tmp_path, top, {"LogNMax": 14}, old, new), "block_i", cut_nets=refused) > SAMPLES
