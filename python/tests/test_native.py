"""The native module is what its stub says, and imports fast and lean."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import ringmill
from ringmill import _native

STUB = ast.parse((Path(ringmill.__file__).parent / "_native.pyi").read_text(encoding="utf-8"))


def _declared() -> dict[str, dict[str, str]]:
    """Class → member → 'property', 'static' or 'method', as the stub has it."""
    out: dict[str, dict[str, str]] = {}
    for node in STUB.body:
        if isinstance(node, ast.ClassDef):
            members = {}
            for item in node.body:
                if isinstance(item, ast.FunctionDef):
                    marks = {d.id for d in item.decorator_list if isinstance(d, ast.Name)}
                    kind = (
                        "property"
                        if "property" in marks
                        else "static"
                        if "staticmethod" in marks
                        else "method"
                    )
                    members[item.name] = kind
            out[node.name] = members
    return out


def _present(cls: type) -> dict[str, str]:
    out = {}
    for name, member in vars(cls).items():
        if name.startswith("__") and name not in _declared()[cls.__name__]:
            continue
        if type(member).__name__ == "getset_descriptor":
            out[name] = "property"
        else:
            out[name] = "static" if isinstance(member, (staticmethod, classmethod)) else "method"
    return out


def test_stub_lists_every_class() -> None:
    native = {name for name, value in vars(_native).items() if isinstance(value, type)}
    functions = {n.name for n in STUB.body if isinstance(n, ast.FunctionDef)}
    present = {n for n, v in vars(_native).items() if callable(v) and not isinstance(v, type)}
    assert native == set(_declared())
    assert present == functions


@pytest.mark.parametrize("name", sorted(_declared()))
def test_stub_lists_every_member(name: str) -> None:
    declared = _declared()[name]
    assert _present(getattr(_native, name)) == declared


def test_parameters_of_methods_agree() -> None:
    import inspect

    for node in STUB.body:
        if not isinstance(node, ast.ClassDef):
            continue
        for item in node.body:
            if not isinstance(item, ast.FunctionDef) or item.name.startswith("__"):
                continue
            if any(isinstance(d, ast.Name) and d.id == "property" for d in item.decorator_list):
                continue
            signature = inspect.signature(getattr(getattr(_native, node.name), item.name))
            variable = [item.args.kwarg] if item.args.kwarg else []
            said = item.args.args + item.args.kwonlyargs + variable
            arguments = [a.arg for a in said if a.arg != "self"]
            assert arguments == [p for p in signature.parameters if p != "self"], item.name


@pytest.mark.parametrize("name", sorted(_declared()))
def test_every_member_is_documented(name: str) -> None:
    cls = getattr(_native, name)
    assert cls.__doc__
    for member in (m for m in vars(cls) if not m.startswith("_")):
        said = getattr(cls, member).__doc__ or ""
        assert said.strip().endswith((".", "!", ")")), f"{name}.{member}: {said!r}"


def test_evaluators_and_plans_say_what_they_hold() -> None:
    keys = ringmill.keygen(ringmill.Params.from_bits(11, [40, 30], [40], 2, insecure=True), rotations=[1])
    assert repr(keys.evaluator()).startswith('Evaluator(machine "cpu"; relinearisation, 1 Galois keys; '), (
        repr(keys.evaluator())
    )
    assert repr(keys.params) in f"Params({repr(keys.evaluator()).split('memory; ')[1]}"

    plan = ringmill.kernel(lambda x, y: x * y + 1).compile(ringmill.vector(4), ringmill.vector(4)).plan
    assert repr(plan).startswith("Plan(x, y → "), repr(plan)
    assert "on 4 slots, depth 1, levels " in repr(plan)
    assert repr(plan.params)[len("Params(") :] in repr(plan)


IMPORT = """
import sys, time
start = time.perf_counter()
import ringmill
print(sorted(set(m.split('.')[0] for m in sys.modules)))
"""


def test_import_pulls_no_heavy_library() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True)
    loaded = set(ast.literal_eval(done.stdout))
    assert "ringmill" in loaded
    assert not loaded & {
        "matplotlib",
        "rich",
        "sklearn",
        "scipy",
        "pytest",
        "hypothesis",
        "jinja2",
        "doctest",
    }
