"""Files for client and server: the client's has no weights, the server's has all; what each refuses."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import struct
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill import bundle
from ringmill.cli import main

HOW_TO = Path(__file__).parents[2] / "docs/how-to/run-on-a-server.md"


@rm.kernel
def score(x: Any, w: Any, b: Any) -> Any:
    """A line of which no file of the client has a word."""
    return (w @ x + b) ** 2 + 0.5


WEIGHTS = np.random.default_rng(3).uniform(-0.25, 0.25, (4, 4))
OFFSET = np.array([0.125, -0.3, 0.7, 0.0625])
X = np.array([0.5, -0.25, 1.0, -0.75])


@pytest.fixture(scope="module")
def compiled() -> rm.Compiled:
    return score.compile(rm.vector(4), WEIGHTS, OFFSET, precision=14)


def coefficients(values: np.ndarray, scale: float) -> list[int]:
    """The polynomial whose values at the roots that stand for slots are these, by the definition, rounded."""
    n = len(values)
    roots = np.exp(1j * np.pi / (2 * n) * np.array([pow(5, j, 4 * n) for j in range(n)]))
    powers = roots[:, None] ** np.arange(2 * n)
    found = (powers.conj().T @ values).real / n
    return [round(float(c) * scale) for c in found]


def encodings(value: float) -> Iterator[bytes]:
    """A number in every form that a file could have it in."""
    for form in ("<d", ">d", "<f", ">f"):
        yield struct.pack(form, value)
    text = repr(float(value))
    yield text.encode()
    yield f"{value:.8g}".encode()
    yield f"{value:.6f}".encode()


def residues(values: np.ndarray, params: rm.Params) -> Iterator[bytes]:
    """The words of a vector's encoding modulo every prime, and in decimal."""
    for scale_bits in range(28, 44):
        for c in coefficients(values, 2.0**scale_bits):
            if abs(c) < 1 << 16:
                continue
            for q in params.q:
                yield struct.pack("<Q", c % q)
                yield str(c % q).encode()


def holds_weights(data: bytes, params: rm.Params) -> list[bytes]:
    """What a file shows of the weights."""
    weights = [*WEIGHTS.ravel(), *OFFSET]
    # Short powers of two stand in every file.
    forms = {
        form for w in weights for form in encodings(w) if len(form) > 6 or not form.strip(b"-.0123456789")
    }
    forms = {form for form in forms if len(set(form)) > 3}
    diagonals = [np.array([WEIGHTS[i, (i + k) % 4] for i in range(4)]) for k in range(4)]
    for vector in (*WEIGHTS, *WEIGHTS.T, *diagonals, OFFSET):
        forms.update(residues(vector, params))
    return [form for form in forms if form in data]


def test_the_clients_file_has_no_weights_and_no_program(compiled: rm.Compiled, tmp_path: Path) -> None:
    client, server = tmp_path / "client.rm", tmp_path / "server.rm"
    size = compiled.save(client=client, server=server)
    assert size == client.stat().st_size + server.stat().st_size
    assert not holds_weights(client.read_bytes(), compiled.params)
    assert len(holds_weights(server.read_bytes(), compiled.params)) >= len(OFFSET), "the search finds them"
    text = client.read_bytes()
    for word in (b"test_client", b"const", b"he @", b"A line of which", b"lambda", b" @ w", b"rotate"):
        assert word not in text
    assert b"test_client" in server.read_bytes()
    with zipfile.ZipFile(io.BytesIO(text)) as archive:
        assert archive.namelist() == ["header.json", "signature", "params"]


def test_private_weights_are_not_in_the_clients_file_either(tmp_path: Path) -> None:
    compiled = score.compile(rm.vector(4), rm.private(WEIGHTS, 1), rm.private(OFFSET, 1), precision=14)
    compiled.save(client=tmp_path / "client.rm")
    assert not holds_weights((tmp_path / "client.rm").read_bytes(), compiled.params)


def test_the_servers_file_is_the_kernel_file(compiled: rm.Compiled, tmp_path: Path) -> None:
    compiled.save(tmp_path / "kernel", client=tmp_path / "client.rm", server=tmp_path / "server.rm")
    assert (tmp_path / "kernel").read_bytes() == (tmp_path / "server.rm").read_bytes() == compiled.to_bytes()
    assert (tmp_path / "client.rm").read_bytes() == compiled.client().to_bytes()


def test_client_and_server_compute_what_numpy_does(compiled: rm.Compiled, tmp_path: Path) -> None:
    compiled.save(client=tmp_path / "client.rm", server=tmp_path / "server.rm")
    client, server = rm.load_client(tmp_path / "client.rm"), rm.Compiled.load(tmp_path / "server.rm")
    keys = client.keygen()
    assert keys.evaluation.rotations == compiled.keygen().evaluation.rotations
    for key in (keys, keys.public, keys.secret):
        results = server.evaluate(keys.evaluation, client.encrypt(key, x=X))
        expected = (WEIGHTS @ X + OFFSET) ** 2 + 0.5
        np.testing.assert_allclose(client.decrypt(keys, results), expected, atol=2.0**-14, rtol=0)
    assert client.digest == server.digest == compiled.digest
    assert results.error_log2 == pytest.approx(max(client.predicted_error.values()))
    again = rm.Client.from_bytes(client.to_bytes())
    assert again.to_bytes() == client.to_bytes()
    assert again.terms == client.terms
    assert client.keys_needed == compiled.keys_needed


def test_a_result_beyond_its_bound_is_refused_by_the_client() -> None:
    compiled = rm.kernel(lambda x: rm.within(x * x * 2.4, 1.0) * 3.0).compile(rm.vector(4), precision=10)
    client, keys = compiled.client(), compiled.keygen()
    results = compiled.evaluate(keys, client.encrypt(keys, x=np.ones(4)))
    with pytest.raises(rm.ResultError, match=r"relied on at most 3\.36"):
        client.decrypt(keys, results)
    assert np.abs(client.decrypt(keys, results, check=False)).max() > 7


def changed(data: bytes, **facts: Any) -> bytes:
    read = bundle.parse(data, "client", "f")
    return bundle.Bundle("client", {**read.facts, **facts}, read.parts).to_bytes()


@pytest.mark.parametrize(
    "facts",
    [
        {"level": 99},
        {"level": True},
        {"magnitude": 2.0},
        {"magnitude": -1.0},
        {"scale": "2^20"},
        {"taken": ["y"]},
        {"rotations": [0]},
        {"rotations": [1.5]},
        {"relin": 1},
        {"errors": {"out": "x"}},
        {"errors": {}},
        {"bounds": {"out": 0.0}},
        {"precision": 99},
        {"forms": "26+9/9"},
        {"kernel": "other"},
        {"program": "0"},
        {"digest": "0"},
        {"more": 1},
    ],
    ids=str,
)
def test_a_changed_client_file_is_refused(compiled: rm.Compiled, facts: dict[str, Any]) -> None:
    with pytest.raises(rm.FileFormatError, match="What was given is damaged"):
        rm.Client.from_bytes(changed(compiled.client().to_bytes(), **facts))


def test_each_side_refuses_the_others_file(compiled: rm.Compiled, tmp_path: Path) -> None:
    client, server = tmp_path / "client.rm", tmp_path / "server.rm"
    compiled.save(client=client, server=server)
    with pytest.raises(rm.FileFormatError, match=r"is a client's file: it has no program. Give server.rm"):
        rm.Compiled.load(client)
    with pytest.raises(rm.FileFormatError, match=r"is a server's file: .*Give client.rm"):
        rm.load_client(server)
    with pytest.raises(rm.MismatchError, match="has no path"):
        compiled.save()


def test_the_command_line_takes_kernels_traces_and_compiled_kernels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.py").write_text(
        "import ringmill as rm\n"
        "@rm.kernel\ndef square(x=rm.vector(4)):\n    return x * x\n"
        "def traced():\n    return square.trace()\n"
        "def compiled():\n    return square.compile(precision=9)\n"
        "def other():\n    return 3\n"
    )
    for name in ("square", "traced", "compiled"):
        options = [] if name == "compiled" else ["--precision", "9"]
        words = ["compile", f"{tmp_path}/k.py:{name}", "--out", str(tmp_path / name), *options]
        assert main(words) == 0
        assert rm.load_client(tmp_path / name / "client.rm").terms.precision == 9
    texts = {(tmp_path / name / "client.rm").read_bytes() for name in ("square", "traced", "compiled")}
    assert len(texts) == 1
    for name, options, said in (
        ("other", [], "is of type int, not a kernel"),
        ("compiled", ["--magnitude", "2"], "--magnitude comes too late"),
        ("none", [], "its kernels are square"),
    ):
        capsys.readouterr()
        assert main(["compile", f"{tmp_path}/k.py:{name}", "--out", str(tmp_path / "x"), *options]) == 1
        assert said in capsys.readouterr().err
    assert main(["inspect", str(tmp_path / "square" / "client.rm"), "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert (reported["kind"], reported["keys needed"], reported["magnitude"]) == (
        "client",
        "relinearisation",
        1.0,
    )


def commands(page: str) -> Iterator[tuple[str, str]]:
    """Each command of the transcripts of a page, and what it prints."""
    for block in re.findall(r"^ *```console\n(.*?)^ *```$", page, re.DOTALL | re.MULTILINE):
        lines = [re.sub(r"^ {4}", "", line) for line in block.splitlines()]
        for part in re.split(r"^\$ ", "\n".join(lines), flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            yield command, printed


def test_the_transcript_of_the_page_is_what_happens(tmp_path: Path) -> None:
    page = HOW_TO.read_text(encoding="utf-8")
    source, *_ = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "price.py").write_text(source)
    tool = tmp_path / "bin" / "ringmill"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m ringmill "$@"\n')
    tool.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tool.parent}{os.pathsep}{os.environ['PATH']}"}
    run = 0
    for command, printed in commands(page):
        done = subprocess.run(
            ["/bin/sh", "-c", f"{command} 2>&1"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        wanted = ".*".join(re.escape(piece) for piece in printed.rstrip().split("…"))
        assert re.fullmatch(wanted, done.stdout.rstrip(), re.DOTALL), f"{command}\n{done.stdout}"
        run += 1
    assert run >= 8
    x, w = np.array([0.9, -0.3, 0.4]), np.array([0.5, 0.25, -0.125])
    answer = json.loads((tmp_path / "answer.json").read_text())["out"]
    assert abs(answer - ((x @ w) ** 2 + 1)) < 2**-16
    assert (tmp_path / "keys" / "secret.key").stat().st_mode & 0o077 == 0
    # The table of the page names every file beside the source, the data and the answer.
    made = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()}
    others = {"price.py", "data.json", "answer.json", "bin/ringmill"}
    made -= others | {name for name in made if "__pycache__" in name}
    assert made == set(re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE))
