"""Modules of HEIR's compiler give what NumPy gives, in the clear and encrypted."""

from __future__ import annotations

import builtins
import contextlib
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ringmill as rm
from ringmill.interop import heir
from ringmill.interop.heir import mlir

HEIR_OPT = mlir.heir_opt()
TORCH = "--torch-linalg-to-ckks=unroll-fhe-kernel-loops=true enable-split-preprocessing=false"
LOOPS = "--mlir-to-ckks"
FLAT = "--mlir-to-ckks=unroll-fhe-kernel-loops=true"
#: The largest error of results whose numbers HEIR holds in 32 bits.
CLOSE = 2e-6

pytestmark = pytest.mark.skipif(
    HEIR_OPT is None, reason="the package heir_py has no program for this machine"
)


@cache
def lowered(source: str, *passes: str) -> str:
    """What the compiler writes, in the generic notation."""
    command = [str(HEIR_OPT), *passes, "--mlir-print-op-generic"]
    done = subprocess.run(command, input=source, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def dense(values: Any) -> str:
    return f"dense<{np.asarray(values).tolist()}>"


_RNG = np.random.default_rng(7)
W1, B1 = _RNG.uniform(-0.5, 0.5, (8, 16)).round(3), _RNG.uniform(-0.5, 0.5, 8).round(3)
W2, B2 = _RNG.uniform(-0.5, 0.5, (3, 8)).round(3), _RNG.uniform(-0.5, 0.5, 3).round(3)
X, Y = _RNG.uniform(-1, 1, 16), _RNG.uniform(-1, 1, 16)


@dataclass(frozen=True)
class Case:
    """A function in MLIR, arguments, and what NumPy gives for them."""

    source: str
    arguments: tuple[Any, ...]
    expected: tuple[Any, ...]
    passes: tuple[str, ...] = (TORCH, LOOPS, FLAT)


CASES = {
    "affine": Case(
        f"""func.func @affine(%x: tensor<16xf32> {{secret.secret}}) -> tensor<8xf32> {{
          %W = arith.constant {dense(W1)} : tensor<8x16xf32>
          %b = arith.constant {dense(B1)} : tensor<8xf32>
          %0 = linalg.matvec ins(%W, %x : tensor<8x16xf32>, tensor<16xf32>)
            outs(%b : tensor<8xf32>) -> tensor<8xf32>
          return %0 : tensor<8xf32>
        }}""",
        (X,),
        (W1 @ X + B1,),
    ),
    "squares between layers": Case(
        f"""func.func @layers(%x: tensor<16xf32> {{secret.secret}}) -> tensor<3xf32> {{
          %W1 = arith.constant {dense(W1)} : tensor<8x16xf32>
          %b1 = arith.constant {dense(B1)} : tensor<8xf32>
          %W2 = arith.constant {dense(W2)} : tensor<3x8xf32>
          %b2 = arith.constant {dense(B2)} : tensor<3xf32>
          %0 = linalg.matvec ins(%W1, %x : tensor<8x16xf32>, tensor<16xf32>)
            outs(%b1 : tensor<8xf32>) -> tensor<8xf32>
          %1 = arith.mulf %0, %0 : tensor<8xf32>
          %2 = linalg.matvec ins(%W2, %1 : tensor<3x8xf32>, tensor<8xf32>)
            outs(%b2 : tensor<3xf32>) -> tensor<3xf32>
          return %2 : tensor<3xf32>
        }}""",
        (X,),
        (W2 @ (W1 @ X + B1) ** 2 + B2,),
    ),
    "dot product to a number": Case(
        """func.func @dot(%x: tensor<16xf32> {secret.secret}, %y: tensor<16xf32> {secret.secret}) -> f32 {
          %zero = arith.constant 0.0 : f32
          %0 = affine.for %i = 0 to 16 iter_args(%sum = %zero) -> (f32) {
            %1 = tensor.extract %x[%i] : tensor<16xf32>
            %2 = tensor.extract %y[%i] : tensor<16xf32>
            %3 = arith.mulf %1, %2 : f32
            %4 = arith.addf %sum, %3 : f32
            affine.yield %4 : f32
          }
          return %0 : f32
        }""",
        (X, Y),
        (X @ Y,),
        (TORCH, FLAT),
    ),
    "an argument in the clear": Case(
        """func.func @weighted(%x: tensor<16xf32> {secret.secret}, %w: tensor<16xf32>) -> tensor<16xf32> {
          %0 = arith.mulf %x, %w : tensor<16xf32>
          %1 = arith.subf %0, %x : tensor<16xf32>
          %2 = arith.negf %1 : tensor<16xf32>
          return %2 : tensor<16xf32>
        }""",
        (X, Y),
        (X - X * Y,),
    ),
    "two results": Case(
        """func.func @two(%x: tensor<16xf32> {secret.secret}, %y: tensor<16xf32> {secret.secret})
            -> (tensor<16xf32>, tensor<16xf32>) {
          %0 = arith.mulf %x, %y : tensor<16xf32>
          %1 = arith.subf %x, %y : tensor<16xf32>
          return %0, %1 : tensor<16xf32>, tensor<16xf32>
        }""",
        (X, Y),
        (X * Y, X - Y),
    ),
}


def close(found: Any, expected: tuple[Any, ...]) -> None:
    for one, other in zip(found if isinstance(found, tuple) else (found,), expected, strict=True):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, atol=CLOSE)


def encrypted(program: heir.Program, arguments: tuple[Any, ...], **options: Any) -> Any:
    packed = program.pack(*arguments)
    clear = {a.name: packed.pop(a.name) for a in program.arguments if not a.encrypted}
    compiled = program.compile(**clear, **options)
    return program.unpack(compiled.run(compiled.keygen(), **packed))


@pytest.mark.parametrize(("name", "passes"), [(name, p) for name, case in CASES.items() for p in case.passes])
def test_a_module_gives_what_numpy_gives(name: str, passes: str) -> None:
    case = CASES[name]
    program = heir.load(lowered(case.source, passes))
    close(program(*case.arguments), case.expected)
    close(encrypted(program, case.arguments), case.expected)


def test_the_planner_takes_smaller_parameters_and_faithful_keeps_those_of_the_module() -> None:
    case = CASES["dot product to a number"]
    program = heir.load(lowered(case.source, TORCH))
    assert program.compile().params.log_n < program.scheme.log_n
    kept = program.compile(faithful=True).params
    assert (kept.log_n, kept.q) == (program.scheme.log_n, program.scheme.q)
    close(encrypted(program, case.arguments, faithful=True), case.expected)


def test_a_function_by_approximation_is_the_polynomial_that_heir_chose() -> None:
    source = """func.func @positive(%x: tensor<16xf32> {secret.secret}) -> tensor<16xf32> {
      %zero = arith.constant dense<0.0> : tensor<16xf32>
      %0 = arith.maximumf %x, %zero
        {domain_lower = -1.0 : f64, domain_upper = 1.0 : f64, degree = 5 : i32} : tensor<16xf32>
      return %0 : tensor<16xf32>
    }"""
    program = heir.load(lowered(source, LOOPS))
    clear = program(X)
    assert np.abs(clear - np.maximum(X, 0)).max() < 0.05
    np.testing.assert_allclose(encrypted(program, (X,)), clear, atol=CLOSE)


@st.composite
def straight_line(draw: st.DrawFn) -> tuple[str, Callable[[Any, Any], Any]]:
    """A program of sums, differences, products and negations, with at most two products in a row."""
    lines, values = [], [("%x", 0, lambda x, y: x), ("%y", 0, lambda x, y: y)]
    for i in range(draw(st.integers(1, 6))):
        one, two = draw(st.sampled_from(values)), draw(st.sampled_from(values))
        operation = draw(st.sampled_from(("addf", "subf", "mulf", "negf")))
        depth = max(one[1], two[1] if operation != "negf" else 0) + (operation == "mulf")
        if depth > 2:
            operation, depth = "addf", max(one[1], two[1])
        operands = one[0] if operation == "negf" else f"{one[0]}, {two[0]}"
        lines.append(f"  %{i} = arith.{operation} {operands} : tensor<8xf32>")
        python = {
            "addf": lambda x, y, a=one[2], b=two[2]: a(x, y) + b(x, y),
            "subf": lambda x, y, a=one[2], b=two[2]: a(x, y) - b(x, y),
            "mulf": lambda x, y, a=one[2], b=two[2]: a(x, y) * b(x, y),
            "negf": lambda x, y, a=one[2], b=two[2]: -a(x, y),
        }[operation]
        values.append((f"%{i}", depth, python))
    last = values[-1]
    body = "\n".join(lines)
    return (
        "func.func @f(%x: tensor<8xf32> {secret.secret}, %y: tensor<8xf32> {secret.secret})"
        " -> tensor<8xf32> {\n"
        f"{body}\n  return {last[0]} : tensor<8xf32>\n}}",
        last[2],
    )


@settings(max_examples=12, deadline=None, derandomize=True)
@given(straight_line())
def test_random_programs_give_what_numpy_gives(made: tuple[str, Callable[[Any, Any], Any]]) -> None:
    source, python = made
    x, y = X[:8] / 2, Y[:8] / 2
    found = heir.load(lowered(source, FLAT))(x, y)
    np.testing.assert_allclose(found, python(x, y), atol=CLOSE)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from(("cut", "lost", "number")))
def test_damaged_modules_are_refused_or_read(where: int, other: int, how: str) -> None:
    text = lowered(CASES["two results"].source, LOOPS)
    lines = text.split("\n")
    if how == "cut":
        text = text[: where % len(text)] + "\n"
    elif how == "lost":
        del lines[where % len(lines)]
        text = "\n".join(lines)
    else:
        numbers = list(re.finditer(r"\d+", text))
        chosen = numbers[where % len(numbers)]
        text = text[: chosen.start()] + str(other) + text[chosen.end() :]
    with contextlib.suppress(rm.RingmillError):
        heir.load(text)(X, Y)


def test_operations_that_are_not_known_are_all_named() -> None:
    source = """func.func @f(%x: i16 {secret.secret}, %y: i16 {secret.secret}) -> i16 {
      %0 = arith.muli %x, %y : i16
      return %0 : i16
    }"""
    text = lowered(source, "--mlir-to-bgv")
    with pytest.raises(rm.RingmillError, match=r"no CKKS parameters|bgv\."):
        heir.load(text)
    changed = lowered(CASES["affine"].source, TORCH).replace('"ckks.rotate"', '"ckks.turn"')
    with pytest.raises(rm.ProgramError, match=r"ckks\.turn \(\d+ times\)") as caught:
        heir.load(changed.replace('"ckks.rescale"', '"ckks.shrink"'))
    assert set(caught.value.fields["operations"]) == {"ckks.turn", "ckks.shrink"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X,), "takes 2 arguments, and 1"),
        ((X, Y, Y), "takes 2 arguments, and 3"),
        ((X, Y[:8]), r"arg1 has the shape \(8,\), and the module takes \(16,\)"),
        ((X, np.full(16, np.nan)), "arg1 has values that are no finite numbers"),
    ],
)
def test_arguments_that_do_not_fit_are_named(arguments: tuple[Any, ...], message: str) -> None:
    program = heir.load(lowered(CASES["two results"].source, LOOPS))
    with pytest.raises(rm.MismatchError, match=message):
        program.pack(*arguments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "nonsense\n", "no MLIR module|heir-opt does not read"),
        (lambda text: text.replace("ckks.schemeParam", "ckks.other"), "no CKKS parameters"),
        (lambda text: text.replace("slot_count", "count"), "how many slots"),
        (lambda text: text.replace('"entry"', '"other"'), "0 functions of the role entry"),
        (
            lambda text: text.replace("lwe.lwe_ciphertext", "lwe.lwe_other"),
            "No argument of .* is a ciphertext",
        ),
    ],
)
def test_texts_that_are_no_program_are_refused(change: Callable[[str], str], message: str) -> None:
    with pytest.raises(rm.RingmillError, match=message):
        heir.load(change(lowered(CASES["two results"].source, TORCH)))


def test_files_and_functions_that_are_missing_are_named(tmp_path: Path) -> None:
    with pytest.raises(rm.FileFormatError, match="cannot be read"):
        heir.load(tmp_path / "none.mlir")
    with pytest.raises(rm.ProgramError, match=r"no function other; it has .*two"):
        heir.load(lowered(CASES["two results"].source, TORCH), "other")


def test_the_notation_of_heir_needs_heir_opt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    command = [str(HEIR_OPT), TORCH]
    source = CASES["two results"].source
    pretty = subprocess.run(command, input=source, text=True, capture_output=True, check=True).stdout
    (tmp_path / "two.mlir").write_text(pretty)
    close(heir.load(tmp_path / "two.mlir")(X, Y), CASES["two results"].expected)
    monkeypatch.setattr(mlir, "heir_opt", lambda: None)
    with pytest.raises(rm.FileFormatError, match="--mlir-print-op-generic"):
        heir.load(tmp_path / "two.mlir")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("xdsl"):
            raise ImportError(name)
        return real(name, *rest, **named)

    text = lowered(CASES["two results"].source, TORCH)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(rm.CommandError, match=r"ringmill\[heir\]"):
        heir.load(text)


class Compiler:
    """What HEIR's pipeline hands to a backend."""

    def run_binary(self, input: str, options: list[str]) -> str:
        return subprocess.run(
            [str(HEIR_OPT), *options], input=input, text=True, capture_output=True, check=True
        ).stdout


def client(source: str, name: str, secret: list[int], **options: Any) -> Any:
    """A function as HEIR's pipeline makes it with the backend."""
    text = lowered(source, "--canonicalize", LOOPS)
    backend = heir.Backend(**options)
    return backend.run_backend("", Compiler(), None, name, ["x", "y"], secret, text, False)


def test_the_backend_has_the_calls_of_heirs_own() -> None:
    function = client(CASES["two results"].source, "two", [0, 1])
    with pytest.raises(rm.MismatchError, match=r"two\.setup\(\)"):
        function.encrypt_x(X)
    close(function(X, Y), CASES["two results"].expected)
    x, y = function.encrypt_x(X), function.encrypt_y(Y)
    close(function.decrypt_result(function.two(x, y)), CASES["two results"].expected)
    with pytest.raises(rm.MismatchError, match="encrypt_x"):
        function.eval(y, x)
    with pytest.raises(rm.MismatchError, match="takes 2 arguments"):
        function(X)
    assert not hasattr(function, "encrypt_z")


def test_the_backend_refuses_arguments_in_the_clear_by_name() -> None:
    with pytest.raises(rm.ProgramError, match="y of weighted"):
        client(CASES["an argument in the clear"].source, "weighted", [0])
