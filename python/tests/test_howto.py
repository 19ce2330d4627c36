"""How-to pages work as they stand: their Python and their commands, in the order of the page."""

from __future__ import annotations

import re
import shlex
import subprocess
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill.cli import main
from ringmill.interop import openfhe, seal
from ringmill.interop.heir.mlir import heir_opt

ROOT = Path(__file__).resolve().parents[2]
#: A block of Python, indented or not, or a line that runs ``ringmill``.
_STEP = re.compile(
    r"^(?P<indent> *)```python\n(?P<python>.*?)^ *```$|^ {4,}(?P<command>ringmill [^\n]*)$", re.S | re.M
)


class Page:
    """A page that is followed in a folder."""

    def __init__(self, path: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.text = (ROOT / path).read_text(encoding="utf-8")
        self.session: dict[str, Any] = {"__name__": "__main__"}
        self.commands: list[str] = []
        self.folder = folder
        monkeypatch.chdir(folder)

    def follow(self, part: str = "", *, python: bool = True, commands: str = "ringmill") -> None:
        """Do what a part of the page says, from one heading to the next.

        Args:
            part: the heading; the whole page if it is empty.
            python: whether the blocks of Python are run.
            commands: how the commands begin that are run.
        """
        text = self.text
        if part:
            text = re.split(r"^## ", text.split(f"\n## {part}\n")[1], flags=re.M)[0]
        for step in _STEP.finditer(text):
            if step["python"] and python:
                exec(compile(textwrap.dedent(step["python"]), "page", "exec"), self.session)
            elif (step["command"] or "").startswith(commands or "no command"):
                words = shlex.split(step["command"], comments=True)[1:]
                assert main([*words, "--quiet"]) == 0, step["command"]
                self.commands.append(words[0])


def test_a_client_of_seal_is_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page("docs/interop.md", tmp_path, monkeypatch)
    chain = rm.Params.from_bits(13, [50, 40, 40], [50], 3, scale_bits=40)
    params = rm.Params.from_primes(13, chain.q, chain.p, 3, scale_bits=40, rotations=3)
    keys = rm.keygen(params, rotations=[1])
    x = np.random.default_rng(1).uniform(-1, 1, params.slots)
    expected = x * x + np.roll(x * x, -1)
    seal.save_parameters(params, "parms")
    seal.save_relin_keys(keys.evaluation, "relin.keys")
    seal.save_galois_keys(keys.evaluation, "galois.keys")
    seal.save_ciphertext(keys.public.encrypt(x), "x.ct")

    def answer() -> Any:
        found = keys.secret.decrypt(seal.load_ciphertext(params, "result.ct"))
        Path("result.ct").unlink()
        return found

    page.follow("SEAL", commands="")
    bound = 2.0 ** page.session["results"].error_log2
    assert np.abs(answer() - expected).max() < bound
    page.session["compiled"].save("energy.kernel")
    page.follow("SEAL", python=False)
    assert page.commands == ["import", "import", "import", "evaluate", "export"]
    assert np.abs(answer() - expected).max() < bound


def test_a_client_of_openfhe_is_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page("docs/interop.md", tmp_path, monkeypatch)
    # OpenFHE takes a special prime of 60 bits for this chain.
    chain = rm.Params.from_bits(13, [50, 40, 40], [60], 3, scale_bits=40)
    params = rm.Params.from_primes(13, chain.q, [1152921504606830593], 3, scale_bits=40)
    context, keys = openfhe.context_of(params, "tag"), rm.keygen(params, rotations=[1])
    x = np.random.default_rng(2).uniform(-1, 1, params.slots)
    openfhe.save_mult_key(context, keys.evaluation, "mult.keys")
    openfhe.save_automorphism_keys(context, keys.evaluation, "automorphism.keys")
    openfhe.save_ciphertext(context, keys.public.encrypt(x), "x.ct")
    # The kernel of the part before, without its files.
    kernel = re.search(r"^ *@rm.kernel\n.*?\n\n", page.text, re.S | re.M)
    assert kernel
    page.session |= {"rm": rm, "np": np, "params": params}
    exec(textwrap.dedent(kernel[0]), page.session)
    page.follow("OpenFHE")
    found = keys.secret.decrypt(openfhe.load_ciphertext(context, "result.ct"))
    bound = 2.0 ** page.session["results"].error_log2
    assert np.abs(found - x * x - np.roll(x * x, -1)).max() < bound


def test_answers_to_questions_are_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = Page("docs/questions.md", tmp_path, monkeypatch)
    page.follow()
    compiled, printed = page.session["compiled"], capsys.readouterr().out.splitlines()
    assert printed[0] == str([2**i for i in range(10)])
    assert int(printed[1]) == compiled.cost["key_bytes"]
    assert printed[4] == str(compiled.predicted_error)


@pytest.mark.skipif(heir_opt() is None, reason="the package heir_py has no program for this machine")
def test_a_program_of_heir_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = Page("docs/interop.md", tmp_path, monkeypatch)
    source = """func.func @f(%x: tensor<16xf32> {secret.secret}) -> tensor<16xf32> {
      %0 = arith.mulf %x, %x : tensor<16xf32>
      return %0 : tensor<16xf32>
    }"""
    written = subprocess.run(
        [str(heir_opt()), "--mlir-to-ckks"], input=source, text=True, capture_output=True, check=True
    )
    Path("model.ckks.mlir").write_text(written.stdout)
    x = np.linspace(-1, 1, 16)
    page.session["x"] = x
    page.follow("HEIR", commands="")
    session = page.session
    again = session["program"].unpack(session["results"])
    assert capsys.readouterr().out == f"{again}\n"
    np.testing.assert_allclose(again, x * x, atol=1e-6)
    assert main(["import", "heir", "program", "model.ckks.mlir", "--out", "model.kernel", "--quiet"]) == 0
    loaded = rm.Compiled.load("model.kernel")
    found = session["program"].unpack(loaded.run(loaded.keygen(), **session["program"].pack(x)))
    np.testing.assert_allclose(found, x * x, atol=1e-6)


def test_a_large_machine_is_simulated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = Page("docs/large-machines.md", tmp_path, monkeypatch)
    page.follow()
    assert page.commands == ["simulate", "simulate", "inspect", "inspect", "simulate"]
    cycles = page.session["compiled"].estimate("file:taiyi-60")["cycles"]
    assert f"cycles        {cycles:,}" in capsys.readouterr().out
    assert Path("trace.json").stat().st_size > 1000
    assert "<svg" in Path("page.html").read_text() or "<canvas" in Path("page.html").read_text()


def test_the_commands_for_a_core_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The board of the page is listed. `test_readme.py` explores it, `test_project.py` builds cores."""
    page = Page("docs/how-to/choose-a-core.md", tmp_path, monkeypatch)
    page.follow(commands="ringmill devices")
    board = re.search(r"--device (\S+)", page.text)
    assert board
    assert board[1] in capsys.readouterr().out


def test_a_device_file_as_the_page_has_it_is_explored(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "explorer.md").read_text(encoding="utf-8").split("\n## Devices\n")[1]
    file = tmp_path / "my-board.toml"
    file.write_text(text.split("```toml\n")[1].split("```")[0], encoding="utf-8")
    space = {"log_n": [12], "level_bits": [30], "words": [36], "butterflies": [1], "buses": [256]}
    square = rm.kernel(lambda x=rm.vector(16): x * x).trace()
    found = rm.explore(square, str(file), space=space, seconds=0, progress="none")
    assert found.best["predicted"]["frequency_mhz"]["value"] == 185.0
    # A key that does not exist is refused with the nearest one that does.
    file.write_text(file.read_text(encoding="utf-8").replace("bram36 =", "bram =", 1), encoding="utf-8")
    with pytest.raises(rm.RingmillError, match="bram36"):
        rm.explore(square, str(file), space=space, seconds=0, progress="none")


def test_blocks_of_the_python_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page("docs/python.md", tmp_path, monkeypatch)
    records = np.random.default_rng(1).uniform(-1, 1, (1000, 8))
    page.session |= {"np": np, "rm": rm, "records": records}
    page.follow(commands="")
    expected = (records @ (np.arange(8) / 8)) ** 2
    assert np.abs(np.ravel(page.session["scores"]) - expected).max() < 1e-3
    assert page.session["compiled"].name == "softmax"


def test_primes_of_few_digits_are_those_of_a_core(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = Page("docs/algorithms/primes.md", tmp_path, monkeypatch)
    page.follow(commands="")
    assert f"{page.session['ones'].bit_count()} places; " in capsys.readouterr().out


@pytest.mark.long
def test_the_explorer_finds_what_the_page_saves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page("docs/explorer.md", tmp_path, monkeypatch)
    page.session |= {"rm": rm, "score": rm.kernel(lambda x=rm.vector(16): x * x).trace()}
    page.follow(commands="")
    assert {"design.json", "page.html"} <= {path.name for path in tmp_path.iterdir()}


def test_every_block_of_python_belongs_to_a_page_that_is_run() -> None:
    """Pages whose blocks this file, test_readme.py, test_client.py and test_docs.py run."""
    run = {
        "README.md",
        "docs/algorithms/primes.md",
        "docs/explorer.md",
        "docs/how-to/choose-a-core.md",
        "docs/how-to/look-up-tables.md",
        "docs/how-to/run-on-a-server.md",
        "docs/interop.md",
        "docs/large-machines.md",
        "docs/models.md",
        "docs/python.md",
        "docs/questions.md",
        "docs/start.md",
    }
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")]
    found = {str(page.relative_to(ROOT)) for page in pages if "```python" in page.read_text(encoding="utf-8")}
    assert found == run


def test_numbers_are_looked_up_as_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = Page("docs/how-to/look-up-tables.md", tmp_path, monkeypatch)
    page.follow()
    a, b, points = (page.session[name] for name in ("a", "b", "points"))
    decrypted = page.session["compiled"].decrypt(page.session["keys"].secret, page.session["results"])
    grades, better = decrypted
    assert np.abs(grades - points[a.astype(int)]).max() < 0.01
    assert np.abs(better - np.sign(a - b)).max() < 0.01
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_models_predict_as_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = Page("docs/models.md", tmp_path, monkeypatch)
    page.follow()
    X, fitted = page.session["X"], page.session["fitted"]
    assert (page.session["labels"] == fitted.predict(X)).all()
    assert "labels that differ            0" in capsys.readouterr().out


#: A file or a folder in a page: a name with a slash, or a source.
_PLACE = re.compile(r"`([\w./-]+(?:/[\w.-]+|\.(?:rs|sv|h|rml|py)))`")


def _places(page: str) -> dict[str, Path | None]:
    """The files and folders that a page names, each from the root, or from a folder of one named before."""
    found: dict[str, Path | None] = {}
    bases = [ROOT]
    for name in _PLACE.findall(page):
        near = [base / name for base in bases]
        found[name] = next((path for path in near if path.exists()), None)
        if (path := found[name]) is not None:
            inside = [at for at in (path, *path.parents) if at.is_relative_to(ROOT) and at.is_dir()]
            bases = [ROOT, *inside, *bases]
    return found


def _sources_with(pattern: str) -> set[Path]:
    files = (path for path in ROOT.glob("crates/*/src/**/*.rs") if "test" not in path.name)
    return {path for path in files if re.search(pattern, path.read_text(encoding="utf-8"))}


def test_the_page_on_operations_names_every_place_of_an_instruction() -> None:
    """An instruction that is there already shows where one has to be put: each of its places is on the page.

    `add_const` stands for one on every word, `lift` for one between moduli.
    """
    page = (ROOT / "docs" / "how-to" / "add-an-operation.md").read_text(encoding="utf-8")
    places = _places(page)
    assert [name for name, path in places.items() if path is None] == []
    named = {path for path in places.values() if path is not None}
    # Folders of a machine; elsewhere a place is a file.
    folders = [path for path in named if path.name in ("cpu", "lower") and "machine" in path.parts]
    for variant, written in (("AddConst", "add_const"), ("Lift", "lift")):
        used = _sources_with(rf"\b(Opcode|Instruction|I|Kind|Action|Self)::{variant}\b")
        used |= {path for path in _sources_with(rf"\bfn {written}\b") if "limb" in path.parts}
        assert len(used) >= 10, used
        missing = {path for path in used - named if not any(at in path.parents for at in folders)}
        assert missing == set(), f"{variant}: {sorted(str(path.relative_to(ROOT)) for path in missing)}"


def test_a_place_that_moved_is_found() -> None:
    places = _places("`crates/program/src/limb/op.rs`, `build.rs`, `random.rs`, `moved.rs` and `crates/none`")
    assert [name for name, path in places.items() if path is None] == ["moved.rs", "crates/none"]
