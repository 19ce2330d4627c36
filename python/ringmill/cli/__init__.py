"""The command line: one verb a task, JSON beside the human output.

    ringmill compile  KERNEL.PY:FUNCTION --out DIR
    ringmill keygen   --kernel client.rm --out DIR
    ringmill encrypt  --kernel client.rm --key public.key --input DATA.npz --out ARGUMENTS
    ringmill evaluate --kernel server.rm --keys evaluation.keys --input ARGUMENTS --out RESULTS
    ringmill decrypt  --kernel client.rm --key secret.key --input RESULTS --out DATA.npz
    ringmill simulate KERNEL | PROGRAM --machine compact:butterflies=8,clock=200
    ringmill inspect  FILE | FOLDER [--kernel K] [--capacity 128MiB]
    ringmill program  KERNEL | PROGRAM --out FILE [--form text | managed --tables FILE]
    ringmill params   --depth 5 --slots 4096 | --levels 9 --bits 22
    ringmill build    DESIGN.json --out DIR
    ringmill validate DESIGN.json …
    ringmill explore  KERNEL.PY:FUNCTION --device zcu102 --max-error 1e-4 --out design.json
    ringmill devices
    ringmill targets
    ringmill machines
    ringmill calibrate
    ringmill profile  --kernel K
    ringmill compare  casa | coxhe | taiyi | taiyi-parameters | capacity
    ringmill workload digits | resnet-20 --run FOLDER
    ringmill import   seal | openfhe WHAT FILE … --out FILE
    ringmill export   seal | openfhe WHAT FILE --out FILE
    ringmill serve    --dir DIR
    ringmill remote   login URL | push FILE … | run … | status | fetch JOB --out FILE

Exit status: 0 done, 1 refused (the message says why), 2 wrong usage, 130 interrupted, 143 or 129
ended by SIGTERM or SIGHUP, 141 if nobody reads any more what it prints.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from types import ModuleType

from ringmill.cli import holder
from ringmill.cli.running import Verb, new_parser, run


def _machine_help(default: str) -> str:
    from ringmill._native import machine_table

    names = (f"{name} (default)" if name == default else name for name, *_ in machine_table())
    return f"{', '.join(names)}; with options as {default}:… (ringmill machines lists them)"


def _parser() -> argparse.ArgumentParser:
    parser, verb = new_parser()
    _compile(verb)
    holder.keygen_options(verb)
    holder.encrypt_options(verb)
    sub = verb("evaluate", "Run a kernel on encrypted arguments; needs no secret.")
    holder.kernel(sub, "server.rm, or the whole kernel file")
    sub.add_argument(
        "--keys", required=True, metavar="FILE", help="NAME.keys; forms of keys are read from NAME.forms"
    )
    sub.add_argument(
        "--key-memory", default="expanded", metavar="HOW", help="expanded (default), seeded or mapped"
    )
    sub.add_argument("--input", required=True, metavar="FILE", help="encrypted arguments")
    sub.add_argument("--out", required=True, metavar="FILE", help="encrypted results")
    sub.add_argument("--machine", default="cpu", metavar="MACHINE", help=_machine_help("cpu"))
    sub.add_argument(
        "--sanitise", type=int, metavar="N", help="hide what N results of a model show beside their values"
    )
    sub.add_argument("--public", metavar="FILE", help="the client's public key, for --sanitise")
    sub.add_argument("--statistical", type=int, metavar="BITS", help="bits of --sanitise (30)")
    # Options of a machine in their old places.
    sub.add_argument("--threads", type=int, metavar="N", help=argparse.SUPPRESS)
    sub.add_argument("--butterflies", type=int, metavar="N", help=argparse.SUPPRESS)

    sub = verb("simulate", "Estimate what a program takes on a machine, without running it.")
    sub.add_argument("program", metavar="FILE", help="kernel file, or a limb program of either form")
    sub.add_argument("--machine", default="compact", metavar="MACHINE", help=_machine_help("compact"))
    sub.add_argument(
        "--switching",
        metavar="METHOD",
        help="hybrid, klss, auto, seal or openfhe, in place of a kernel's own",
    )
    sub.add_argument("--spans", metavar="FILE", help="write what each unit does when, as JSON")
    sub.add_argument(
        "--trace", metavar="FILE", help="write the same for trace viewers such as Perfetto, as JSON"
    )
    sub.add_argument("--report", metavar="FILE", help="write a page with a timeline to zoom in, as HTML")

    holder.decrypt_options(verb)
    holder.rewrite_options(verb)
    sub = verb("inspect", "Say what a file is.")
    sub.add_argument("file", metavar="FILE", help="a file of Ringmill, or a folder of such")
    sub.add_argument(
        "--kernel", metavar="KERNEL", help="the kernel that it belongs to: adds levels, errors and keys"
    )
    sub.add_argument(
        "--capacity",
        metavar="SIZE",
        help="of a kernel: what moves over the edge of a chip of this capacity, 128MiB or 298 limbs",
    )
    sub.add_argument(
        "--reorder",
        metavar="OUT",
        help="with --capacity: look for an order that moves less, and write the limb program in it",
    )

    _program(verb)

    sub = verb("params", "Show parameters by name or by need.")
    sub.add_argument(
        "--name", metavar="SET", help="a named set; without it, --depth and --levels all are listed"
    )
    sub.add_argument("--depth", type=int, metavar="N", help="rescales in a row, without bootstrapping")
    sub.add_argument(
        "--levels", type=int, metavar="N", help="products in a row after a bootstrapping: a chain for one"
    )
    sub.add_argument("--scale-bits", type=int, metavar="N", help="log2 of the scale (40, or by --bits)")
    sub.add_argument("--word", type=int, metavar="BITS", help="bits of the widest prime (any)")
    sub.add_argument("--integer-bits", type=int, metavar="N", help="--depth: log2 of the largest value (4)")
    sub.add_argument("--slots", type=int, metavar="N", help="slots of a vector (1; --levels: N/2)")
    sub.add_argument("--security", type=int, metavar="BITS", help="--depth: 128 (default), 192 or 256")
    sub.add_argument(
        "--bits", type=int, metavar="N", help="--levels: bits that the worst slot is right to (22)"
    )
    sub.add_argument("--iterations", type=int, metavar="N", help="--levels: 1 or 2 bootstrappings in a row")
    sub.add_argument("--wide-bits", type=int, metavar="N", help="--levels: log2 of the sine's scale")
    sub.add_argument("--log-n", type=int, metavar="N", help="--levels: the least log2 of N (16)")
    sub.add_argument(
        "--transforms", type=int, metavar="N", help="--levels: levels of each transform, 1 to 6 (2 or 3)"
    )
    sub.add_argument(
        "--arcsine",
        action=argparse.BooleanOptionalAction,
        help="--levels: correct the sine, for two levels (as the ring has capacity)",
    )
    sub.add_argument(
        "--insecure",
        action="store_const",
        const=True,
        help="--levels: rings below 128 bits of security too, for trials",
    )

    sub = verb(
        "build", "Write the hardware of a design, or an engine for a kernel, as a folder with self-test."
    )
    sub.add_argument(
        "design", metavar="DESIGN", help="design file, from ringmill explore; of an engine the kernel's"
    )
    sub.add_argument("--out", required=True, metavar="DIR", help="folder to write; it stands alone")
    sub.add_argument(
        "--machine",
        default="design",
        metavar="MACHINE",
        help="what to build: the design's machine (default); encryptor, the encryption engine of a kernel's "
        "clients; or pipelined, the key-switch engine for a kernel's parameters, with options as in "
        "pipelined:units=2,feeds=1",
    )
    sub.add_argument("--overwrite", action="store_true", help="replace a folder that was written before")

    sub = verb("validate", "Hold designs to decryptions, to the RTL and to syntheses.")
    sub.add_argument(
        "designs", nargs="+", metavar="FILE", help="design files or results files, from ringmill explore"
    )
    sub.add_argument(
        "--points",
        type=int,
        default=5,
        metavar="K",
        help="designs of a results file, its choice first (5)",
    )
    sub.add_argument("--runs", type=int, default=4, metavar="N", help="encrypted runs of each (4)")
    sub.add_argument("--no-rtl", action="store_true", help="leave the simulated core out")
    sub.add_argument(
        "--synthesise", action="store_true", help="count each core's cells by yosys: minutes to hours"
    )
    sub.add_argument("--out", metavar="FILE", help="write the rows as JSON")
    sub.add_argument("--plot", metavar="FILE", help="draw measured over predicted, as SVG")
    _explore(verb)

    sub = verb("calibrate", "Measure this machine's costs, by which key-switch methods are chosen; seconds.")
    sub.add_argument("--out", metavar="FILE", help="file to write, the user's cache by default")
    sub.add_argument(
        "--log-n", type=int, action="append", metavar="N", help="log2 of a ring degree (14 and 16)"
    )

    sub = verb("profile", "Show where a kernel's time goes, and how near it runs to this machine's limits.")
    holder.kernel(sub, "server.rm, or the whole kernel file")
    sub.add_argument("--runs", type=int, default=5, metavar="N", help="timed runs; the least time counts (5)")
    sub.add_argument(
        "--switching",
        metavar="METHOD",
        help="hybrid, klss, auto, seal or openfhe, in place of the kernel's own",
    )

    sub = verb("compare", "Put a paper's figures beside ours.")
    sub.add_argument(
        "paper",
        metavar="PAPER",
        help="a folder of ringmill.studies.papers: casa, coxhe, duong-lee, nguyen, taiyi, "
        "taiyi-parameters; or capacity: what bootstrapping moves over the edge of a chip",
    )
    sub.add_argument(
        "--item",
        metavar="TEXT",
        help="say where the items with this text are, or why not, as in 'Table 3'; an empty one lists all",
    )
    sub.add_argument(
        "--word-bits", type=int, default=54, metavar="W", help="bits of a prime: 32, 36, 52, 54 or 60 (54)"
    )
    sub.add_argument(
        "--bus-bits", type=int, metavar="D", help="memory bits a cycle, the paper's 512 by default"
    )
    sub.add_argument(
        "--latency", type=int, default=40, metavar="N", help="cycles to the first beat of memory (40)"
    )
    sub.add_argument(
        "--effort",
        type=int,
        metavar="N",
        help="passes tried in search of each plan (300,000 for a key switch, 100,000 for the rest)",
    )

    sub = verb("workload", "Run a whole job on real data, or count and save the programs of a large one.")
    sub.add_argument(
        "workload",
        metavar="NAME",
        help="digits (a network), train-digits, train-parity and train-tumours run; bootstrap, helr, "
        "helr-training and resnet-20 are counted",
    )
    sub.add_argument("--save", metavar="FOLDER", help="write the program files of one that is counted")
    sub.add_argument("--run", metavar="FOLDER", help="run resnet-20 or resnet-8 there, or go on with a run")
    sub.add_argument(
        "--threads", type=int, metavar="N", help="worker threads of what runs, all cores by default"
    )
    sub.add_argument(
        "--memory", type=float, metavar="GB", help="gigabytes that what runs may take, else what is free"
    )
    sub.add_argument(
        "--key-memory",
        choices=("expanded", "seeded"),
        help="where what runs keeps keys: every word (expanded), or half of each (seeded)",
    )

    from ringmill.cli import interop, remote

    interop.add(verb)
    remote.add(verb)
    return parser


def _compile(verb: Verb) -> None:
    sub = verb("compile", "Compile a kernel: client.rm for its client, without weights, and server.rm.")
    sub.add_argument("source", metavar="KERNEL.PY:FUNCTION", help="a kernel, or a function that gives one")
    sub.add_argument("--out", required=True, metavar="DIR", help="folder for client.rm and server.rm")
    sub.add_argument("--precision", type=int, metavar="BITS", help="bits after the binary point (20)")
    sub.add_argument("--magnitude", type=float, metavar="M", help="size of encrypted arguments, at most (1)")
    sub.add_argument("--security", type=int, metavar="BITS", help="128 (default), 192 or 256")
    sub.add_argument("--params", metavar="FILE", help="parameters to take, of a client of SEAL, say (chosen)")
    sub.add_argument("--switching", metavar="METHOD", help="hybrid (default), klss, auto, seal or openfhe")
    sub.add_argument("--rotation-keys", type=int, metavar="N", help="rotation keys, at most (any)")
    sub.add_argument("--word", type=int, metavar="BITS", help="bits of the widest prime (any)")
    sub.add_argument(
        "--capacity",
        metavar="SIZE",
        help="choose the limb program for a chip of 128MiB or 298 limbs, say (any)",
    )
    sub.add_argument("--batch", type=int, metavar="N", help="take records along a first axis, about N a call")
    sub.add_argument(
        "--encryption",
        metavar="KEY",
        help="public (default), undivided (a key of OpenFHE or an older version) or secret",
    )
    sub.add_argument("--sanitise", type=int, metavar="N", help="reserve precision for N sanitised results")
    holder.publish_options(sub, "reserve precision for N published decryptions")


def _program(verb: Verb) -> None:
    sub = verb("program", "Write the program of a kernel, or a program file in another form.")
    sub.add_argument("file", metavar="FILE", help="a kernel, a limb program of either form, or an HE program")
    sub.add_argument("--out", required=True, metavar="FILE", help="file to write")
    sub.add_argument(
        "--form",
        choices=("compact", "text", "managed"),
        default="compact",
        help="the limb program in its compact form (default) or as text, or the managed HE program",
    )
    sub.add_argument("--machine", metavar="MACHINE", help="of a kernel: whose limb program is written (cpu)")
    sub.add_argument(
        "--tables", metavar="FILE", help="managed: write vectors to this file, and their digests in the text"
    )
    sub.add_argument(
        "--with-tables", metavar="FILE", help="managed: the vectors of an HE program that names their digests"
    )


def _explore(verb: Verb) -> None:
    sub = verb("explore", "Find encryption parameters and a core for a kernel on a device.")
    sub.add_argument(
        "kernel", metavar="KERNEL.PY:FUNCTION", help="what to explore; coxhe:a to coxhe:i are stored"
    )
    sub.add_argument("--device", metavar="NAME", help="a stored device, or a TOML file of your own")
    sub.add_argument(
        "--target",
        default="compact",
        metavar="NAME",
        help="the kind of machines (compact; ringmill targets lists them); all: compact or pipelined",
    )
    sub.add_argument(
        "--max-error", type=float, default=1e-3, metavar="E", help="error of the worst slot (1e-3)"
    )
    sub.add_argument(
        "--security", type=int, default=128, metavar="BITS", help="128, 192 or 256; 0 for any (128)"
    )
    sub.add_argument(
        "--security-table", default="2024", metavar="YEAR", help="the table that decides: 2018 or 2024 (2024)"
    )
    sub.add_argument(
        "--minimise",
        default="latency",
        metavar="WHAT",
        help="latency (default), area, error, security or energy",
    )
    sub.add_argument("--max-latency-ms", type=float, metavar="MS", help="milliseconds of one run, at most")
    sub.add_argument(
        "--utilisation", type=float, default=0.75, metavar="PART", help="of each resource, at most (0.75)"
    )
    sub.add_argument("--mhz", type=float, metavar="F", help="clock of the core, in place of the device's")
    sub.add_argument(
        "--magnitude", type=float, default=1.0, metavar="M", help="size of encrypted arguments, at most (1)"
    )
    sub.add_argument(
        "--seconds", type=float, default=7.0, metavar="T", help="for the front; the best is found anyway (7)"
    )
    sub.add_argument(
        "--seed", type=int, default=1, metavar="N", help="order in which the front is filled (1)"
    )
    sub.add_argument("--space", metavar="FILE", help="JSON with axes to narrow: docs/explorer.md")
    sub.add_argument(
        "--results", metavar="FILE", help="SQLite file that survives a kill and is taken up again"
    )
    sub.add_argument(
        "--area", metavar="MM2", help="of a large accelerator (--target taiyi), at most (151.6mm2, at 7 nm)"
    )
    sub.add_argument("--bandwidth", metavar="RATE", help="of its memory off chip (1TB/s)")
    sub.add_argument("--time-client", action="store_true", help="measure encryption and decryption here")
    sub.add_argument("--out", metavar="FILE", help="design.json of the best, for ringmill build")
    sub.add_argument("--report", metavar="FILE", help="a page to look around in, as HTML")
    sub.add_argument(
        "--points", metavar="K", type=int, default=0, help="designs of the page to decrypt and compare (0)"
    )
    verb("devices", "List the stored devices.")
    verb("targets", "List the kinds of machines that explore searches, with their axes.")
    verb("machines", "List the machines that run programs, with their options.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""

    def verbs() -> ModuleType:
        from ringmill.cli import verbs

        return verbs

    return run(_parser, verbs, arguments)
