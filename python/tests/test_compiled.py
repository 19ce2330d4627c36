"""Compiled kernels: encrypted runs against NumPy, roles, files, machines."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
import operator
import re
import signal
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ringmill as rm
from ringmill import bundle
from ringmill.compiled import Compiled, compile_traced
from ringmill.kernels import NINE, PaperKernel
from ringmill.values import Values


@rm.kernel
def score(x: Any, w: Any) -> Any:
    """A weighted sum through a small polynomial."""
    with rm.region("sum"):
        z = x @ w
    with rm.region("square"):
        return z * z + 0.5


WEIGHTS = np.array([0.25, -0.5, 0.125, 1.0, 0.0625])


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return score.compile(rm.vector(5), WEIGHTS, precision=16)


@pytest.fixture(scope="module")
def keys(compiled: Compiled) -> rm.Keys:
    return compiled.keygen()


X = np.array([0.5, 0.25, -1.0, 0.75, -0.5])
EXPECTED = (X @ WEIGHTS) ** 2 + 0.5


def test_compile_shows_parameters_program_cost_and_keys(compiled: Compiled) -> None:
    assert compiled.params.security is not None
    assert compiled.plan.depth == 2
    assert "rotations by 1, 2, 4" in compiled.keys_needed
    assert compiled.cost["key_switches"] == 4
    assert compiled.cost["levels"] == 2
    assert compiled.program.startswith("he @score managed slots 8")
    assert compiled.rationale is not None
    assert "depth 2" in repr(compiled)


@rm.kernel
def layer(x: Any, w: Any) -> Any:
    """A dense map, differences of neighbours, and a sum over all elements."""
    y = w @ x
    return y[1:] - y[:-1] + (y * y).sum()


def test_a_program_takes_no_more_rotation_keys_than_are_allowed(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    w, x = rng.uniform(-0.2, 0.2, (32, 32)), rng.uniform(-1, 1, 32)
    every = layer.compile(rm.vector(32), w)
    assert len(every.plan.rotations) > 6
    rotations = [every.cost["rotate"]]
    for most in (6, 3, 1):
        few = layer.compile(rm.vector(32), w, rotation_keys=most)
        assert len(few.plan.rotations) <= most
        # More rotations in a row err more, which may take larger parameters; at the same ones keys shrink.
        same = layer.compile(rm.vector(32), w, rotation_keys=most, params=every.params)
        assert same.cost["key_bytes"] < every.cost["key_bytes"]
        rotations.append(few.cost["rotate"])
        few.save(tmp_path / "layer.rmk")
        server = Compiled.load(tmp_path / "layer.rmk")
        assert (server.plan.rotations, server.program) == (few.plan.rotations, few.program)
        keys = few.keygen()
        got = few.decrypt(keys, server.evaluate(keys, few.encrypt(keys, x=x)))
        error = np.max(np.abs(got - layer(x, w)))
        assert error < 2.0 ** few.predicted_error["out"] < 2.0**-20
    assert rotations == sorted(rotations)


def test_rotation_keys_that_cannot_be_enough_are_refused() -> None:
    for keys in (-1, True, 2.5, "fast"):
        with pytest.raises(rm.ParameterError, match=r"number of rotation keys is .* from 0 to 65536"):
            layer.compile(rm.vector(4), np.eye(4), rotation_keys=keys)
    with pytest.raises(rm.ProgramError, match="give it 1 or more") as refused:
        layer.compile(rm.vector(4), np.eye(4) + 1, rotation_keys=0)
    assert (refused.value.code, refused.value.most, refused.value.least) == ("RotationKeys", 0, 1)
    square = rm.kernel(lambda x: x * x)
    assert square.compile(rm.vector(4), rotation_keys=0).plan.rotations == []


@pytest.mark.parametrize("machine", ["cpu", "reference"])
def test_run_is_within_the_predicted_error(machine: str, compiled: Compiled, keys: rm.Keys) -> None:
    results = compiled.evaluate(keys, compiled.encrypt(keys, x=X), machine=machine)
    got = compiled.decrypt(keys, results)
    assert got.shape == ()
    assert abs(got - EXPECTED) <= 2.0**results.error_log2 < 2.0**-14


def test_kernels_and_evaluators_share_their_threads(compiled: Compiled, keys: rm.Keys) -> None:
    arguments = compiled.encrypt(keys, x=X)
    compiled.evaluate(keys, arguments, machine="cpu:threads=3")
    alone = _threads()
    others = [compiled.switched("hybrid") for _ in range(4)]
    for other in others:
        other.evaluate(keys, arguments, machine="cpu:threads=3")
    evaluators = [rm.Evaluator(keys.evaluation, rm.machines.cpu(threads=3)) for _ in range(2)]
    assert _threads() <= alone
    del others, evaluators


def test_a_kernel_runs_on_what_it_is_given() -> None:
    """Arrays are encrypted by their shapes, or as a default describes them; the rest is plaintext."""

    @rm.kernel
    def every(m: Any, v: Any, s: Any, n: Any, x: Any = rm.vector(3, packing="scalars"), w: Any = None) -> Any:
        return (m @ v) * s * n + (x * w).sum() if w is not None else (m @ v) * s * n + x.sum()

    rng = np.random.default_rng(3)
    m, v, x, w = (rng.uniform(-1, 1, shape) for shape in ((4, 2), 2, 3, 3))
    s = np.array(0.5)
    traced = []
    real = rm.Kernel.compile
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rm.Kernel, "compile", lambda *a, **o: traced.append(real(*a, **o)) or traced[-1])
        found = every.run(m, list(v), s=s, n=2, x=x, precision=16, machine="reference")
        weighted = every.run(m, v, s, 2, x=x, w=w, precision=16)
    np.testing.assert_allclose(found, m @ v + x.sum(), atol=2**-15)
    np.testing.assert_allclose(weighted, m @ v + (x * w).sum(), atol=2**-15)
    shapes = {"m": rm.matrix(4, 2), "v": rm.vector(2), "s": rm.scalar()}
    for compiled in traced:
        assert compiled.signature.inputs == {**shapes, "x": rm.vector(3, packing="scalars")}
    z = np.array([1j, 0.5 - 0.5j])
    np.testing.assert_allclose(rm.kernel(lambda z: z * z).run(z), z * z, atol=2**-18)


def test_a_compiled_kernel_prints_what_it_needs_and_gives(compiled: Compiled, keys: rm.Keys) -> None:
    first, *lines = str(compiled).splitlines()
    assert first == "kernel score, 8 slots"
    reported = {line.split()[0]: line.split(maxsplit=1)[1] for line in lines}
    assert list(reported) == ["parameters", "depth", "operations", "keys", "error"]
    assert reported["parameters"] == repr(compiled.params)
    assert reported["depth"] == "2 levels"
    assert re.fullmatch(r"(\d+ \w+, )+\d+ \w+; 4 key switches", reported["operations"])
    assert "3 rotate" in reported["operations"]
    size = re.fullmatch(r"relinearisation; rotations by 1, 2, 4; ([\d.]+) MB in memory", reported["keys"])
    assert float(size[1]) == pytest.approx(keys.evaluation.nbytes / 1e6, rel=0.05)
    assert reported["error"].startswith(f"2^{compiled.predicted_error['out']:.1f} in the worst slot")
    formed = score.compile(rm.vector(5), WEIGHTS, params=rm.Params.named("III"), switching="auto 1+1/1")
    size = re.search(r"([\d.,]+) MB in memory", str(formed))
    assert float(size[1]) == pytest.approx(formed.keygen().evaluation.nbytes / 1e6, rel=0.05)
    assert repr(compiled).startswith("<compiled score: 8 slots")


def test_run_in_one_call(compiled: Compiled) -> None:
    assert abs(compiled.run(x=X) - EXPECTED) < 2.0**-14


def test_arguments_may_have_any_name() -> None:
    @rm.kernel()
    def k(self: Any, key: Any, keys: Any, function: Any) -> Any:
        return self + 2 * key + 3 * keys + 4 * function

    specs = {name: rm.vector(4) for name in ("self", "key", "keys", "function")}
    values = dict(zip(specs, np.arange(16).reshape(4, 4) / 16, strict=True))
    wanted = sum((i + 1) * row for i, row in enumerate(values.values()))
    np.testing.assert_allclose(k(**values), wanted)
    assert k.trace(**specs).depth == 0
    compiled = k.compile(**specs)
    np.testing.assert_allclose(compiled.run(**values), wanted, atol=2**-18)
    made = compiled.keygen()
    results = compiled.evaluate(made, compiled.encrypt(made, **values))
    np.testing.assert_allclose(compiled.decrypt(made, results), wanted, atol=2**-18)


def test_same_bits_on_every_machine_and_number_of_threads(compiled: Compiled, keys: rm.Keys) -> None:
    arguments = compiled.encrypt(keys, x=X)
    reference = compiled.evaluate(keys, arguments, machine="reference").to_bytes()
    for threads in (1, 2):
        assert compiled.evaluate(keys, arguments, machine=f"cpu:threads={threads}").to_bytes() == reference
    for butterflies in (None, 1, 4, 16):
        results = compiled.evaluate(keys, arguments, machine=rm.machines.compact(butterflies=butterflies))
        assert results.to_bytes() == reference


@pytest.mark.parametrize("row", NINE, ids=lambda row: row.letter)
def test_table_two_encrypted(row: PaperKernel) -> None:
    compiled = compile_traced(row.trace(), precision=16)
    keys = compiled.keygen()
    arguments = compiled.encrypt(keys, **row.encrypted())
    results = compiled.evaluate(keys, arguments)
    assert compiled.evaluate(keys, arguments, machine="compact").to_bytes() == results.to_bytes()
    got = compiled.decrypt(keys, results)
    expected = row.reference(*row.data())
    assert got.shape == expected.shape
    error = np.max(np.abs(got - expected))
    assert error <= 2.0**results.error_log2
    assert error < 2.0**-12


def test_kernel_files_round_trip(compiled: Compiled, keys: rm.Keys, tmp_path: Path) -> None:
    compiled.save(tmp_path / "k")
    again = Compiled.load(tmp_path / "k")
    assert again.digest == compiled.digest
    assert again.program == compiled.program
    arguments = compiled.encrypt(keys, x=X)
    arguments.save(tmp_path / "a")
    read = Values.load(tmp_path / "a", "arguments", again.params)
    got = again.decrypt(keys, again.evaluate(keys, read))
    assert abs(got - EXPECTED) < 2.0**-14


def test_values_say_how_many_ciphertexts_they_are(compiled: Compiled, keys: rm.Keys) -> None:
    one = compiled.encrypt(keys, x=X)
    error = f"predicted error 2^{one.error_log2:.1f}"
    reported = f"<encrypted arguments of score: 1 ciphertext of 8 slots, level 2, {error}>"
    assert repr(one) == reported
    two = Values("arguments", {**one.parts, "y": one.parts["x"]}, "score", compiled.digest)
    assert repr(two) == reported.replace("1 ciphertext", "2 ciphertexts")
    none = Values("results", {}, "score", compiled.digest)
    assert (repr(none), none.error_log2) == ("<encrypted results of score: no ciphertexts>", -math.inf)


def test_values_of_two_kernels_of_one_name_are_distinguished(compiled: Compiled, keys: rm.Keys) -> None:
    """By what is public: shapes, parameters, bounds. The numbers that a kernel holds do not show."""
    weighed = score.compile(rm.vector(5), WEIGHTS / 2, params=compiled.params)
    assert weighed.digest == compiled.digest
    other = score.compile(rm.vector(5), WEIGHTS, params=compiled.params, magnitude=0.5)
    with pytest.raises(rm.MismatchError) as refused:
        other.evaluate(keys, compiled.encrypt(keys, x=X))
    for digest in (compiled.digest, other.digest):
        assert f"({digest[:8]})" in refused.value.message


SCRIPT = """
def shifted(x, w):
    with rm.region('sum @ "a.py":1'):
        y = x * w
    return y + y.rotate(1)
compiled = rm.kernel(shifted).compile(rm.vector(4), [0.5, 1.0, -0.25, 0.125], precision=16)
"""


def test_client_and_server_compile_from_files_of_their_own() -> None:
    def made(source: str, file: str) -> Compiled:
        found: dict[str, Any] = {"rm": rm}
        exec(compile(source, file, "exec"), found)
        compiled: Compiled = found["compiled"]
        return compiled

    client = made(SCRIPT, "client/clinic.py")
    server = made("\n# the server's copy\n" + SCRIPT, 'srv/a "b"/copy.py')
    assert client.text != server.text
    assert '@ "clinic.py":2' in client.text.split('input "x"')[1].splitlines()[0], "where it is defined"
    assert client.digest == server.digest
    assert server.digest != made(SCRIPT.replace("y + y.rotate(1)", "y * y.rotate(1)"), "clinic.py").digest
    keys = client.keygen()
    x = np.array([0.5, 0.25, -1.0, 0.75])
    results = server.evaluate(keys, client.encrypt(keys, x=x))
    y = x * [0.5, 1.0, -0.25, 0.125]
    np.testing.assert_allclose(client.decrypt(keys, results), y + np.roll(y, -1), rtol=0, atol=2**-16)


def test_files_whose_digest_counts_source_places_are_read(compiled: Compiled, keys: rm.Keys) -> None:
    plan = compiled.plan
    content = f"{compiled.text}\0{compiled.params.fingerprint}\0{plan.magnitude!r} {plan.bound!r}"
    before = hashlib.blake2b(content.encode(), digest_size=16).hexdigest()
    assert before != compiled.digest
    given = bundle.parse(compiled.to_bytes(), "kernel", "f")
    old = bundle.Bundle("kernel", {**given.facts, "program": before}, given.parts)
    again = Compiled.from_bytes(old.to_bytes())
    arguments = compiled.encrypt(keys, x=X)
    arguments = Values("arguments", arguments.parts, arguments.kernel, before)
    np.testing.assert_allclose(again.decrypt(keys, again.evaluate(keys, arguments)), EXPECTED, atol=2**-16)


def test_kernels_and_values_travel_as_bytes(compiled: Compiled, keys: rm.Keys) -> None:
    again = Compiled.from_bytes(compiled.to_bytes())
    assert again.digest == compiled.digest
    arguments = compiled.encrypt(keys, x=X)
    read = Values.from_bytes(arguments.to_bytes(), "arguments", again.params)
    assert read.role == "arguments"
    results = again.evaluate(keys, read)
    assert results.to_bytes() == compiled.evaluate(keys, arguments).to_bytes()
    with pytest.raises(rm.FileFormatError, match="What was given holds arguments, but results"):
        Values.from_bytes(arguments.to_bytes(), "results", again.params)
    with pytest.raises(rm.FileFormatError, match="not a whole Ringmill kernel"):
        Compiled.from_bytes(compiled.to_bytes()[:-30])


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a kernel whose arguments are packed in all ways."""
    path = tmp_path_factory.mktemp("packed") / "kernel"
    by_columns, by_scalars = rm.matrix(4, 3, packing="columns"), rm.vector(3, packing="scalars")
    every = rm.kernel(lambda x, w, v: x @ w + v)
    every.compile(by_columns, by_scalars, rm.vector(4), precision=12).save(path)
    return path


Steps = tuple[str | int, ...]


def entries(tree: Any, at: Steps = ()) -> Iterator[Steps]:
    """The path of everything below a JSON value."""
    if isinstance(tree, (dict, list)):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            yield (*at, key)
            yield from entries(tree[key], (*at, key))


def load_with(packed: Path, changes: Mapping[Steps, Any]) -> None:
    """Load the file with another signature, its digests repaired; 64 MiB hold what that takes."""
    file = bundle.load(packed, "kernel")
    signature: Any = json.loads(file.parts["signature"])
    for (*folder, last), entry in changes.items():
        functools.reduce(operator.getitem, folder, signature)[last] = entry
    parts = {**file.parts, "signature": json.dumps(signature).encode()}
    changed = packed.with_name("changed")
    bundle.Bundle("kernel", file.facts, parts).save(changed)
    tracemalloc.start()
    try:
        Compiled.load(changed)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1 << 26


LONG = "x" * 10**6
TOO_MUCH: list[dict[Steps, Any]] = [
    {("inputs", "x", "shape", 1): 10**12},
    {("inputs", "x", "shape", 1): 2**14},
    {("inputs", "w", "shape", 0): 10**12},
    {("inputs", "x", "packing"): "rows"},
    {("inputs", "w", "shape"): []},
    {("inputs", "v", "shape"): [2**32, 2**32]},
    {("inputs", "v", "shape"): [1] * 10**5},
    {("inputs", LONG): {"shape": [4, 16_000], "packing": "columns", "real": True}},
    {("inputs",): ["x", "w", "v"]},
    # 30,000 · 30,000 elements in slots 0 to 59,998.
    {("slots",): 2**16, ("outputs", "out", "shape"): [30_000] * 2, ("outputs", "out", "strides"): [1, 1]},
    {("outputs", "out", "shape"): [1] * 65, ("outputs", "out", "strides"): [1] * 65},
]


@pytest.mark.parametrize("changes", TOO_MUCH, ids=lambda changes: str(changes)[:60])
def test_a_kernel_file_that_asks_for_too_much_is_refused(changes: dict[Steps, Any], packed: Path) -> None:
    with pytest.raises(rm.FileFormatError, match="the kernel file is damaged") as refused:
        load_with(packed, changes)
    assert refused.value.code == "Damaged"


SIZES = st.one_of(st.integers(), st.floats(), st.sampled_from([0, 2**13, 2**14, 10**7, 10**12, 2**64]))
WORDS = st.sampled_from(["", "slots", "columns", "scalars", "rows", "x.0"])
ANYTHING = st.recursive(
    st.one_of(SIZES, WORDS, st.none(), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=2)),
    max_leaves=6,
)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_kernel_file_is_read_or_refused_whatever_its_signature(packed: Path, data: st.DataObject) -> None:
    every = sorted(entries(json.loads(bundle.load(packed, "kernel").parts["signature"])), key=str)
    with contextlib.suppress(rm.FileFormatError, rm.ProgramError):
        load_with(packed, {data.draw(st.sampled_from(every)): data.draw(ANYTHING)})


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_kernel_file_is_read_or_refused_whatever_its_facts(packed: Path, data: st.DataObject) -> None:
    file = bundle.load(packed, "kernel")
    names = st.sampled_from(sorted({*file.facts, "encryption"} - {"digest"}))
    changed = bundle.Bundle("kernel", {**file.facts, data.draw(names): data.draw(ANYTHING)}, file.parts)
    with contextlib.suppress(rm.FileFormatError, rm.ProgramError):
        Compiled.from_bytes(changed.to_bytes())


@pytest.mark.parametrize("said", [["divided"], {}, 3, None, "open"])
def test_an_encryption_that_there_is_not_is_refused(packed: Path, said: Any) -> None:
    file = bundle.load(packed, "kernel")
    changed = bundle.Bundle("kernel", {**file.facts, "encryption": said}, file.parts)
    with pytest.raises(rm.FileFormatError, match="its encryption is none"):
        Compiled.from_bytes(changed.to_bytes())


def test_a_signature_of_deep_lists_is_refused(packed: Path, tmp_path: Path) -> None:
    file = bundle.load(packed, "kernel")
    parts = {**file.parts, "signature": b"[" * 10**5}
    bundle.Bundle("kernel", file.facts, parts).save(tmp_path / "deep")
    with pytest.raises(rm.FileFormatError, match="its text cannot be read"):
        Compiled.load(tmp_path / "deep")


def test_arguments_from_a_secret_key_take_half_the_bytes(compiled: Compiled, keys: rm.Keys) -> None:
    public = len(compiled.encrypt(keys.public, x=X).to_bytes())
    secret = len(compiled.encrypt(keys.secret, x=X).to_bytes())
    assert secret < 0.53 * public


def _threads() -> int:
    """Threads of this process that run or wait, if the system reports them."""
    tasks = Path("/proc/self/task")
    time.sleep(0.05)  # one that has handed over its result is about to end
    return len(list(tasks.iterdir())) if tasks.exists() else 0


def test_ctrl_c_stops_an_evaluation(compiled: Compiled, keys: rm.Keys) -> None:
    """A signal that arrives while native code computes is raised at once; what comes after works."""
    slow = NINE[4]  # eleven rotations on the plain interpreter
    long = compile_traced(slow.trace(), precision=16)
    its_keys = long.keygen()
    arguments = long.encrypt(its_keys, slow.encrypted())
    executable = long.executable("reference")
    threads = _threads()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def work() -> None:
        while True:
            executable.run(arguments.parts, its_keys.evaluation)

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert _threads() <= threads, "nothing goes on computing"
    assert (
        abs(compiled.decrypt(keys, compiled.evaluate(keys, compiled.encrypt(keys, x=X))) - EXPECTED) < 2**-14
    )


@pytest.mark.parametrize("size", [2, np.int64(2), np.float32(2), np.float64(2)], ids=repr)
def test_a_magnitude_is_any_real_number(size: Any) -> None:
    given = score.compile(rm.vector(5), WEIGHTS, precision=np.int64(16), magnitude=size)
    expected = score.compile(rm.vector(5), WEIGHTS, precision=16, magnitude=2.0)
    assert given.plan.magnitude == 2.0
    assert given.params == expected.params


def test_given_parameters_are_held_to_what_is_asked_for() -> None:
    params = rm.Params.named("III")
    free = score.compile(rm.vector(5), WEIGHTS, params=params)
    most = math.floor(-free.predicted_error["out"])
    held = score.compile(rm.vector(5), WEIGHTS, params=params, precision=most, security=128)
    assert (held.params, held.predicted_error) == (params, free.predicted_error)
    with pytest.raises(rm.ParameterError) as refused:
        score.compile(rm.vector(5), WEIGHTS, params=params, precision=most + 1)
    assert refused.value.predicted == free.predicted_error["out"]
    with pytest.raises(rm.ParameterError, match="192 bits of security are required"):
        score.compile(rm.vector(5), WEIGHTS, params=params, security=192)
    secure = rm.Params.by_need(depth=2, security=192)
    assert score.compile(rm.vector(5), WEIGHTS, params=secure, security=192).params == secure


def test_several_results_by_name() -> None:
    both = rm.kernel(lambda x: {"double": x * 2, "square": x * x}).compile(rm.vector(4), precision=14)
    got = both.run(x=np.array([0.1, 0.2, 0.3, 0.4]))
    np.testing.assert_allclose(got["double"], [0.2, 0.4, 0.6, 0.8], atol=1e-4)
    np.testing.assert_allclose(got["square"], [0.01, 0.04, 0.09, 0.16], atol=1e-4)


def test_errors_of_results_are_compared_with_their_prediction() -> None:
    """A scalar in every slot, a vector in three of four, a matrix by columns; whatever stands beside them."""
    kernel = rm.kernel(lambda x, m: {"sum": (x * x).sum(), "square": x * x + 1, "columns": m * 0.5})
    compiled = kernel.compile(rm.vector(3), rm.matrix(3, 2, packing="columns"), precision=14)
    keys = compiled.keygen()
    x, m = np.array([0.25, -0.5, 1.0]), np.array([[0.5, -1.0], [0.25, 0.75], [-0.5, 0.125]])
    results = compiled.evaluate(keys, compiled.encrypt(keys, x=x, m=m))
    expected = {"sum": (x * x).sum(), "square": x * x + 1, "columns": m * 0.5}
    reported = compiled.measure_error(keys, results, expected)
    assert set(reported) == set(compiled.predicted_error) == {"sum", "square", "columns.0", "columns.1"}
    places = {"square": expected["square"], "columns.0": m[:, 0] / 2, "columns.1": m[:, 1] / 2}
    for name, values in places.items():
        errors = np.abs(keys.secret.decrypt(results.parts[name])[:3].real - values)
        assert reported[name].slot == np.argmax(errors)
        assert reported[name].measured_log2 == pytest.approx(np.log2(errors.max()))
    for name, comparison in reported.items():
        assert comparison.holds
        assert comparison.predicted_log2 == compiled.predicted_error[name]
        assert results.parts[name].error_log2 == pytest.approx(-14, abs=1e-6)
    wrong = m * 0.5 + np.array([[0, 0], [0, 0.25], [0, 0]])
    reported = compiled.measure_error(keys.secret, results, {**expected, "columns": wrong})
    assert [name for name, comparison in reported.items() if not comparison.holds] == ["columns.1"]
    assert (reported["columns.1"].slot, round(reported["columns.1"].measured_log2, 3)) == (1, -2)


def test_every_level_of_a_chain_serves_where_bounds_leave_margin(tmp_path: Path) -> None:
    # Two primes of one width: after the rescale the modulus is no wider than the scale.
    params = rm.Params.from_bits(11, [40, 40], [40], 2, insecure=True)
    scaled = rm.kernel(lambda x: x * np.array([0.5, -0.25, 0.125, 0.75]))
    compiled = scaled.compile(rm.vector(4), params=params, magnitude=0.25)
    assert compiled.plan.output_level == 0
    x = np.array([0.25, -0.25, 0.125, 0.2])
    got = compiled.run(x=x)
    assert np.max(np.abs(got - x * [0.5, -0.25, 0.125, 0.75])) < 2.0 ** compiled.predicted_error["out"]
    compiled.save(tmp_path / "kernel")
    again = Compiled.load(tmp_path / "kernel")
    assert again.program == compiled.program
    # Larger values would wrap around.
    with pytest.raises(rm.ProgramError, match="1 more level"):
        scaled.compile(rm.vector(4), params=params, magnitude=1.0)


UNNEEDED: list[tuple[Callable[[Any, Any], Any], list[str]]] = [
    (lambda x, y: (x @ np.array([0.5, 0.0, 1.0, 0.125])) ** 2, ["x.0", "x.2", "x.3"]),
    (lambda x, y: x[:, 1:3] * 2, ["x.1", "x.2"]),
    (lambda x, y: y * 2, ["y"]),
]


@pytest.mark.parametrize(("function", "needed"), UNNEEDED, ids=["weight 0", "slice", "argument"])
def test_what_no_result_needs_is_asked_for_and_not_sent(
    function: Callable[[Any, Any], Any], needed: list[str], tmp_path: Path
) -> None:
    kernel = rm.kernel(function)
    x, y = np.arange(16).reshape(4, 4) / 16, np.array([0.5, 0.25, -0.5, 1.0])
    compiled = kernel.compile(rm.matrix(4, 4, packing="columns"), rm.vector(4), precision=14)
    compiled.save(tmp_path / "kernel")
    again = Compiled.load(tmp_path / "kernel")
    keys = again.keygen()
    arguments = again.encrypt(keys, x=x, y=y)
    assert list(arguments.parts) == needed
    np.testing.assert_allclose(again.decrypt(keys, again.evaluate(keys, arguments)), kernel(x, y), atol=1e-3)
    np.testing.assert_allclose(compiled.run(x=x, y=y), kernel(x, y), atol=1e-3)
    with pytest.raises(rm.ProgramError, match="misses y"):
        compiled.encrypt(keys, x=x)
    with pytest.raises(rm.MismatchError, match=f"miss {', '.join(needed)}"):
        compiled.evaluate(keys, Values("arguments", {}, compiled.name, compiled.digest))


@pytest.mark.parametrize("precision", [4, 9])
def test_a_deep_kernel_of_low_precision_takes_a_wider_scale(precision: int) -> None:
    """Primes of 20 bits are too few for six levels in a ring that is large enough."""
    compiled = rm.kernel(lambda x: x**64).compile(rm.vector(4), precision=precision)
    assert compiled.params.log_n <= 14
    assert max(compiled.predicted_error.values()) <= -precision


def test_numbers_of_size_one_are_no_larger_than_one() -> None:
    """Sizes of complex numbers are rounded roots, an ulp above one for some; a billionth is refused."""
    z = np.exp(2j * np.pi * np.arange(64) * 1.234 / 64)
    assert np.abs(z).max() > 1
    compiled = rm.kernel(lambda x: x * 2).compile(rm.vector(64, dtype=complex), precision=12)
    np.testing.assert_allclose(compiled.run(x=z), 2 * z, atol=2.0**-12)
    with pytest.raises(
        rm.EncodingError, match=r"has size 1\.00000000\d+, but the kernel was compiled for values up to 1"
    ):
        compiled.run(x=z * (1 + 1e-9))
