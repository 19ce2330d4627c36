"""The text of a FuseSoC core file (CAPI 2).

It imports nothing: `rtl/tools`, which runs without the package, reads this file too.
"""

from __future__ import annotations

#: What a file of each set is.
TYPES = {"rtl": "systemVerilogSource", "lint": "vlt", "xdc": "xdc", "sdc": "SDC"}


def core_file(
    *,
    origin: str,
    name: str,
    about: str,
    top: str,
    filesets: dict[str, list[str]],
    parameters: dict[str, tuple[int, str]],
    verilator: str,
    tools: dict[str, list[str]],
) -> str:
    """A core file with a default target, one for lint, and one for each of ``tools`` with its sets of files.

    ``parameters`` are values with what they say; ``verilator`` are the options of lint.
    """
    sets = "".join(_fileset(key, files) for key, files in filesets.items())
    values = "".join(_parameter(key, *said) for key, said in parameters.items())
    targets = "".join(_target(tool, used) for tool, used in tools.items())
    return f"""CAPI=2:
# {origin}
name: "{name}"
description: "{about}"

filesets:
{sets}
parameters:
{values}
targets:
  default: &default
    filesets: [rtl]
    toplevel: {top}
    parameters: [{", ".join(parameters)}]
  lint:
    <<: *default
    filesets: [lint, rtl]
    default_tool: verilator
    tools:
      verilator:
        mode: lint-only
        verilator_options: [{verilator}]
{targets}"""


def _fileset(name: str, files: list[str]) -> str:
    listed = "".join(f"      - {path}\n" for path in files)
    return f"  {name}:\n    file_type: {TYPES[name]}\n    files:\n{listed}"


def _parameter(name: str, value: int, about: str) -> str:
    said = f"    description: {about!r}\n" if about else ""
    return f"  {name}:\n    datatype: int\n    default: {value}\n    paramtype: vlogparam\n{said}"


def _target(tool: str, filesets: list[str]) -> str:
    return f"  {tool}:\n    <<: *default\n    filesets: [{', '.join(filesets)}]\n    default_tool: {tool}\n"
