"""Runs test/cocotb_axi.py: `make selftest-cocotb`.

    python3 test/cocotb_run.py verilator|icarus BUILD SOURCE…

The last source has the top, `ringmill_axi`. `SEED` chooses the stalls, `ONLY` names one test.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
TOP = "ringmill_axi"
#: The command of each simulator.
COMMANDS = {"verilator": "verilator", "icarus": "iverilog"}


def verilate(sources: list[Path], place: Path) -> None:
    """Build with Verilator; only the ports of the top are open to cocotb, whose own way opens every signal.

    Functions are not inlined: see the Makefile.
    """
    from cocotb_tools import config

    libraries = Path(config.libs_dir)
    ports = place / "ports.vlt"
    ports.write_text(f'`verilator_config\npublic_flat_rw -module "{TOP}" -var "*"\n', encoding="utf-8")
    options = (
        "-fno-inline-funcs -O3 --x-assign fast --x-initial fast "
        "-Wno-fatal -Wno-lint -Wno-style --timescale 1ns/1ps"
    )
    command = [
        *("verilator", "--cc", "--exe", "--build", "-j", "2", "--vpi", *options.split()),
        *("-CFLAGS", f"{os.environ.get('OPT', '-O2')} -std=gnu++17"),
        *("-LDFLAGS", f"-Wl,-rpath,{libraries} -L{libraries} -lcocotbvpi_verilator"),
        *("--Mdir", str(place), "--prefix", "Vtop", "--top-module", TOP, "-o", TOP),
        *(
            str(Path(config.share_dir) / "lib" / "verilator" / "verilator.cpp"),
            str(ports),
            *map(str, sources),
        ),
    ]
    with (place / "build.log").open("w", encoding="utf-8") as log:
        done = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise SystemExit("\n".join((place / "build.log").read_text(errors="replace").splitlines()[-20:]))


def model_cycles() -> str:
    """What the cycle model says of the program."""
    text = (HERE / "driver" / "layout.h").read_text(encoding="utf-8")
    found = re.search(r"RINGMILL_MODEL_FIRST_CYCLES (\d+)u", text)
    assert found, "driver/layout.h does not say the cycles"
    return found[1]


def main(argv: list[str]) -> int:
    """Build, run, and say what passed."""
    simulator, build, *sources = argv
    if simulator not in COMMANDS:
        raise SystemExit(f"SIM={simulator}: there are {' and '.join(COMMANDS)}")
    if shutil.which(COMMANDS[simulator]) is None:
        raise SystemExit(f"{COMMANDS[simulator]} is not on the path; scripts/eda.sh of Ringmill installs it")
    missing = [name for name in ("cocotb", "cocotbext.axi") if _missing(name)]
    if missing:
        raise SystemExit(
            f"{' and '.join(missing)} cannot be imported by {sys.executable}: "
            "pip install cocotb cocotbext-axi, or take the environment of Ringmill's scripts/eda.sh"
        )
    from cocotb_tools.runner import get_results, get_runner

    place = Path(build).resolve()
    place.mkdir(parents=True, exist_ok=True)
    paths = [Path(source).resolve() for source in sources]
    runner = get_runner(simulator)
    if simulator == "verilator":
        verilate(paths, place)
    else:
        runner.build(
            sources=paths,
            hdl_toplevel=TOP,
            build_dir=place,
            build_args=["-g2005"],
            log_file=place / "build.log",
            timescale=("1ns", "1ps"),
        )
    results = place / "results.xml"
    results.unlink(missing_ok=True)
    # It ends the program where a test fails, without a word of which.
    with contextlib.suppress(SystemExit):
        runner.test(
            hdl_toplevel=TOP,
            hdl_toplevel_lang="verilog",
            test_module="cocotb_axi",
            test_dir=place,
            build_dir=place,
            results_xml=str(results),
            log_file=place / "test.log",
            test_filter=os.environ.get("ONLY"),
            extra_env={"CYCLES": model_cycles(), "COCOTB_LOG_LEVEL": "INFO"},
        )
    tests, failed = get_results(results) if results.exists() else (0, 0)
    log = (place / "test.log").read_text(encoding="utf-8", errors="replace")
    for line in re.findall(r"\d+ cycles with .*|AssertionError: .*", log):
        print(line)
    good = tests > 0 and not failed
    count = f"{tests - failed} of {tests} tests"
    print(f"{'PASS' if good else 'FAIL'} {count} with cocotbext-axi; {place / 'test.log'}")
    return 0 if good else 1


def _missing(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is None
    except ModuleNotFoundError:
        return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
