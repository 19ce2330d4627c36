"""The command line of a client alone: one verb a task, JSON beside the human output.

    ringmill keygen   --kernel client.rm --out DIR
    ringmill encrypt  --kernel client.rm --key public.key --input DATA.npz --out ARGUMENTS
    ringmill decrypt  --kernel client.rm --key secret.key --input RESULTS --out DATA.npz
    ringmill rewrite  --kernel client.rm --input VALUES --out VALUES
    ringmill remote   login URL | push FILE … | run … | status | fetch JOB --out FILE

Exit status: 0 done, 1 refused (the message says why), 2 wrong usage, 130 interrupted, 143 or 129
ended by SIGTERM or SIGHUP, 141 if nobody reads any more what it prints.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from types import ModuleType

from ringmill.cli import holder
from ringmill.cli.running import new_parser, run


def _parser() -> argparse.ArgumentParser:
    from ringmill.cli.remote import add_remote

    parser, verb = new_parser()
    holder.keygen_options(verb)
    holder.encrypt_options(verb)
    holder.decrypt_options(verb)
    holder.rewrite_options(verb)
    add_remote(verb)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""

    def verbs() -> ModuleType:
        from ringmill.cli import verbs

        return verbs

    return run(_parser, verbs, arguments)
