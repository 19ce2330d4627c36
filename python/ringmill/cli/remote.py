"""`ringmill serve` and `ringmill remote`: a service, and what its clients do."""

from __future__ import annotations

import argparse
import getpass
import importlib.util
import os
import shlex
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ringmill.cli.places import to_write
from ringmill.cli.running import Verb
from ringmill.errors import CommandError, fail
from ringmill.progress import Show

# The client of HTTP is imported by the tasks that speak to a service: other verbs start without it.
if TYPE_CHECKING:
    from ringmill.remote.client import Client

Facts = dict[str, Any]


def add(verb: Verb) -> None:
    """The options of both verbs."""
    _add_serve(verb)
    add_remote(verb)


def _add_serve(verb: Verb) -> None:
    sub = verb("serve", "Run kernels for clients over HTTP; prints the address and a first token.")
    sub.add_argument("--dir", required=True, metavar="DIR", help="folder that holds everything")
    sub.add_argument("--listen", metavar="ADDRESS", help="where to listen (127.0.0.1:8750)")
    sub.add_argument("--workers", type=int, metavar="N", help="jobs that run at once (1)")
    sub.add_argument("--threads", type=int, metavar="N", help="threads of each job, all cores by default")
    sub.add_argument("--ray", type=int, metavar="N", help="spread batches over N actors of Ray")
    sub.add_argument("--ray-address", metavar="ADDRESS", help="of a cluster that runs; without it, one here")


def add_remote(verb: Verb) -> None:
    """The options of what a client does."""
    sub = verb("remote", "Store files at a service, run jobs there, fetch results.")
    tasks = sub.add_subparsers(dest="task", required=True, metavar="TASK")

    def task(name: str, text: str) -> argparse.ArgumentParser:
        one = tasks.add_parser(name, help=text, description=text, allow_abbrev=False)
        # Where they stand before the task, they hold as well.
        for option, what in (("--json", "print the outcome as JSON"), ("--quiet", "show no progress")):
            one.add_argument(option, action="store_true", default=argparse.SUPPRESS, help=what)
        return one

    one = task("login", "Keep the address of a service and a token, which is asked for.")
    one.add_argument("url", metavar="URL", help="address, as http://127.0.0.1:8750")
    one.add_argument("--ca", metavar="FILE", help="authorities that the service may be of (PEM)")
    one.add_argument(
        "--cert", metavar="FILE", help="the client's certificate, where the service wants one (PEM)"
    )
    one.add_argument("--key", metavar="FILE", help="its private key (PEM)")
    one = task("push", "Store files; prints their hashes.")
    one.add_argument("files", nargs="+", metavar="FILE", help="kernel file, evaluation keys, arguments")
    one = task("run", "Store what is not there yet, run a kernel, fetch the results.")
    one.add_argument("--kernel", required=True, metavar="FILE", help="kernel file, from Compiled.save()")
    one.add_argument("--keys", required=True, metavar="FILE", help="evaluation keys")
    one.add_argument("--input", required=True, metavar="FILE", help="encrypted arguments")
    one.add_argument("--out", required=True, metavar="FILE", help="encrypted results")
    one.add_argument("--deadline", type=float, metavar="S", help="seconds until it is worth nothing (3600)")
    one = task("status", "Show jobs.")
    one.add_argument("job", nargs="?", metavar="JOB", help="one job; the newest are listed without it")
    one = task("fetch", "Fetch the results of a job.")
    one.add_argument("job", metavar="JOB", help="the job")
    one.add_argument("--out", required=True, metavar="FILE", help="encrypted results")


def serve(options: Namespace) -> Facts:
    """Become the service."""
    given = {"listen": options.listen, "workers": options.workers, "threads": options.threads}
    arguments = ["--dir", options.dir]
    for name, value in given.items():
        arguments += [f"--{name}", str(value)] if value is not None else []
    if options.ray is not None:
        arguments += ["--spread", _spreading(options.ray, options.ray_address)]
    from ringmill.remote import binary

    program = binary.find()
    sys.stdout.flush()
    os.execv(program, [str(program), *arguments])


def _spreading(actors: int, address: str | None) -> str:
    """The command that the service gives batches to."""
    if not 1 <= actors <= 1024:
        fail(CommandError, "BadActors", f"--ray is {actors}; give a number of actors from 1 to 1024.")
    if importlib.util.find_spec("ray") is None:
        fail(CommandError, "NoRay", "Spreading batches needs Ray: pip install 'ringmill[ray]'.")
    words = [sys.executable, "-m", "ringmill.remote.spread", "--actors", str(actors)]
    return shlex.join([*words, *(["--address", address] if address else [])])


def remote(options: Namespace) -> Facts:
    """One task of a client."""
    tasks = {"login": _login, "push": _push, "run": _run, "status": _status, "fetch": _fetch}
    return tasks[options.task](options)


def _show(options: Namespace) -> Show:
    return "none" if options.quiet else "auto"


def _client() -> Client:
    from ringmill.remote import Client, Credentials

    found = Credentials.load()
    trust = found.trust
    return Client(found.url, found.token, ca=trust.ca, cert=trust.cert, key=trust.key)


def _login(options: Namespace) -> Facts:
    from ringmill.remote import Client, Credentials
    from ringmill.remote.credentials import TOKEN
    from ringmill.remote.transport import Trust

    token = os.environ.get(TOKEN)
    if not token:
        # Arguments of a command can be seen by other users; what is typed or piped cannot.
        token = getpass.getpass("token: ") if sys.stdin.isatty() else sys.stdin.readline()
    token = token.strip()
    if not token:
        fail(CommandError, "NoToken", f"No token was given. Type it, pipe it, or set {TOKEN}.")
    # As they are found from any folder.
    ca, cert, key = (file and str(Path(file).absolute()) for file in (options.ca, options.cert, options.key))
    with Client(options.url, token, ca=ca, cert=cert, key=key) as client:
        # Whether the service takes it.
        count = len(client.jobs())
    path = Credentials(options.url, token, Trust(ca, cert, key)).save()
    return {"service": options.url, "jobs": count, "kept_in": str(path)}


def _push(options: Namespace) -> Facts:
    from ringmill.remote.steps import params_of

    params = params_of(*options.files)
    with _client() as client:
        pushed = {file: client.push(file, params=params, progress=_show(options)) for file in options.files}
    return {"objects": pushed}


def _run(options: Namespace) -> Facts:
    from ringmill.remote.steps import params_of

    files = (options.kernel, options.keys, options.input)
    target = to_write(options.out, *files)
    show, params = _show(options), params_of(options.kernel)
    with _client() as client:
        hashes = [client.push(file, params=params, progress=show) for file in files]
        job = client.submit(*hashes, deadline=options.deadline)
        job = client.wait(job["id"], progress=show)
        return _fetched(client, job, target)


def _fetched(client: Client, job: Facts, target: Path) -> Facts:
    from ringmill.remote.steps import result_of

    size = client.fetch(result_of(job), target)
    reported = {"job": job["id"], "file": str(target), "bytes": size}
    return {**reported, "seconds": job["seconds"], "predicted_seconds": job["predicted"]}


def _status(options: Namespace) -> Facts:
    with _client() as client:
        return client.job(options.job) if options.job else {"jobs": client.jobs()}


def _fetch(options: Namespace) -> Facts:
    target = to_write(options.out)
    with _client() as client:
        return _fetched(client, client.job(options.job), target)
