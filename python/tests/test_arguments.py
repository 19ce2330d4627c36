"""Public calls refuse arguments of wrong types by errors of Ringmill's own, which say what would be right.

The public surface is walked by introspection: every argument of every call gets every value of ``WRONG``
once, beside right values of the others. A new function is covered as it is; where it takes an argument of a
new name, ``RIGHT`` lacks a value for it, and the test says so.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from misuse_world import NARROW, kernel, kernel_keys, keys
from networks import network

import ringmill as rm
from ringmill import _native
from ringmill.explorer.constraints import Constraints
from ringmill.switching import costs_of
from ringmill.trace.function import OPTIONS
from ringmill.trace.graph import Graph
from ringmill.trace.where import MoreSlotsError


class Nothing:
    """What no function has a use for."""


WRONG: list[Any] = [
    None,
    True,
    -1,
    10**30,
    2.5,
    float("nan"),
    "no such thing",
    "no\0path",
    b"bytes",
    [],
    [1, 2.5],
    ["a"],
    {"a": Nothing()},
    Nothing(),
    np.array(["a"]),
    rm.Params,
]

#: Made by other calls, or read and not called: their own calls are the package's.
INSIDE = {"Approximation", "Signature", "Spec", "Traced"}
#: Of these the calls are public, but not the constructor.
MADE = {"Ciphertext", "Client", "Compiled", "Values"}
#: Calls of the package's own.
OWN = {
    "rm.Compiled.check_names",
    "rm.Compiled.with_private",
    "rm.Plan.choose",
    "rm.Plan.with_params",
    "rm.Plan.clear",
    "rm.Plan.estimate",
    "rm.Plan.traffic",
    "rm.Plan.lowered",
}


@cache
def _fitted() -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression().fit([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0.0, 1.0, 2.0])


@cache
def _vector() -> rm.Ciphertext:
    return rm.encrypt([0.5, 0.25, -0.5, 1.0], keys())


@cache
def _arguments() -> rm.Values:
    return kernel().encrypt(kernel_keys(), x=[0.5, 0.25, -0.5, 1.0])


@cache
def _results() -> rm.Values:
    return kernel().evaluate(kernel_keys(), _arguments())


@rm.kernel
def _square(x: Any) -> Any:
    return x * x


def _symbol(*shape: int) -> Any:
    spec = rm.Spec(shape)
    return spec.symbols(Graph(spec.slots_needed, None), "x")


#: Refused as called here: without arguments of a kernel, files, or levels and keys that take longer.
NEEDS_MORE = {
    "rm.Ciphertext.bootstrap",
    "rm.Ciphertext.conj",
    "rm.Ciphertext.mean",
    "rm.Ciphertext.sum",
    "rm.Client.load",
    "rm.Compiled.load",
    "rm.EvaluationKeys.load",
    "rm.EvaluationKeys.with_form_bytes",
    "rm.Evaluator.bootstrap",
    "rm.Evaluator.conjugate",
    "rm.Evaluator.lookup",
    "rm.Kernel.compile",
    "rm.Kernel.trace",
    "rm.Keys.load",
    "rm.Params.load",
    "rm.PublicKey.load",
    "rm.SecretKey.load",
    "native.load",
    "rm.Values.load",
    "rm.bootstrap_keys",
    "rm.load_client",
    "rm.load_evaluation_keys",
}

#: What methods are called on.
SUBJECTS: dict[str, Callable[[], Any]] = {
    "Ciphertext": _vector,
    "Client": lambda: kernel().client(),
    "Compiled": kernel,
    "EvaluationKeys": lambda: keys().evaluation,
    "Evaluator": lambda: keys().evaluator(),
    "Kernel": lambda: _square,
    "Keys": keys,
    "MachineSpec": lambda: rm.MachineSpec("compact"),
    "Params": lambda: keys().params,
    "Plan": lambda: kernel().plan,
    "PublicKey": lambda: keys().public,
    "SecretKey": lambda: keys().secret,
    "Stop": rm.Stop,
    "Values": _arguments,
    "native": lambda: _vector().native,
}

#: A right value of every argument that must be given: by its name, or by call and name where that means
#: something else, or where an argument that may be left out had better not be.
RIGHT: dict[str, Callable[[], Any]] = {
    "a": lambda: _vector().native,
    "b": lambda: _vector().native,
    "bound": lambda: 2.0,
    "c": lambda: 0.5,
    "cipher": _vector,
    "coefficients": lambda: [0.0, 1.0, 1.0],
    "columns": lambda: 4,
    "count": lambda: 1,
    "decrypted": lambda: np.zeros(4),
    "depth": lambda: 1,
    "dnum": lambda: 4,
    "entries": lambda: [0.0, 1.0],
    "error_log2": lambda: -8.0,
    "evaluation": lambda: keys().evaluation,
    "expected": lambda: np.zeros(4),
    "folder": lambda: "keys",
    "first": lambda: 0,
    "forms": lambda: [],
    "function": lambda: lambda x: x,
    "k": lambda: 1,
    "key": lambda: kernel_keys().public,
    "keys": keys,
    "kernel": lambda: np.ones((2, 2)),
    "length": lambda: 4,
    "level": lambda: 1,
    "log_n": lambda: 12,
    "method": lambda: "klss",
    "name": lambda: "III",
    "other": lambda: keys().public,
    "p": lambda: keys().params.p,
    "p_bits": lambda: [50],
    "params": lambda: keys().params,
    "path": lambda: "file",
    "public": lambda: keys().public,
    "q": lambda: keys().params.q,
    "q_bits": lambda: [50, 40, 40, 40],
    "real": lambda: True,
    "role": lambda: "arguments",
    "rows": lambda: 4,
    "scale_bits": lambda: 40,
    "secret": lambda: keys().secret,
    "size": lambda: 2,
    "slots": lambda: 4,
    "steps": lambda: 1,
    "table": lambda: [0.0, 1.0],
    "title": lambda: "part",
    "values": lambda: [0.5, 0.25],
    "x": lambda: _symbol(4, 4),
    "axis": lambda: 0,
    "rm.Ciphertext.from_bytes.data": lambda: _vector().to_bytes(),
    "rm.Ciphertext.rotations.steps": lambda: [1],
    "rm.Compiled.decrypt.results": _results,
    "rm.Client.decrypt.results": _results,
    "rm.from_onnx.model": lambda: network(),
    "rm.from_onnx.X": lambda: np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]),
    "rm.from_sklearn.estimator": _fitted,
    "rm.from_sklearn.X": lambda: np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]),
    "rm.Plan.limb_program.machine": lambda: "compact",
    "rm.Plan.limb_program.switching": lambda: "hybrid",
    "rm.Plan.work.costs": lambda: costs_of("cpu"),
    "magnitude": lambda: 4.0,
    "rm.Compiled.rewritten.values": _arguments,
    "rm.Client.rewritten.values": _arguments,
    "rm.Evaluator.multiply_integer.c": lambda: 3,
    "rm.Plan.work.switching": lambda: "hybrid",
    "rm.Compiled.decrypt.secret": kernel_keys,
    "rm.Client.decrypt.secret": kernel_keys,
    "rm.Compiled.encrypt.arguments": lambda: {"x": np.zeros(4)},
    "rm.Client.encrypt.arguments": lambda: {"x": np.zeros(4)},
    "rm.Compiled.evaluate.arguments": _arguments,
    "rm.Compiled.evaluate.keys": kernel_keys,
    "rm.MachineSpec.text": lambda: "cpu",
    "rm.MachineSpec.with_options.options": lambda: {"word": 54},
    "rm.Kernel.run.kwargs": lambda: {"x": [0.5, 0.25]},
    "rm.Compiled.measure_error.expected": lambda: 1.5625,
    "rm.Compiled.measure_error.results": _results,
    "rm.Compiled.measure_error.secret": kernel_keys,
    "rm.Compiled.run.arguments": lambda: {"x": np.zeros(4)},
    "rm.Compiled.run.keys": kernel_keys,
    "rm.Evaluator.keys": lambda: keys().evaluation,
    "rm.Evaluator.rotate_hoisted.steps": lambda: [1],
    "rm.Evaluator.evaluate.inputs": lambda: {"x": _vector().native},
    "rm.Evaluator.evaluate.magnitude": lambda: 1.0,
    "rm.Evaluator.evaluate.text": lambda: _square.trace(rm.vector(4)).text,
    "element": lambda: 0,
    "rm.Client.from_bytes.data": lambda: kernel().client().to_bytes(),
    "after": lambda: 1.0,
    "deviation": lambda: 1.0,
    "noise": lambda: np.zeros(1 << keys().params.log_n, np.int64),
    "publish": lambda: 10,
    "sanitise": lambda: 10,
    "seed": lambda: bytes(32),
    "what": lambda: "a run",
    "rm.Evaluator.lookup.noise": lambda: 0.1,
    "rm.lookup.noise": lambda: 0.1,
    "rm.lookup.x": lambda: np.array([0.0, 1.0]),
    "rm.PublicKey.sanitise.cipher": lambda: _vector().native,
    "rm.Compiled.save.path": lambda: "file",
    "rm.Compiled.from_bytes.data": lambda: kernel().to_bytes(),
    "rm.EvaluationKeys.with_form_bytes.data": lambda: b"",
    "rm.EvaluationKeys.from_bytes.data": lambda: keys().evaluation.to_bytes(),
    "rm.Params.from_bits.insecure": lambda: True,
    "rm.Params.from_primes.insecure": lambda: True,
    "rm.Params.from_bytes.data": lambda: keys().params.to_bytes(),
    "rm.PublicKey.from_bytes.data": lambda: keys().public.to_bytes(),
    "rm.SecretKey.decrypt.cipher": lambda: _vector().native,
    "rm.SecretKey.from_bytes.data": lambda: keys().secret.export_secret(),
    "rm.approximate.function": lambda: np.tanh,
    "rm.approximate.degree": lambda: 3,
    "rm.polynomial.x": lambda: _symbol(4),
    "rm.Values.from_bytes.data": lambda: _arguments().to_bytes(),
    "rm.Values.from_bytes.params": lambda: kernel().params,
    "native.from_bytes.data": lambda: _vector().to_bytes(),
}


def _calls() -> Iterator[tuple[str, Callable[..., Any], inspect.Signature]]:
    for name in rm.__all__:
        value = getattr(rm, name)
        if name in INSIDE or name in rm.errors.__all__ or not callable(value):
            continue
        if not isinstance(value, type):
            yield f"rm.{name}", value, inspect.signature(value)
            continue
        if name not in MADE and not vars(value).keys().isdisjoint(("__new__", "__init__")):
            yield f"rm.{name}", value, inspect.signature(value)
        yield from _methods(f"rm.{name}", value, SUBJECTS.get(name))
    yield from _methods("native", _native.Ciphertext, SUBJECTS["native"])


def _methods(
    owner: str, cls: type, subject: Callable[[], Any] | None
) -> Iterator[tuple[str, Callable[..., Any], inspect.Signature]]:
    for name, member in vars(cls).items():
        if name.startswith("_") or not callable(getattr(cls, name)) or f"{owner}.{name}" in OWN:
            continue
        signature = inspect.signature(getattr(cls, name))
        if isinstance(member, (staticmethod, classmethod)):
            yield f"{owner}.{name}", getattr(cls, name), signature
        else:
            first, *others = signature.parameters.values()
            assert first.name == "self"
            yield f"{owner}.{name}", partial(_on, subject, name), signature.replace(parameters=others)


def _on(subject: Callable[[], Any], name: str, *args: Any, **named: Any) -> Any:
    return getattr(subject(), name)(*args, **named)


CALLS = {name: (call, signature) for name, call, signature in _calls() if name != "rm.explore"}
_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _right(name: str, signature: inspect.Signature) -> dict[str, Any]:
    found = {}
    for p in signature.parameters.values():
        value = RIGHT.get(f"{name}.{p.name}")
        if value is None and p.default is p.empty and p.kind not in _VARIABLE:
            assert p.name in RIGHT, f"RIGHT has no value for the argument {p.name} of {name}"
            value = RIGHT[p.name]
        if value is not None:
            found[p.name] = value()
    return found


def _call(name: str, arguments: dict[str, Any]) -> None:
    call, signature = CALLS[name]
    placed, named = [], {}
    for p in signature.parameters.values():
        if p.name in arguments and p.kind is p.POSITIONAL_ONLY:
            placed.append(arguments[p.name])
        elif p.name in arguments and p.kind is p.VAR_KEYWORD:
            named |= arguments[p.name]
        elif p.name in arguments:
            named[p.name] = arguments[p.name]
    with suppress(MoreSlotsError):  # a kernel is traced again with more
        call(*placed, **named)


def _in_words(what: str, call: Callable[[], Any]) -> None:
    """A call is done, or refused by a sentence of Ringmill's own."""
    try:
        call()
    except Exception as error:
        refused = error
    else:
        return
    assert isinstance(refused, rm.RingmillError), f"{what}: {type(refused).__name__}: {refused}"
    assert str(refused).endswith("."), f"{what}: {refused}"
    assert len(str(refused)) > 20, f"{what}: {refused}"


@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments_are_refused_in_words(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    signature = CALLS[name][1]
    right = _right(name, signature)
    for p in signature.parameters.values():
        for wrong in WRONG if p.kind not in _VARIABLE else ():
            _in_words(f"{name}({p.name}={wrong!r})", partial(_call, name, {**right, p.name: wrong}))


@pytest.mark.parametrize("name", CALLS)
def test_right_arguments_are_taken(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(rm.RingmillError) if name in NEEDS_MORE else nullcontext():
        _call(name, _right(name, CALLS[name][1]))


def test_wrong_arguments_of_explorations_are_refused_in_words() -> None:
    small: dict[str, Any] = {"device": "zcu104", "space": NARROW, "seconds": 0, "progress": "none"}
    for wrong in WRONG:
        _in_words(f"explore {wrong!r}", partial(rm.explore, wrong, **small))
        # Nothing is explored where the kernel is none.
        for name in ("device", "results", *Constraints.__annotations__):
            what = f"{name}={wrong!r}"
            _in_words(what, partial(rm.explore, _square, **{**small, name: wrong}))


@pytest.mark.parametrize("name", dir(rm.machines))
def test_wrong_options_of_machines_are_refused_in_words(name: str) -> None:
    make = getattr(rm.machines, name)
    for wrong in WRONG:
        for option in (*inspect.signature(make).parameters, "lanes"):
            _in_words(f"{name}({option}={wrong!r})", partial(make, **{option: wrong}))


@pytest.mark.parametrize("option", OPTIONS)
def test_wrong_options_of_kernels_are_refused_in_words(option: str) -> None:
    for wrong in WRONG:
        named = {option: wrong}
        _in_words(str(named), partial(_square.compile, rm.vector(4), **named))


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "matmul", "pow"])
def test_wrong_operands_are_refused_in_words(name: str) -> None:
    for wrong in (*WRONG, keys().secret, _arguments()):
        _in_words(f"{name} {wrong!r}", partial(getattr(operator, name), _vector(), wrong))


def test_native_calls_name_the_argument() -> None:
    """PyO3 names it in a note, which becomes part of the message (RingmillError.add_note)."""
    with pytest.raises(rm.MismatchError) as caught:
        rm.Evaluator(keys().evaluation, 5)  # type: ignore[arg-type]
    wanted = 'a machine, as "cpu", "compact:butterflies=8" or rm.machines.compact(butterflies=8)'
    assert str(caught.value) == f"The argument machine is 5; give {wanted}."
    assert caught.value.fields == {"argument": "machine", "expected": wanted, "found": "5"}
    with pytest.raises(rm.MismatchError, match="argument data is of type bytearray; give") as caught:
        rm.SecretKey.from_bytes(keys().params, bytearray(b"secret"))  # type: ignore[arg-type]
    assert "secret" not in str(caught.value)
