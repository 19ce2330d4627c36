"""Machines as values: texts and functions that mean the same, and options in their old places."""

from __future__ import annotations

import copy
import inspect
import itertools
import json
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill.cli import main
from ringmill.compiled import Compiled
from ringmill.project import Core

X = np.array([0.5, -0.25, 1.0, 0.125])


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return rm.kernel(lambda x: x * x).compile(
        rm.vector(4), params=rm.Params.from_bits(10, [40, 30], [40], 2, insecure=True)
    )


@pytest.fixture(scope="module")
def keys(compiled: Compiled) -> rm.Keys:
    return compiled.keygen()


def test_a_value_and_its_text_are_the_same_machine() -> None:
    value = rm.machines.compact(butterflies=8, word=54)
    assert value == rm.MachineSpec("compact: butterflies=8, word=54") != rm.machines.compact()
    assert (value.name, value.options) == ("compact", {"word": 54, "butterflies": 8})
    assert str(value) == "compact:word=54,butterflies=8"
    assert eval(repr(value), {"MachineSpec": rm.MachineSpec}) == value
    assert len({value, rm.MachineSpec(str(value)), copy.copy(value), pickle.loads(pickle.dumps(value))}) == 1
    assert value.with_options(word=60, butterflies=None) == rm.machines.compact(butterflies=8, word=60)
    assert rm.machines.cpu(threads=np.int64(3)) == rm.MachineSpec("cpu:threads=3")


def test_paths_with_any_characters_come_back(tmp_path: Any) -> None:
    for path in (tmp_path / 'a, "b" = \\c.so', "x y", '"', "\\", "=,", "ä"):
        spec = rm.machines.verilator(library=path)
        assert rm.MachineSpec(str(spec)).options == {"library": str(path)}
        assert spec.to_build is None
    assert rm.machines.verilator().to_build == "library"
    assert rm.machines.compact().to_build is None


def test_there_is_a_function_for_each_machine_that_says_its_options(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert {"cpu", "reference", "compact", "verilator"} <= set(dir(rm.machines))
    assert main(["machines", "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)["machines"]
    assert sorted(machine["name"] for machine in reported) == dir(rm.machines)
    assert main(["machines"]) == 0
    lines = capsys.readouterr().out
    for machine in reported:
        make = getattr(rm.machines, machine["name"])
        names = [option["name"] for option in machine["options"]]
        assert list(inspect.signature(make).parameters) == names
        assert all(f"{name}: " in make.__doc__ for name in names)
        assert all(word in lines for word in (machine["name"], *names))
    with pytest.raises(AttributeError, match="there is no machine 'gpu'; machines are cpu, reference"):
        rm.machines.gpu()


def test_values_run_kernels_and_operations(compiled: Compiled, keys: rm.Keys) -> None:
    arguments = compiled.encrypt(keys, x=X)
    machines = (rm.machines.reference(), "compact:butterflies=1,log_n=10", rm.machines.cpu(threads=2))
    results = {compiled.evaluate(keys, arguments, machine=machine).to_bytes() for machine in machines}
    assert len(results) == 1
    assert compiled.executable(rm.machines.cpu(threads=2)) is compiled.executable("cpu: threads = 2")
    assert keys.evaluator(rm.machines.reference()) is keys.evaluator("reference")
    squares = [rm.encrypt(X, keys, machine=machine) ** 2 for machine in machines]
    assert all(np.abs(rm.decrypt(square, keys) - X**2).max() < 1e-4 for square in squares)
    params = rm.Params.from_bits(11, [40, 30], [40], 2, insecure=True)
    large = rm.kernel(lambda x: x * x).compile(rm.vector(4), params=params)
    with pytest.raises(rm.MachineError, match=r"built for N = 2\^10 to 2\^10; the program has N = 2\^11"):
        large.executable("compact:log_n=10")


def test_options_beside_a_machine_are_announced_to_go(compiled: Compiled, keys: rm.Keys) -> None:
    arguments = compiled.encrypt(keys, x=X)
    wanted = compiled.evaluate(keys, arguments).to_bytes()
    calls: list[tuple[str, Any]] = [
        (
            "compact:butterflies=1",
            lambda: compiled.evaluate(keys, arguments, machine="compact", butterflies=1),
        ),
        ("cpu:threads=2", lambda: compiled.evaluate(keys, arguments, threads=2)),
        ("compact:butterflies=2", lambda: compiled.executable("compact", butterflies=2)),
        ("compact:butterflies=8", lambda: compiled.work("compact", butterflies=8)),
        ("compact:butterflies=8", lambda: rm.key_forms(keys.params, 1, machine="compact", butterflies=8)),
        ("cpu:threads=2", lambda: rm.Evaluator(keys.evaluation, threads=2)),
        ("cpu:threads=2", lambda: compiled.run(keys, x=X, threads=2)),
        ("cpu:threads=2", lambda: rm.kernel(lambda x: x + 1).run(x=X, threads=2)),
    ]
    for text, call in calls:
        with pytest.warns(DeprecationWarning, match=f'write machine="{text}"') as reported:
            result = call()
        assert [warning.filename for warning in reported] == [__file__]
        assert not isinstance(result, rm.Values) or result.to_bytes() == wanted


def test_a_kernel_may_call_its_arguments_as_such_options() -> None:
    @rm.kernel
    def k(x: Any, butterflies: Any, threads: Any) -> Any:
        return x * butterflies + threads

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = k.run(x=X, butterflies=2.0, threads=0.5)
        both = k.compile(x=rm.vector(4), butterflies=rm.vector(4), threads=rm.vector(4))
        again = both.run(x=X, butterflies=X, threads=X)
    np.testing.assert_allclose(got, 2 * X + 0.5, atol=1e-4)
    np.testing.assert_allclose(again, X * X + X, atol=1e-4)


def test_the_command_line_takes_texts_and_options_in_their_old_places(
    compiled: Compiled, keys: rm.Keys, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled.save(tmp_path / "kernel")
    keys.save(tmp_path)
    compiled.encrypt(keys, x=X).save(tmp_path / "a")
    files = {"kernel": "kernel", "keys": "evaluation.keys", "input": "a", "out": "r"}
    named = [word for option, name in files.items() for word in (f"--{option}", str(tmp_path / name))]
    assert main(["evaluate", *named, "--json", "--quiet", "--machine", "compact:butterflies=2"]) == 0
    out = capsys.readouterr()
    assert (json.loads(out.out)["machine"], out.err) == ("compact:butterflies=2", "")
    first = (tmp_path / "r").read_bytes()
    assert main(["evaluate", *named, "--json", "--quiet", "--machine", "compact", "--butterflies", "4"]) == 0
    out = capsys.readouterr()
    assert json.loads(out.out)["machine"] == "compact:butterflies=4"
    assert "--butterflies will go; write --machine compact:butterflies=4" in out.err
    assert (tmp_path / "r").read_bytes() == first


@rm.kernel
def powers(x: Any) -> Any:
    return (x * x).rotate(1) * x


@pytest.fixture(scope="module")
def deep() -> Compiled:
    params = rm.Params.from_bits(12, [54, 50, 50, 50], [54], 4, insecure=True)
    return powers.compile(rm.vector(64), params=params)


def test_machines_report_what_a_kernel_takes(deep: Compiled) -> None:
    """A core's figures are those of the image that is built for it; a processor's those of ``work``."""
    core = Core(word_bits=60, log_n_max=15, moduli=32, butterflies=8)
    image = core.image(deep.plan)
    reported = deep.estimate("compact:butterflies=8")
    assert (reported["cycles"], reported["counters"]["first_cycles"]) == (image.cycles, image.first_cycles)
    assert reported["spans"] == image.spans
    assert reported["seconds"] is None
    assert all(0 < share < 1 for share in reported["utilisation"].values())
    clocked = deep.estimate(rm.machines.verilator(butterflies=8, clock=250))
    assert clocked["cycles"] == reported["cycles"]
    assert clocked["seconds"] == pytest.approx(reported["cycles"] * 4e-9)
    assert deep.estimate("cpu")["seconds"] == pytest.approx(deep.work("cpu")["seconds"])
    assert deep.work("compact:clock=200")["seconds"] == pytest.approx(deep.work("compact")["seconds"] / 2)
    with pytest.raises(
        rm.MachineError, match="cpu, compact, verilator, board, pipelined, taiyi, file do"
    ) as refused:
        deep.estimate("reference")
    assert refused.value.code == "NoEstimate"


def test_the_command_line_simulates_kernels_and_limb_programs(
    deep: Compiled, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    def reported(*words: object) -> dict[str, Any]:
        assert main(["simulate", *map(str, words), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    deep.save(tmp_path / "kernel")
    limb = tmp_path / "program.limb"
    limb.write_text("# the same program\n" + Core(word_bits=60).image(deep.plan).limb_program)
    by_kernel = reported(tmp_path / "kernel", "--spans", tmp_path / "spans.json")
    by_text = reported(limb)
    assert by_kernel["cycles"] == by_text["cycles"] == deep.estimate("compact")["cycles"]
    assert [tuple(span) for span in json.loads((tmp_path / "spans.json").read_text())] == deep.estimate(
        "compact"
    )["spans"]
    assert reported(limb, "--machine", "cpu")["seconds"] == pytest.approx(deep.work()["seconds"])
    assert main(["simulate", str(limb), "--machine", "compact:clock=100"]) == 0
    assert f"cycles        {by_text['cycles']:,}\nseconds " in capsys.readouterr().out
    (tmp_path / "broken").write_text("limb x : 2^10 {\n")
    keys = deep.keygen(seeded=True)
    keys.save(tmp_path)
    for file, code in (
        ("none", "Unreadable"),
        ("spans.json", "NoProgram"),
        ("public.key", "NoProgram"),
        ("broken", None),
    ):
        assert main(["simulate", str(tmp_path / file), "--json"]) == 1
        refused = json.loads(capsys.readouterr().out)
        assert str(tmp_path / file) in refused["message"]
        assert code in (None, refused["code"]), refused


def test_a_described_machine_reports_where_every_cycle_of_a_kernel_went(
    deep: Compiled, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    reported = deep.estimate(rm.machines.file(path="taiyi-60"))
    assert reported["cycles"] == sum(count for _, count in reported["parts"])
    assert reported["seconds"] == pytest.approx(reported["cycles"] * 1e-9)
    counters = reported["counters"]
    bounds = [counters[f"bound_{name}"] for name in ("work", "off_chip", "critical_path")]
    assert 0 < max(bounds) <= reported["cycles"]
    assert counters["bytes_key"] == counters["bytes_expanded"] > 0 == counters["bytes_seeded_key"]
    assert all(joules > 0 for name, joules in reported["energy"] if name in ("ntt", "hbm"))
    with pytest.raises(rm.MachineError, match="bits, and words have 36"):
        deep.estimate("file:taiyi")
    with pytest.raises(rm.MachineError, match="computes no data; run the program on another machine"):
        deep.executable("file:taiyi-60")
    mine = tmp_path / "mine.toml"
    mine.write_text('[machine]\nbase = "taiyi-60"\nghz = 2\n')
    with pytest.raises(rm.MachineError, match=r"mine.toml, \[machine\]: `ghz` has no source"):
        deep.estimate(f"file:{mine}")
    mine.write_text('[machine]\nbase = "taiyi-60"\nghz = 2\nsource = "a test"\n')
    assert deep.estimate(f"file:{mine}")["seconds"] == pytest.approx(reported["seconds"] / 2)
    deep.save(tmp_path / "kernel")
    places = [word for name in ("trace", "report") for word in (f"--{name}", str(tmp_path / name))]
    assert main(["simulate", str(tmp_path / "kernel"), "--machine", f"file:{mine}", *places]) == 0
    assert f"cycles        {reported['cycles']:,}\n" in capsys.readouterr().out
    events = json.loads((tmp_path / "trace").read_text())["traceEvents"]
    assert len([event for event in events if event["ph"] == "X"]) == len(reported["spans"])
    page = (tmp_path / "report").read_text()
    assert "Where every cycle went" in page
    assert f"{reported['cycles']:,}" in page


def test_the_report_of_a_pool_shows_what_each_unit_does_when(
    deep: Compiled, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = "pipelined:build=pool,limbs=8,special=7,units=3,clock=236,bandwidth=19200"
    reported = deep.estimate(machine)
    counters, spans = reported["counters"], reported["spans"]
    engine = [span for span in spans if span[0].startswith("unit ")]
    assert counters["transforms"] == len(engine) > 0
    units = ["unit 00", "unit 01", "unit 02"]
    others = ["host", "link to engine", "link to host"]
    assert sorted({unit for unit, *_ in spans}) == sorted(others + units)
    # The units' work is that of the transforms, and nobody has two at once.
    n = 2 * deep.params.slots
    worked = sum(reported["utilisation"][unit] for unit in units) * reported["cycles"]
    assert worked == pytest.approx(len(engine) * (n // 64) * (n.bit_length() - 1))
    # Every cycle belongs to one of them.
    assert sum(count for _, count in reported["parts"]) == reported["cycles"]
    assert reported["cycles"] >= max(counters["engine_cycles"], counters["host_cycles"])
    alone = deep.estimate("pipelined:build=pool,limbs=8,special=7,units=3")
    assert alone["cycles"] == alone["counters"]["engine_cycles"]
    assert alone["seconds"] is None
    for unit in units + others:
        times = sorted((start, end) for name, _, start, end in spans if name == unit)
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(times))
    deep.save(tmp_path / "kernel")
    page = tmp_path / "page.html"
    assert main(["simulate", str(tmp_path / "kernel"), "--machine", machine, "--report", str(page)]) == 0
    said = capsys.readouterr().out
    assert f"transforms        {len(engine):>14,}\n" in said
    assert "\n  host alone " in said
    assert "the memory" in said
    shown = page.read_text()
    assert '"units":["host","link to engine","link to host","unit 00","unit 01","unit 02"]' in shown
    assert f'"cycles":{reported["cycles"]}' in shown
    with pytest.raises(rm.MachineError, match=r"the pool was built for 1, give limbs=\d"):
        deep.estimate("pipelined:build=pool,limbs=1,special=7")
