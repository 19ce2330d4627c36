"""Commands that make a library of an engine's RTL with Verilator, and hold its sources to all warnings."""

from __future__ import annotations

from collections.abc import Mapping

_VERILATOR = ("--cc", "--exe", "--build", "-j", "2", "-O3", "--x-assign", "fast", "--x-initial", "fast")
_QUIET = ("-Wno-fatal", "-Wno-lint", "-Wno-style")
# Hidden and not unique: several engines live in one process.
_CFLAGS = "-O2 -std=gnu++17 -fPIC -fvisibility=hidden -fno-gnu-unique"


def lint_command(top: str, built: Mapping[str, int], files: list[str]) -> list[str]:
    """What holds the sources of an engine to Verilator's warnings, in the folder with these files."""
    generics = (f"-G{name}={value}" for name, value in built.items())
    return ["verilator", "--lint-only", "-Wall", *generics, "--top-module", top, *files]


def build_command(
    top: str,
    built: Mapping[str, int],
    files: list[str],
    *,
    shell: str,
    library: str,
    defines: Mapping[str, int] | None = None,
) -> list[str]:
    """The one command that makes the library, in the folder with these files.

    Args:
        top: the module.
        built: its parameters.
        files: sources and shell; headers among them are left to the compiler.
        shell: the folder of the shell.
        library: the name of what is made.
        defines: what the shell must know beside the parameters.
    """
    given = " ".join(f"-DP_{name}={value}" for name, value in {**built, **(defines or {})}.items())
    return [
        "verilator",
        *_VERILATOR,
        *_QUIET,
        *(f"-G{name}={value}" for name, value in built.items()),
        "-CFLAGS",
        f"{_CFLAGS} {given} -I../{shell}",
        "-LDFLAGS",
        "-shared",
        "--Mdir",
        "build",
        "--prefix",
        "Vtop",
        "--top-module",
        top,
        "-o",
        library,
        *(name for name in files if not name.endswith(".h")),
    ]
