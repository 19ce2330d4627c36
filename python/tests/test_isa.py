"""RINGMILL_ISA with an invalid name, or of instructions that this CPU lacks: one error in every place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringmill as rm

PARAMS = rm.Params.from_bits(10, [50, 40, 40], [50], 3, scale_bits=40, insecure=True)

# Each verb as it would run, were there such an instruction set.
VERBS = {
    "compile": ["coxhe:a", "--out", "compiled"],
    "keygen": ["--kernel", "kernel", "--out", "new", "--insecure"],
    "encrypt": ["--kernel", "kernel", "--key", "keys/public.key", "--input", "x.json", "--out", "a"],
    "evaluate": [
        "--kernel",
        "kernel",
        "--keys",
        "keys/evaluation.keys",
        "--input",
        "arguments",
        "--out",
        "r",
    ],
    "decrypt": ["--kernel", "kernel", "--key", "keys/secret.key", "--input", "results", "--out", "y.json"],
    "rewrite": ["--kernel", "kernel", "--input", "arguments", "--out", "new"],
    "program": ["kernel", "--out", "program.limb"],
    "inspect": ["keys/evaluation.keys", "--kernel", "kernel"],
    "params": ["--depth", "2"],
    "build": ["design.json", "--out", "core"],
    "validate": ["design.json"],
    "explore": ["coxhe:a", "--device", "zcu102", "--seconds", "0"],
    "devices": [],
    "targets": [],
    "calibrate": ["--out", "costs", "--log-n", "10"],
    "profile": ["--kernel", "kernel", "--runs", "1"],
    "compare": ["taiyi-parameters"],
    "simulate": ["kernel", "--machine", "compact"],
    "machines": [],
    "import": ["seal", "parameters", "context", "--out", "imported"],
    "export": ["seal", "parameters", "context", "--out", "exported"],
    "workload": ["digits"],
    "serve": ["--dir", "data"],
    "remote": ["status"],
}

CLI = """
import contextlib, io, json, sys
from ringmill.cli import main
reported = {}
for verb, rest in json.loads(sys.argv[1]).items():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = main([verb, *rest, "--json", "--quiet"])
    reported[verb] = [status, json.loads(out.getvalue())]
print(json.dumps(reported))
"""

ENTRIES = """
import json, sys
import numpy as np
import ringmill as rm
from ringmill import kernels

params = rm.Params.from_bits(10, [50, 40, 40], [50], 3, scale_bits=40, insecure=True)
compiled = rm.Compiled.load("kernel")
square = rm.kernel(lambda x: x * x)
x = np.linspace(0, 1, 4)
arguments = rm.Values.load("arguments", "arguments", params)
entries = {
    "keygen": lambda: rm.keygen(params),
    "keygen, seeded": lambda: rm.keygen(params, rotations=[1], seeded=True),
    "keygen, forms": lambda: rm.keygen(params, forms=rm.key_forms(params, 1)),
    "public_key": lambda: rm.SecretKey.generate(params).public_key(),
    "Keys.load": lambda: rm.Keys.load(params, "keys"),
    "Keys.load, seeded": lambda: rm.Keys.load(params, "keys", memory="seeded"),
    "load_evaluation_keys": lambda: rm.load_evaluation_keys(params, "keys/evaluation.keys"),
    "load_evaluation_keys, mapped": lambda: rm.load_evaluation_keys(
        params, "keys/evaluation.keys", memory="mapped"
    ).seeded().with_relin(rm.SecretKey.load(params, "keys/secret.key")),
    "encrypt": lambda: rm.PublicKey.from_bytes(params, open("keys/public.key", "rb").read()).encrypt(x),
    "compiled.keygen": lambda: compiled.keygen(insecure=True),
    "compiled.run": lambda: compiled.run(x=x),
    "compiled.executable": lambda: compiled.executable(),
    "compiled.evaluate": lambda: compiled.evaluate(
        rm.load_evaluation_keys(params, "keys/evaluation.keys", memory="mapped"), arguments
    ),
    "kernel.run": lambda: square.run(x=x),
    "Evaluator": lambda: rm.Evaluator(rm.EvaluationKeys(params), "cpu"),
    "explore": lambda: rm.explore(square, "zcu102", rm.vector(4), seconds=1, progress="none"),
}
reported = {}
for name, entry in entries.items():
    try:
        entry()
        reported[name] = ["done", "", ""]
    except Exception as error:
        reported[name] = [type(error).__name__, getattr(error, "code", ""), str(error)]
print(json.dumps(reported))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of a kernel, its keys, arguments and results, made with an instruction set that there is."""
    folder = tmp_path_factory.mktemp("isa")
    compiled = rm.kernel(lambda x: x * x).compile(rm.vector(4), params=PARAMS)
    compiled.save(folder / "kernel")
    keys = compiled.keygen()
    keys.save(folder / "keys")
    arguments = compiled.encrypt(keys, x=np.linspace(0, 1, 4))
    arguments.save(folder / "arguments")
    compiled.evaluate(keys, arguments).save(folder / "results")
    (folder / "x.json").write_text('{"x": [0, 1, 0, 1]}')
    return folder


def reported(folder: Path, isa: str, program: str, *arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env={**os.environ, "RINGMILL_ISA": isa},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))


def missing() -> str | None:
    """An instruction set that this CPU lacks, if there is one."""
    probe = "from ringmill._native import isa; print(isa())"
    for name in ("ifma", "avx512", "avx2", "neon"):
        env = {**os.environ, "RINGMILL_ISA": name}
        if subprocess.run(
            [sys.executable, "-c", probe], env=env, capture_output=True, check=False
        ).returncode:
            return name
    return None


def wrong_names() -> list[tuple[str, str, str]]:
    lacking = missing()
    names = [
        ("nonsense", "UnknownIsa", "RINGMILL_ISA names no instruction set: nonsense; take one of scalar")
    ]
    if lacking:
        names.append((lacking, "IsaUnavailable", f"This CPU does not execute {lacking}; it executes scalar"))
    return names


@pytest.mark.parametrize(("isa", "code", "message"), wrong_names())
def test_every_verb_refuses_it(isa: str, code: str, message: str, folder: Path) -> None:
    from ringmill.cli import _parser

    verbs = next(action.choices for action in _parser()._actions if action.choices)
    assert set(verbs) == set(VERBS), "every verb is here"
    before = sorted(path.name for path in folder.iterdir())
    for verb, (status, outcome) in reported(folder, isa, CLI, json.dumps(VERBS)).items():
        assert status == 1, verb
        assert (outcome["error"], outcome["code"]) == ("MachineError", code), verb
        assert outcome["message"].startswith(message), verb
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(("isa", "code", "message"), wrong_names())
def test_every_entry_of_python_refuses_it(isa: str, code: str, message: str, folder: Path) -> None:
    for name, (error, found, said) in reported(folder, isa, ENTRIES).items():
        assert (error, found) == ("MachineError", code), f"{name}: {error}: {said}"
        assert said.startswith(message), name


def test_names_that_there_are_work(folder: Path) -> None:
    for isa in ("scalar", "emulated4", ""):
        done = reported(folder, isa, ENTRIES.replace('    "explore"', '    # "explore"'))
        assert {outcome[0] for outcome in done.values()} == {"done"}, done
