"""The secret key of the encryption engine has no read path: what its port reaches, in yosys's netlist."""

import json
from pathlib import Path

import pytest

from rtl.tools.block import RTL, load, sources
from rtl.tools.cone import Netlist, reached
from rtl.tools.flows import yosys

#: Both builds: with and without the division, expansions and SEAL's samplers.
BUILDS = [
    {"Extra": 0, "Seeded": 1, "Seal": 0},
    {"Extra": 1, "Seeded": 0, "Seal": 1, "SealRounds": 1},
]
SMALL = {"W": 20, "WRest": 18, "Limbs": 2, "Kind": 3, "KindRest": 3, "LogNMax": 6, "LogNMin": 6, "Doubles": 1}
MULTIPLIER = "rm_modmul_montgomery"
#: Whether a whole key of proper codes is there: one bit about it, which the host has to know.
READY = "i_secret.ready_o"
RESULT = {"result_row_o"}
STATUS = {"secret_ready_o"}


def netlist(where: Path, build: dict[str, int], old: str = "", new: str = "") -> Netlist:
    """The engine without its multipliers; with `new` for `old` in the text of its top module."""
    files = []
    for file in sources(load("encryptor"))[0]:
        text = file.read_text("utf-8")
        if old and file.name == "rm_encryptor.sv":
            assert text.count(old) == 1
            text = text.replace(old, new)
        (where / file.name).write_text(text, "utf-8")
        files.append(file.name)
    generics = " ".join(f"-G {name}={value}" for name, value in {**SMALL, **build}.items())
    script = (
        f"read_slang --blackboxed-module {MULTIPLIER} --top rm_encryptor {generics} {' '.join(files)}\n"
        "proc\nflatten\nopt_clean\nmemory_collect\nwrite_json net.json\n"
    )
    yosys(script, where, "cone")
    modules: Netlist = json.loads((where / "net.json").read_text())["modules"]
    return modules["rm_encryptor"]


def multiplier(kind: str) -> bool:
    return MULTIPLIER in kind


@pytest.mark.long
@pytest.mark.parametrize("build", BUILDS, ids=["plain", "divided"])
def test_the_secret_key_reaches_results_through_products_alone(tmp_path, build):
    engine = netlist(tmp_path, build)
    assert any(multiplier(cell["type"]) for cell in engine["cells"].values())
    # With the products: results, and what follows from whether a key is there.
    assert reached(engine, "secret_data_i", cut_nets=[READY]) >= RESULT
    # Without them nothing: neither a row, nor a time, nor a status.
    assert reached(engine, "secret_data_i", multiplier, [READY]) == set()
    # The one bit about the key is seen, and what depends on it: jobs are refused without one.
    assert reached(engine, "secret_data_i", multiplier) >= STATUS


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("assign key_time_o = key_time;", "assign key_time_o = key_time ^ LogRows'(secret_digit);"),
        ("= result_valid_o && last_row;", "= result_valid_o && last_row && !secret_digit[0][0];"),
        ("key_last_q, key_bad}),", "key_last_q, key_bad ^ secret_digit[1][0]}),"),
    ],
    ids=["address", "time", "status"],
)
def test_a_leak_is_seen(tmp_path, old, new):
    engine = netlist(tmp_path, BUILDS[0], old, new)
    assert reached(engine, "secret_data_i", multiplier, [READY])


def test_the_port_of_the_key_is_the_only_one():
    text = (RTL / "encryptor" / "src" / "rm_enc_secret.sv").read_text("utf-8")
    outputs = [
        line.split()[-1].rstrip(",") for line in text.splitlines() if line.strip().startswith("output")
    ]
    assert outputs == ["ready_o", "digit_o"]
