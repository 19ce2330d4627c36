"""The command line: client and server in processes of their own, the server without the secret key."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill.cli import main
from ringmill.cli.ending import Ended, ended_by_signals

RUN = [sys.executable, "-m", "ringmill"]
X = np.array([[0.5, -0.25], [0.125, 1.0], [-0.5, 0.75]])
W = np.array([0.5, -0.75])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A client's and a server's folder, with a kernel and its keys."""
    root = tmp_path_factory.mktemp("world")
    (root / "client").mkdir()
    (root / "server").mkdir()
    score = rm.kernel(lambda x, w: (x @ w) ** 2)
    compiled = score.compile(rm.matrix(3, 2, packing="columns"), W, precision=16)
    compiled.save(root / "client" / "kernel")
    compiled.save(root / "server" / "kernel")
    np.savez(root / "client" / "data.npz", x=X)
    return root


def reported(folder: Path, *arguments: str, status: int = 0) -> dict[str, Any]:
    """Run a verb in a process and return its JSON output."""
    done = subprocess.run(
        [*RUN, *arguments, "--json", "--quiet"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.fixture(scope="module")
def sent(world: Path) -> Path:
    """The same folders once the client made keys and arguments and the server got what it needs of them."""
    client, server = world / "client", world / "server"
    keygen = reported(client, "keygen", "--kernel", "kernel", "--out", "keys")
    assert keygen["keys"] == "relinearisation"
    encrypt = ("encrypt", "--kernel", "kernel", "--key", "keys/public.key", "--input", "data.npz")
    assert reported(client, *encrypt, "--out", "a")["ciphertexts"] == 2
    for name in ("keys/evaluation.keys", "a"):
        (server / Path(name).name).write_bytes((client / name).read_bytes())
    return world


EVALUATE = ("evaluate", "--kernel", "kernel", "--keys", "evaluation.keys", "--input", "a", "--out")


def test_client_and_server_through_files(sent: Path) -> None:
    client, server = sent / "client", sent / "server"
    assert (client / "keys" / "secret.key").stat().st_mode & 0o077 == 0
    answer = reported(server, *EVALUATE, "r")
    assert answer["machine"] == "cpu"
    assert answer["predicted_error_log2"] < -14
    secret = (client / "keys" / "secret.key").read_bytes()
    assert all(secret not in path.read_bytes() for path in server.iterdir())
    assert sorted(p.name for p in server.iterdir()) == ["a", "evaluation.keys", "kernel", "r"]

    (server / "r").rename(client / "r")
    decrypt = ("decrypt", "--kernel", "kernel", "--key", "keys/secret.key", "--input", "r", "--out", "y.npz")
    reported(client, *decrypt)
    with np.load(client / "y.npz") as result:
        np.testing.assert_allclose(result["out"], (X @ W) ** 2, atol=2**-14)


def test_the_server_works_without_the_secret_key(sent: Path, tmp_path: Path) -> None:
    """The client's folder is elsewhere while the server runs, so that opening a file of it fails.

    A hook records what Python opens in the server's process: the kernel, the arguments, its own modules. What
    Rust opens, as the evaluation keys, it does not see; of that the folder taken away is the only witness.
    """
    server = shutil.copytree(sent / "server", tmp_path / "server")
    script = f"""
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
from ringmill.cli import main
status = main([*{EVALUATE!r}, "r", "--quiet", "--json"])
assert {{"kernel", "a"}} <= set(opened), opened
files = [p for p in opened if "/ringmill/" not in p]
assert not [p for p in files if "client/" in p or "secret" in p], files
sys.exit(status)
"""
    away = (sent / "client").rename(tmp_path / "away")
    try:
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=server, capture_output=True, text=True, check=False
        )
    finally:
        away.rename(sent / "client")
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in server.iterdir()) == ["a", "evaluation.keys", "kernel", "r"]
    decrypt = ("decrypt", "--kernel", "kernel", "--key", "keys/secret.key", "--input")
    reported(sent / "client", *decrypt, str(server / "r"), "--out", str(tmp_path / "y.npz"))
    with np.load(tmp_path / "y.npz") as result:
        np.testing.assert_allclose(result["out"], (X @ W) ** 2, atol=2**-14)


def test_forms_of_keys_travel_beside_them(tmp_path: Path) -> None:
    """A kernel whose switches take a form of their own, at every way to keep keys in memory."""
    params = rm.Params.from_bits(11, [50, 40, 40, 40], [50, 50], 2, insecure=True)
    method = rm.key_switching("hybrid", forms=["3+1/1"], levels={1: "3+1/1", 2: "3+1/1"})
    compiled = rm.kernel(lambda x: x**4).compile(rm.vector(4), params=params, switching=method)
    client, server = tmp_path / "client", tmp_path / "server"
    for folder in client, server:
        folder.mkdir()
        compiled.save(folder / "kernel")
    x = np.array([0.5, -0.25, 0.125, 1.0])
    np.savez(client / "data.npz", x=x)
    at = "--kernel", "kernel"
    reported(client, "keygen", *at, "--out", "keys", "--insecure")
    reported(client, "encrypt", *at, "--key", "keys/public.key", "--input", "data.npz", "--out", "a")
    for name in ("keys/evaluation.keys", "a"):
        (server / Path(name).name).write_bytes((client / name).read_bytes())
    evaluate = "evaluate", *at, "--keys", "evaluation.keys", "--input", "a", "--out"
    assert reported(server, *evaluate, "r", status=1)["code"] == "MissingForm"
    (server / "evaluation.forms").write_bytes((client / "keys" / "evaluation.forms").read_bytes())
    memories = ("expanded", "seeded", "mapped")
    for memory in memories:
        reported(server, *evaluate, memory, "--key-memory", memory)
        read = rm.load_evaluation_keys(params, server / "evaluation.keys", memory=memory)
        assert read.forms == ["3+1/1"]
    assert len({(server / memory).read_bytes() for memory in memories}) == 1
    reported(
        server, "decrypt", *at, "--key", "../client/keys/secret.key", "--input", "seeded", "--out", "y.npz"
    )
    with np.load(server / "y.npz") as result:
        np.testing.assert_allclose(result["out"], x**4, atol=2**-20)

    # A damaged file of forms is named, and not as the file of keys.
    whole = (server / "evaluation.forms").read_bytes()
    (server / "evaluation.forms").write_bytes(whole[:-1])
    answer = reported(server, *evaluate, "r", status=1)
    assert answer["error"] == "FileFormatError"
    assert answer["message"].startswith("evaluation.forms")


def test_a_secret_key_is_refused_by_the_server(sent: Path) -> None:
    client = sent / "client"
    evaluate = ("evaluate", "--kernel", "kernel", "--keys", "keys/secret.key", "--input", "a", "--out", "r")
    answer = reported(client, *evaluate, status=1)
    assert answer["error"] == "CommandError"
    assert answer["code"] == "SecretOnServer"


def test_json_arrays(sent: Path, tmp_path: Path) -> None:
    client = sent / "client"
    (tmp_path / "data.json").write_text(json.dumps({"x": X.tolist()}))
    out = str(tmp_path / "a")
    key = str(client / "keys" / "secret.key")
    kernel = str(client / "kernel")
    reported(tmp_path, "encrypt", "--kernel", kernel, "--key", key, "--input", "data.json", "--out", out)
    keys = str(client / "keys" / "evaluation.keys")
    reported(
        tmp_path,
        "evaluate",
        "--kernel",
        kernel,
        "--keys",
        keys,
        "--input",
        out,
        "--out",
        "r",
        "--machine",
        "cpu:threads=1",
    )
    reported(tmp_path, "decrypt", "--kernel", kernel, "--key", key, "--input", "r", "--out", "y.json")
    np.testing.assert_allclose(
        json.loads((tmp_path / "y.json").read_text())["out"], (X @ W) ** 2, atol=2**-14
    )


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("kernel", "kernel"),
        ("a", "arguments"),
        ("keys/public.key", "public key"),
        ("keys/secret.key", "secret key"),
        ("keys/evaluation.keys", "set of evaluation keys"),
    ],
)
def test_inspect_says_what_a_file_is(
    name: str, kind: str, sent: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = sent / "client" / name
    assert main(["inspect", str(path), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["kind"] == kind
    assert facts["bytes"] == path.stat().st_size
    assert main(["inspect", str(path)]) == 0
    assert kind in capsys.readouterr().out


@pytest.fixture
def inspected(capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, Any]]:
    """What `inspect` says of a file."""

    def facts(path: Path, *options: str) -> dict[str, Any]:
        assert main(["inspect", str(path), *options, "--json"]) == 0
        return dict(json.loads(capsys.readouterr().out))

    return facts


def test_inspect_with_a_kernel_reports_what_parameters_contain(
    tmp_path: Path, inspected: Callable[..., dict[str, Any]]
) -> None:
    first = rm.kernel(lambda x: x.rotate(3) * x.conj()).compile(rm.vector(8, dtype=complex), precision=12)
    more = rm.kernel(lambda x: x.rotate(3) + x.rotate(1)).compile(rm.vector(8), params=first.params)
    first.save(tmp_path / "first")
    more.save(tmp_path / "more")
    keys = first.keygen()
    keys.save(tmp_path / "keys")
    arguments = first.encrypt(keys, x=np.arange(8) / 8)
    arguments.save(tmp_path / "a")
    (one,) = arguments.parts.values()
    (tmp_path / "x").write_bytes(one.to_bytes())
    of_first, of_more = (("--kernel", str(tmp_path / name)) for name in ("first", "more"))

    reported = inspected(tmp_path / "keys" / "evaluation.keys", *of_first)
    assert (reported["relinearisation"], reported["conjugation"], reported["encapsulation"]) == (
        "yes",
        "yes",
        "no",
    )
    assert reported["rotations"] == "3"
    assert reported["bytes in memory"] == pytest.approx(keys.evaluation.nbytes, rel=0.01)
    assert reported["for this kernel"] == "all that it needs"
    reported = inspected(tmp_path / "keys" / "evaluation.keys", *of_more)
    assert reported["for this kernel"] == "lacks rotation by 1"

    reported = inspected(tmp_path / "x", *of_first)
    assert (reported["slots"], reported["level"], reported["magnitude"]) == (8, one.level, 1.0)
    # A file does not say under which key it is encrypted: the heaviest tail is assumed.
    assert one.error_log2 <= reported["predicted_error_log2"] + 0.01 <= one.error_log2 + 1
    assert reported["scale_log2"] == pytest.approx(one.scale_log2, abs=0.01)
    assert inspected(tmp_path / "a", *of_first)["of this kernel"] == "yes"
    assert inspected(tmp_path / "a", *of_more)["of this kernel"].startswith("no")
    assert f"level {one.level}" in inspected(tmp_path / "a", *of_first)["ciphertexts"][0]
    assert "N=2^" in inspected(tmp_path / "keys" / "secret.key", *of_first)["parameters"]


def test_inspect_of_a_folder_lists_its_files(
    sent: Path, tmp_path: Path, inspected: Callable[..., dict[str, Any]]
) -> None:
    (tmp_path / "notes.txt").write_text("no file of Ringmill")
    (tmp_path / "b.key").write_bytes((sent / "client" / "keys" / "public.key").read_bytes())
    first, second = inspected(tmp_path)["files"]
    assert first.startswith("b.key: public key, ")
    assert second == "notes.txt: no Ringmill file"


def test_a_secret_key_that_others_may_read_is_reported(
    sent: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key, data = tmp_path / "my secret", sent / "client" / "data.npz"
    key.write_bytes((sent / "client" / "keys" / "secret.key").read_bytes())
    encrypt = ["encrypt", "--kernel", str(sent / "client" / "kernel"), "--key", str(key), "--quiet"]
    commands = [["inspect", str(key)], [*encrypt, "--input", str(data), "--out", str(tmp_path / "a")]]
    for command in commands:
        for mode, warned in ((0o644, True), (0o620, True), (0o600, False), (0o400, False)):
            key.chmod(mode)
            assert main(command) == 0
            reported = f"{key} is a secret key that is open to other users (mode {mode:o})."
            expected = f"ringmill: {reported} Close it: chmod 600 '{key}'\n"
            assert capsys.readouterr().err == (expected if warned else "")
    key.chmod(0o644)
    assert main(["decrypt", *encrypt[1:], "--input", str(tmp_path / "a"), "--out", "y.npz"]) == 1
    assert f"{key} is a secret key that is open to other users" in capsys.readouterr().err
    public = sent / "client" / "keys" / "public.key"
    public.chmod(0o644)
    assert main(["inspect", str(public)]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("suffix", ["npz", "json"])
def test_results_may_have_any_name(suffix: str, tmp_path: Path) -> None:
    names = ("file", "allow_pickle", "out")
    both = rm.kernel(lambda x: {name: x + k for k, name in enumerate(names)}).compile(rm.vector(2))
    both.save(tmp_path / "kernel")
    keys = both.keygen()
    keys.save(tmp_path)
    both.evaluate(keys, both.encrypt(keys, x=[0.25, 0.5])).save(tmp_path / "r")
    out = tmp_path / f"y.{suffix}"
    paths = {"kernel": "kernel", "key": "secret.key", "input": "r", "out": out.name}
    assert main(["decrypt", *(f"--{option}={tmp_path / name}" for option, name in paths.items())]) == 0
    read = np.load(out) if suffix == "npz" else json.loads(out.read_text())
    assert set(read) == set(names)
    for k, name in enumerate(names):
        np.testing.assert_allclose(read[name], np.array([0.25, 0.5]) + k, atol=1e-4)


def test_inspect_says_which_arguments_no_result_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = rm.kernel(lambda x, y: x * 2).compile(rm.vector(4), rm.vector(4), precision=14)
    both.save(tmp_path / "kernel")
    assert main(["inspect", str(tmp_path / "kernel"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["arguments"] == ["x [4] (slots)", "y [4] (slots), which no result needs"]


def test_params_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["params", "--depth", "3", "--slots", "1000", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["security"] >= 128
    assert facts["levels"] >= 3
    assert main(["params", "--name", "III"]) == 0
    assert "14" in capsys.readouterr().out
    assert main(["params"]) == 0
    assert "V50" in capsys.readouterr().out
    assert main(["params", "--name", "XXL"]) == 1
    assert "names no parameter set" in capsys.readouterr().err


def test_params_that_bootstrap(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--levels", "1", "--bits", "12", "--slots", "64", "--log-n", "15"]
    assert main(["params", *asked, "--transforms", "4", "--no-arcsine", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    wanted = rm.Params.bootstrapping(1, bits=12, slots=64, log_n=15, transforms=4, arcsine=False)
    assert facts["fingerprint"] == wanted.fingerprint
    reported = "12 bits in the worst slot, fails never; 4 levels each way, without the arcsine"
    assert reported in facts["bootstrapping"]
    assert facts["rationale"] == "the smallest ring for this bootstrapping"
    assert main(["params", "--levels", "3", "--bits", "30", "--iterations", "2", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["fingerprint"] == rm.Params.bootstrapping(3, bits=30, iterations=2).fingerprint
    assert "30 bits in the worst slot by 2 iterations" in facts["bootstrapping"]
    small = ["--levels", "1", "--bits", "12", "--slots", "64", "--log-n", "12", "--json"]
    assert main(["params", *small, "--insecure"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["log_n"] == 12
    assert facts["rationale"].endswith("below 128 bits of security: for trials only")
    assert main(["params", *small]) == 0
    assert json.loads(capsys.readouterr().out)["security"] >= 128
    for wrong, reported in [
        (["--levels", "9", "--bits", "30"], "12 to 24 are to be had, up to 36 by two iterations"),
        (["--levels", "9", "--transforms", "1"], "32768 slots in 1 level(s) each; 2 to 6 are to be had"),
        (["--levels", "9", "--iterations", "3"], "--iterations"),
        (["--levels", "9", "--depth", "3"], "--depth and --levels are two ways to ask for parameters"),
        (["--depth", "9", "--bits", "12"], "--bits goes with --levels. Add it, or leave it out."),
        (["--levels", "9", "--security", "192"], "--security goes with --depth. Add it, or leave it out."),
        (["--scale-bits", "40"], "--scale-bits goes with --depth or --levels. Add it, or leave it out."),
        (["--depth", "9", "--insecure"], "--insecure goes with --levels. Add it, or leave it out."),
        (["--name", "III", "--no-arcsine"], "--arcsine goes with --levels. Add it, or leave it out."),
    ]:
        assert main(["params", *wrong]) == 1
        assert reported in capsys.readouterr().err


def printed(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """What a verb prints, buffered as on a user's machine."""
    changes = options.pop("env", {})
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"} | changes
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([*RUN, *arguments], text=True, env=env, check=False, **given)


@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize(
    ("arguments", "status"), [(["devices"], 141), (["devices", "--json"], 141), (["params", "--name=X"], 1)]
)
def test_a_reader_that_has_gone_ends_a_command_quietly(
    arguments: list[str], status: int, buffered: str
) -> None:
    read, write = os.pipe()
    os.close(read)
    done = printed(*arguments, stdout=write, env={"PYTHONUNBUFFERED": buffered})
    os.close(write)
    assert done.returncode == status
    assert done.stderr.count("\n") == (1 if status == 1 else 0), done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="writes to a device that is always full")
@pytest.mark.parametrize("arguments", [["params"], ["devices", "--json"], ["--help"]])
def test_a_full_disk_is_reported_in_a_sentence(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = printed(*arguments, stdout=full)
        refused = printed("params", "--name", "XXL", stderr=full)
    assert done.returncode == 1
    why = "No space left on device. Free space, or write elsewhere."
    assert done.stderr == f"ringmill: standard output cannot be written: {why}\n"
    assert refused.returncode == 1


def test_what_an_encoding_lacks_is_replaced(tmp_path: Path) -> None:
    key = tmp_path / "Schlüssel"
    rm.keygen(rm.Params.from_bits(10, [40, 30], [40], 2, insecure=True)).save(tmp_path)
    (tmp_path / "public.key").rename(key)
    done = printed("inspect", str(key), env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"})
    assert done.returncode == 0, done.stderr
    assert f"{tmp_path}/Schl?ssel\n" in done.stdout


def test_a_refusal_goes_to_standard_error_or_nowhere() -> None:
    """Without standard error, Python's own print() would take standard output."""
    done = printed("params", "--name", "XXL", preexec_fn=lambda: os.close(2), stderr=None)
    assert (done.returncode, done.stdout) == (1, "")


def test_wrong_usage_exits_with_two(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["encrypt", "--kernel", "k"])
    assert caught.value.code == 2
    assert "--key" in capsys.readouterr().err


def test_an_interrupt_before_the_verb_begins_is_one_too() -> None:
    """Ctrl-C while the verbs are imported, which takes the first half second."""
    script = """
import sys
from ringmill.cli import main

class Late:
    def find_spec(self, name, path=None, target=None):
        if name == "ringmill.cli.verbs":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Late())
sys.exit(main(["params"]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 130, done.stderr
    assert done.stderr == "ringmill: interrupted; no file was left half written\n"


def test_interrupt_stops_cleanly(tmp_path: Path) -> None:
    """Ctrl-C in the middle of key generation: status 130, a sentence, and no file half written."""
    deep = rm.kernel(lambda x: (x.mean() * x) ** 30)
    compiled = deep.compile(rm.vector(16384), precision=20)
    compiled.save(tmp_path / "kernel")
    command = [*RUN, "keygen", "--kernel", "kernel", "--out", "keys"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        # A shell lets its background jobs ignore Ctrl-C, and so would what they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stderr is not None
    first = process.stderr.readline()
    assert "keygen: 1/" in first
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 130, rest
    assert "interrupted" in rest
    assert "Traceback" not in rest
    assert not (tmp_path / "keys" / "secret.key").exists()


@pytest.mark.parametrize(
    ("number", "status", "reported"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "ended by SIGTERM"),
        (signal.SIGHUP, 129, "ended by SIGHUP"),
    ],
)
def test_an_end_while_keys_are_saved_leaves_no_file(
    number: int, status: int, reported: str, tmp_path: Path
) -> None:
    """All files are on disk beside their targets when the signal comes."""
    params = rm.Params.from_bits(10, [40, 30], [40], 2, insecure=True)
    rm.kernel(lambda x: x + x).compile(rm.vector(4), params=params).save(tmp_path / "kernel")
    script = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored under nohup, and by what it starts
from ringmill.atomic import Together
from ringmill.cli import main

def slow(self):
    print(len(self._moves), flush=True)
    time.sleep(60)

Together.move = slow
sys.exit(main(["keygen", "--kernel", "kernel", "--out", "keys", "--quiet", "--insecure"]))
"""
    command = [sys.executable, "-c", script]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "3\n"
        assert len(list((tmp_path / "keys").iterdir())) == 3
        process.send_signal(number)
        _, rest = process.communicate(timeout=60)
    assert process.returncode == status, rest
    assert rest == f"ringmill: {reported}; no file was left half written\n"
    assert list((tmp_path / "keys").iterdir()) == []


def test_signals_end_a_command_alone() -> None:
    """Handlers are those of before afterwards; who ignores a signal goes on so; threads have none."""
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Ended, match="SIGTERM"), ended_by_signals():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before
    ignored = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ended_by_signals():
            signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, ignored)
    statuses: list[int] = []
    thread = threading.Thread(target=lambda: statuses.append(main(["params", "--name", "III", "--json"])))
    thread.start()
    thread.join()
    assert statuses == [0]


def test_verbs_start_without_the_client_of_a_service() -> None:
    program = "import sys, ringmill.cli.verbs; sys.exit('ringmill.remote.client' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
