"""Exploring from Python and from the command line."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill import cli
from ringmill.explorer import Exploration, devices, machine_fields, targets, variants
from ringmill.explorer.result import row as row_of
from ringmill.explorer.run import request
from ringmill.kernels import NINE
from ringmill.project import design as project_design

ROOT = Path(__file__).resolve().parents[2]

# Small enough to be simulated in a moment.
SPACE: dict[str, Any] = {
    "log_n": [12],
    "level_bits": [30],
    "scale_offsets": [0, 1],
    "special_extra": [2],
    "secrets": ["ternary"],
    "words": [36, 52],
    "butterflies": [8, 16],
    "multipliers": ["word-montgomery", "montgomery"],
    "buses": [512],
}


@rm.kernel
def mean_square(x: Any = rm.vector(64)) -> Any:
    """The mean of squares."""
    return (x * x).sum() * (1 / 64)


@rm.kernel
def weighted(x: Any = rm.matrix(8, 4)) -> Any:
    """Rows times weights."""
    return x @ [1.0, 2.0, 3.0, 4.0]


def found(**constraints: Any) -> Exploration:
    asked = {"max_error": 1e-3, "space": SPACE, "progress": "none", **constraints}
    return rm.explore(NINE[3], "zcu102", **asked)


@pytest.mark.parametrize("row", NINE, ids=lambda row: row.letter)
def test_the_stored_kernels_of_the_rust_tests_are_those_of_the_tracer(row: Any) -> None:
    stored = ROOT / "crates" / "explore" / "tests" / "kernels" / f"{row.letter}.he"
    assert stored.read_text(encoding="utf-8") == row.trace().text


def test_what_is_found_is_a_design_that_compiles_and_keeps_its_promise(tmp_path: Path) -> None:
    exploration = found()
    assert exploration.best_proven
    assert exploration.front_proven
    file = tmp_path / "design.json"
    assert exploration.save(file) == file.stat().st_size
    read = project_design.read(file)
    predicted = exploration.best["predicted"]
    assert max(read.compiled.plan.predicted_error().values()) == pytest.approx(
        _log2(predicted["error"]["value"])
    )
    assert read.compiled.params.security == predicted["security_level"]
    assert read.content["kernel"]["signature"]["name"] == read.compiled.name
    for figure in _figures(predicted):
        assert figure["origin"]["source"]


def _log2(x: float) -> float:
    import math

    return math.log2(x)


def _figures(x: Any) -> list[dict[str, Any]]:
    if isinstance(x, dict) and set(x) == {"value", "origin"}:
        return [x]
    return [f for inner in x.values() for f in _figures(inner)] if isinstance(x, dict) else []


def test_rows_say_what_designs_say_and_the_best_leads_its_objective() -> None:
    for objective, name in (("latency", "latency_ms"), ("area", "area"), ("error", "error")):
        exploration = found(minimise=objective)
        rows = exploration.rows()
        assert len(rows) == len(exploration.front) > 1
        least = min(row[name] for row in rows)
        assert exploration.best["predicted"][name]["value"] <= least
        assert all(row["error"] <= 1e-3 and row["security_level"] >= 128 for row in rows)


def test_packings_of_a_matrix_are_variants() -> None:
    names = [name for name, _ in variants(weighted)]
    assert names == ["", "x by columns"]
    exploration = rm.explore(
        weighted, "zcu102", max_error=1e-3, magnitude=0.5, space=SPACE, seconds=0, progress="none"
    )
    assert exploration.best["kernel"]["variant"] == "x by columns", "no rotation, no key"
    assert exploration.best["predicted"]["client"]["evaluation_key_bytes"]["value"] == 0


def test_variants_are_traced_for_the_magnitude() -> None:
    tanh = rm.approximate(np.tanh, (-1, 1), degree=7)
    sliced = rm.kernel(lambda x=rm.vector(12): tanh(x[:3]))  # type: ignore[misc]
    for magnitude, depth in ((1.0, 3), (2.0, 4)):
        ((_, traced),) = variants(sliced, magnitude=magnitude)
        assert traced.depth == depth
        assert request(sliced, "zcu102", magnitude=magnitude)["kernels"][0]["program"] == traced.text


def test_a_device_of_ones_own_needs_no_code(tmp_path: Path) -> None:
    stored = ROOT / "crates" / "explore" / "devices" / "zcu102.toml"
    text = (
        stored.read_text(encoding="utf-8")
        .replace('name = "zcu102"', 'name = "mine"')
        .replace("mhz = 185.0", "mhz = 92.5")
    )
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    slow = rm.explore(
        NINE[3], str(tmp_path / "mine.toml"), space=SPACE, seconds=0, progress="none", max_error=1e-3
    )
    fast = found(seconds=0)
    assert slow.best["predicted"]["latency_ms"]["value"] > 1.5 * fast.best["predicted"]["latency_ms"]["value"]
    assert found(seconds=0, mhz=92.5).best["predicted"]["frequency_mhz"]["origin"]["kind"] == "user"


def test_a_design_says_the_family_of_a_device_of_ones_own(tmp_path: Path) -> None:
    text = (ROOT / "crates" / "explore" / "devices" / "kintex7-325t.toml").read_text(encoding="utf-8")
    text = text.replace('name = "kintex7-325t"', 'name = "mine"')
    # Without DSP blocks nothing of a core is the family's own, and the file is called as another's device.
    device = tmp_path / "zcu102.toml"
    device.write_text(re.sub(r"(?m)^dsp = .*$", "dsp = 0", text), encoding="utf-8")
    exploration = rm.explore(NINE[3], str(device), space=SPACE, seconds=0, progress="none")
    assert exploration.device == exploration.best["device"] == "mine"
    assert exploration.best["hardware"]["tile"] == "lut"
    exploration.save(tmp_path / "design.json")
    assert project_design.read(tmp_path / "design.json").core.family == "xc7"


def test_the_nearest_constraint_is_met() -> None:
    with pytest.raises(rm.ExploreError) as refused:
        found(max_error=1e-9)
    assert refused.value.code == "Infeasible"
    assert refused.value.fields["binding"] == "error"
    nearest = json.loads(refused.value.fields["nearest"])
    assert found(max_error=nearest["max_error"], seconds=0).best_proven


def test_the_page_of_an_exploration_shows_every_design(tmp_path: Path) -> None:
    exploration = found()
    page = tmp_path / "page.html"
    assert exploration.report(page, points=1) == page.stat().st_size
    text = page.read_text(encoding="utf-8")
    shown = json.loads(text.split('id="designs-data">')[1].split("</script>")[0])
    # The chosen one has the plan of a longer search, the others those of the front.
    rows = {row["latency_ms"] for row in exploration.rows()}
    assert 1 < len(shown) <= len(exploration.front)
    assert all(d["latency"] in rows for d in shown if d["why"] != "chosen")
    chosen = [d for d in shown if d["why"] == "chosen"]
    assert [d["latency"] for d in chosen] == [exploration.best["predicted"]["latency_ms"]["value"]]
    assert "decrypted" in text, "the chosen design was run"
    best = row_of(exploration.best)
    planned = {"latency_ms", "cycles", "energy_mj", "machine"}
    (quick,) = (r for r in exploration.rows() if all(r[k] == best[k] for k in best.keys() - planned))
    assert ("the quick plan takes" in text) == (best["latency_ms"] < quick["latency_ms"])
    front = exploration.front
    assert ("evenly chosen" in text, "beats the others" in text) == (False, len(shown) < len(front))
    with pytest.raises(rm.ExploreError, match="-1 designs cannot be compared"):
        exploration.report(page, points=-1)


def test_the_page_of_a_long_front_says_that_it_shows_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    from ringmill.report import explored, render_exploration

    exploration = found()
    monkeypatch.setattr(explored, "thin", lambda front: front[:1])
    reported = explored.reported(exploration)
    assert (len(reported["front"]), reported["front_total"]) == (2, len(exploration.front))
    expected = f"2 of {len(exploration.front)} designs of the front, evenly chosen."
    assert (len(exploration.front) > 2) == (expected in render_exploration(reported, "1.0"))


def test_an_interrupted_exploration_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ringmill.explorer import run

    results = tmp_path / "results.sqlite"
    wide = {**SPACE, "butterflies": [2, 4, 8, 16], "buses": [128, 256, 512]}
    whole = found(space=wide, seconds=1e6)
    reported: list[int] = []

    def stop(self: Any, stage: str, done: int, left: int, best: float | None) -> bool:
        reported.append(done)
        return done == 0

    with monkeypatch.context() as patch:
        patch.setattr(run._Shown, "__call__", stop)
        part = found(space=wide, results=results)
    assert part.stopped
    assert not part.front_proven
    resumed = found(space=wide, results=results, seconds=1e6)
    assert resumed.rows() == whole.rows()
    with sqlite3.connect(results) as database:
        (points,) = database.execute("SELECT count(*) FROM points").fetchone()
    assert points == whole.statistics["points"]


@rm.kernel
def deep(x: Any = rm.vector(64)) -> Any:
    """Squares of a dense map, thrice: the whole space takes minutes."""
    weights = np.random.default_rng(1).uniform(-0.1, 0.1, (64, 64))
    for _ in range(3):
        x = weights @ (x * x)
    return x


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that interrupts")
def test_ctrl_c_is_heard_in_the_middle_of_a_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    from ringmill.explorer import run

    stages: list[str] = []

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def reported(self: Any, stage: str, done: int, left: int, best: float | None) -> bool:
        if not stages:
            # After this call, when parameters are enumerated.
            signal.setitimer(signal.ITIMER_REAL, 0.2)
        stages.append(stage)
        return True

    monkeypatch.setattr(run._Shown, "__call__", reported)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(rm.ExploreError) as stopped:
            rm.explore(deep, "alveo-u280", max_error=1e-2)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert stopped.value.code == "Stopped"
    assert stages == ["parameters"]


def test_the_client_of_a_design_can_be_timed() -> None:
    from ringmill.explorer.client import timed

    best = found(seconds=0).best
    client = timed(best)["predicted"]["client"]
    for name in ("encrypt_ms", "decrypt_ms"):
        assert client[name]["value"] > 0
        assert client[name]["origin"]["kind"] == "measured"
        assert best["predicted"]["client"][name] is None


def test_the_command_line_explores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    space, out = tmp_path / "space.json", tmp_path / "design.json"
    space.write_text(json.dumps(SPACE), encoding="utf-8")
    kernel = tmp_path / "mine.py"
    kernel.write_text(
        "import ringmill as rm\n\n@rm.kernel\ndef score(x=rm.vector(16)):\n    return (x * x).sum()\n",
        encoding="utf-8",
    )
    words = [f"{kernel}:score", "--device", "zcu104", "--max-error", "1e-3", "--quiet", "--seconds", "0"]
    arguments = ["explore", *words, "--space", str(space), "--out", str(out)]
    assert cli.main([*arguments, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["best_proven"]
    assert json.loads(out.read_text(encoding="utf-8"))["device"] == "zcu104"
    assert cli.main(arguments) == 0
    shown = capsys.readouterr().out
    assert "The best is proven" in shown
    assert "ringmill build" in shown
    assert cli.main(["devices"]) == 0
    assert "zcu102" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--out", "--report", "--results"])
def test_a_folder_that_takes_no_files_is_refused_before_the_search(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import ringmill.explorer as explorer

    searched: list[Any] = []
    monkeypatch.setattr(explorer, "explore", lambda *_, **__: searched.append(1))
    # Who may write everywhere may not write there.
    folder = tmp_path if os.geteuid() else Path("/proc/self")
    mode = tmp_path.stat().st_mode
    tmp_path.chmod(0o500)
    try:
        command = ["explore", "coxhe:d", "--device", "zcu102", option, str(folder / "file"), "--json"]
        assert cli.main(command) == 1
    finally:
        tmp_path.chmod(mode)
    reported = json.loads(capsys.readouterr().out)
    assert (reported["code"], reported["fields"]["path"]) == ("Unwritable", str(folder / "file"))
    assert not searched


def test_what_became_of_the_points_adds_up_wherever_it_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    space = tmp_path / "space.json"
    space.write_text(json.dumps(SPACE), encoding="utf-8")
    free = found(seconds=0)
    rows = found().rows()
    bound = (min(row["error"] for row in rows) * max(row["error"] for row in rows)) ** 0.5
    limit = 1.2 * min(row["latency_ms"] for row in rows if row["error"] <= bound)
    words = ["--max-error", repr(bound), "--max-latency-ms", repr(limit), "--seconds", "0", "--quiet"]
    page = tmp_path / "page.html"
    command = ["explore", "coxhe:d", "--device", "zcu102", "--space", str(space), *words]
    assert cli.main([*command, "--report", str(page)]) == 0
    shown = capsys.readouterr().out
    (reported,) = re.findall(r"Of [\d,]+ points [^.]*\.", shown)
    assert reported in page.read_text(encoding="utf-8")
    points, *fates = (int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", reported))
    assert points == sum(fates) == free.statistics["points"]
    assert "exceed the bound on the error" in reported
    assert "exceed the bound on the latency" in reported
    for exploration in (free, found(max_error=bound), found(max_latency_ms=limit, minimise="area")):
        assert sum(count for count, _ in exploration.funnel()) == exploration.statistics["points"]


def test_axes_are_those_of_the_native_module_and_the_page_shows_them() -> None:
    from ringmill import _native
    from ringmill.explorer.space import Axes, narrowed

    asked = request(NINE[3], "zcu102")
    axes = Axes.of(targets()["compact"])
    every = {axis: list(values) for axis, (values, _) in axes.numbers.items()}
    every |= {axis: list(words) for axis, words in axes.words.items()}
    assert set(axes.names) == set(every)
    # A degree that is too small for every word of every axis: the request is read, and then nothing fits.
    every |= {"log_n": [10], "level_bits": [60], "words": [36]}
    with pytest.raises(rm.ExploreError) as refused:
        _native.explore_designs(json.dumps({**asked, "space": every}))
    assert refused.value.code == "Infeasible"
    page = (ROOT / "docs" / "explorer.md").read_text(encoding="utf-8")
    shown = json.loads(page.split("```json")[1].split("```")[0])
    assert narrowed(shown) == shown
    assert all(f"`{word}`" in page for words in axes.words.values() for word in words)
    assert narrowed({"log_n": range(11, 13), "buses": (np.int64(64),)}) == {"log_n": [11, 12], "buses": [64]}


def test_a_target_is_named_and_a_design_runs_as_its_machine(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(rm.ExploreError, match=r"No target 'compakt' \(did you mean 'compact'\?\)") as refused:
        rm.explore(NINE[3], "zcu102", target="compakt")
    assert refused.value.code == "UnknownWord"
    assert cli.main(["targets"]) == 0
    listed = capsys.readouterr().out
    assert listed.startswith("compact ")
    assert "butterflies  1, 2, 4, 8, 16" in listed
    best = found(seconds=0, target="compact").best
    assert best["schema"] == 3
    fields, spec = machine_fields(best), rm.MachineSpec(best["machine"])
    assert (spec.name, fields["word_bits"]) == ("compact", spec.options["word"])
    assert "lanes" not in json.dumps(best)
    # What was predicted is what the machine of that text says of the compiled program.
    compiled = project_design.of(best).compiled
    first = compiled.estimate(machine=spec)["counters"]["first_cycles"]
    assert first == best["predicted"]["cycles"]["value"]


def test_an_engine_for_the_device_of_a_client_is_found_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    space = tmp_path / "space.json"
    space.write_text(json.dumps({"modes": ["divided"], "level_bits": [48], "log_n": [13]}))
    file, page = tmp_path / "client.json", tmp_path / "page.html"
    options = ["--target", "encryptor", "--device", "alveo-u250", "--space", str(space), "--quiet"]
    assert cli.main(["explore", "coxhe:d", *options, "--out", str(file), "--report", str(page)]) == 0
    said = capsys.readouterr().out
    # No engine was routed: the clock, and with it the rate, is assumed.
    assert re.search(r"rate │ [\d,]+ a second │ assumed", " ".join(said.split()))
    assert "is the chosen design" in said
    assert "ringmill build" not in said
    assert "encryptor:mode=divided" in page.read_text("utf-8")
    best = json.loads(file.read_text("utf-8"))
    rate, clock = (best["predicted"][name]["value"] for name in ("per_second", "frequency_mhz"))
    # rtl/encryptor/README.md: an encryption in 4,096 cycles at least.
    assert rate <= 1e6 * clock / 4096
    assert best["predicted"]["energy_mj"] is None
    assert machine_fields(best)["limbs"] == len(best["parameters"]["q"])
    with pytest.raises(rm.RingmillError, match="ringmill build KERNEL --machine encryptor") as refused:
        project_design.read(file)
    assert refused.value.code == "NotBuilt"
    assert cli.main(["explore", "coxhe:d", *options, "--report", str(page), "--points", "2"]) == 1
    assert "Leave points out" in capsys.readouterr().err


def test_a_long_front_says_how_much_of_it_is_shown() -> None:
    from ringmill.cli.explore import SHOWN, _front

    (only,) = found(seconds=0).rows()[:1]
    for length, title in ((SHOWN, "Front"), (53 * SHOWN, f"Front: {53 * SHOWN} designs, one in 53")):
        table = _front([only] * length, targets()["compact"])
        assert (table.title, table.row_count) == (title, SHOWN)


def test_stored_devices_are_reported() -> None:
    assert {"ecp5-85", "artix7-200t", "zynq-7020", "zcu104", "zcu102", "alveo-u280", "asic45"} <= set(
        devices()
    )


def test_a_sweep_in_pieces_finds_what_one_exploration_finds() -> None:
    from ringmill.explorer import sweep

    whole = found(seconds=1e6)
    cut = sweep(NINE[3], "zcu102", space=SPACE, max_error=1e-3, seconds=1e6)
    assert cut.front_proven
    assert [_costs(row) for row in cut.rows()] == [_costs(row) for row in whole.rows()]
    assert cut.best == whole.best
    assert cut.statistics["points"] == whole.statistics["points"]
    least, median, greatest = cut.statistics["over_bound"]
    assert 1 <= least <= greatest
    assert median is None  # no piece knows it of all


def _costs(row: dict[str, Any]) -> tuple[float, ...]:
    return row["latency_ms"], row["area"], row["error"], row["security_bits"]


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_a_worker_of_a_cluster_may_die(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    from ringmill.explorer import on_ray, sweep

    died = tmp_path / "died"
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        cut = sweep(NINE[3], "zcu102", space=SPACE, max_error=1e-3, seconds=1e6, run=_mortal(on_ray, died))
    finally:
        ray.shutdown()
    assert died.exists(), "no worker was killed"
    assert [_costs(row) for row in cut.rows()] == [_costs(row) for row in found(seconds=1e6).rows()]


def _mortal(run: Any, died: Path) -> Any:
    """The runner, whose first piece kills its worker once."""
    import os
    import signal

    from ringmill.explorer.sweep import piece

    def dying(text: str) -> Any:
        if not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return piece(text)

    def on_cluster(texts: list[str]) -> Any:
        return run(texts, task_of=dying)

    return on_cluster


def test_counted_energy_is_least_of_what_was_simulated_and_not_proven() -> None:
    def explored(device: str, **constraints: Any) -> Exploration:
        return rm.explore(NINE[3], device, max_error=1e-3, space=SPACE, progress="none", **constraints)

    asic = explored("asic45", minimise="energy")
    energy = asic.best["predicted"]["energy_mj"]["value"]
    assert energy <= min(row["predicted"]["energy_mj"]["value"] for row in asic.front)
    assert not asic.best_proven
    with pytest.raises(rm.ExploreError, match="power"):
        explored("ecp5-85", minimise="energy")


@pytest.mark.parametrize("device", ["asic45", "artix7-200t", "zcu102"])
def test_the_least_energy_is_no_more_than_that_of_the_fastest_design(device: str) -> None:
    def energy(objective: str) -> float:
        found = rm.explore(NINE[3], device, max_error=1e-3, space=SPACE, progress="none", minimise=objective)
        figure = found.best["predicted"]["energy_mj"]
        if device != "asic45":
            assert "Kuon, Rose" in figure["origin"]["source"]
        return float(figure["value"])

    assert 0 < energy("energy") <= energy("latency")


def test_a_memory_too_slow_for_every_bus_is_refused(tmp_path: Path) -> None:
    text = (ROOT / "crates" / "explore" / "devices" / "zcu102.toml").read_text(encoding="utf-8")
    slow = tmp_path / "slow.toml"
    rate = next(line for line in text.splitlines() if line.startswith("gigabytes_per_second"))
    slow.write_text(text.replace(rate, "gigabytes_per_second = 0.001"), encoding="utf-8")
    with pytest.raises(rm.ExploreError, match="64 cycles"):
        rm.explore(NINE[3], str(slow), space=SPACE, progress="none")
