"""What the holder of a compiled kernel and of evaluation keys does: evaluate, on a machine of its choice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ringmill import _native, memory
from ringmill._checks.ownership import of_kind, one_secret
from ringmill._native import Ciphertext, EvaluationKeys, Executable, MachineSpec, PublicKey
from ringmill.compiled.reported import Reported
from ringmill.errors import KeyMissingError, fail
from ringmill.flooding import BITS, Flooding, hold_count, hold_reserve, sanitised
from ringmill.keys import Keys
from ringmill.log import done
from ringmill.machines import Outside, beside, machine_or_function
from ringmill.progress import Share, Show, share
from ringmill.stopping import Stop
from ringmill.values import Values


class ServerSide(Reported):
    """What a server does with a kernel: it needs no secret."""

    def evaluate(
        self,
        keys: EvaluationKeys | Keys,
        arguments: Values,
        *,
        machine: str | MachineSpec | Outside = "cpu",
        threads: int | None = None,
        butterflies: int | None = None,
        progress: Show = "none",
        sanitise: bool | int = False,
        public: PublicKey | None = None,
        statistical: int = BITS,
        stop: Stop | None = None,
    ) -> Values:
        """Run the program on encrypted arguments; needs no secret.

        Args:
            keys: evaluation keys; the secret key of a ``Keys`` is not touched.
            arguments: from ``encrypt``.
            machine: "cpu" (fast), "reference" (plain interpreter), "compact" (the hardware core, its
                instructions emulated one by one), "verilator" (the core's RTL under Verilator) or
                "board:serial=PATH" (a board's core). "verilator" is built for this degree once, in a minute
                or two, and kept; a larger core that is there serves too. All give the same bits, unless
                ``switching`` has methods chosen by costs and a machine has costs of its own. With
                options as "cpu:threads=4" or "compact:butterflies=8", or as a value of ``rm.machines``
                (docs/machines.md). Or a function that runs limbs elsewhere, as the host of `ringmill build`
                on a board.
            threads: an option of ``machine`` in its old place; it will go.
            butterflies: the same.
            progress: how to show how far a long run is: "none", "auto" (a bar on a terminal, lines
                elsewhere), "bar" or "lines"; or a function of steps done, all steps and a text, of which an
                exception ends the run. "cpu", "reference" and "board" report it.
            sanitise: hide from the client what results show beside their values: each is re-randomised by a
                fresh encryption of zero, and noise floods its error. A number says for how many results of
                one model that holds; ``True`` is one. SECURITY.md states what it promises,
                ``compile(sanitise=…)`` reserves the precision.
            public: the client's public key, which ``sanitise`` needs; that of a ``Keys`` by default.
            statistical: the bits of statistical security of sanitised results.
            stop: a handle by which another thread ends the run, or that has a deadline: `ringmill.Stop`.

        Raises
        ------
            KeyMissingError: a key that the program needs is missing.
            MachineError: a machine that does not exist or cannot run this program, or, by code ``Memory``,
                has less memory than it takes.
            MismatchError: no evaluation keys or no arguments; arguments of another program, or keys and
                arguments of different secret keys.
        """
        server = "Give keys.evaluation first, then the arguments; a secret key stays with the client."
        of_kind("compiled.evaluate()", "keys", keys, (EvaluationKeys, Keys), server)
        evaluation = keys.evaluation if isinstance(keys, Keys) else keys
        self._same_params("evaluation keys", evaluation.params)
        needed = self._needed(self.signature.input_parts)
        runs = self._check_values("arguments", arguments, needed)
        sanitising = Flooding.of_results(sanitise, statistical)
        encrypting = self._to_sanitise(keys, public) if sanitising else None
        if sanitising:
            error = self.sanitised_error(sanitising.decryptions, sanitising.statistical)
            hold_reserve(error, max(self.terms.bounds.values()), f"sanitise={sanitising.decryptions}")
        where = machine_or_function(beside(machine, 2, threads=threads, butterflies=butterflies))
        if isinstance(where, MachineSpec) and where.computes_here:
            self._room_to_run(evaluation)
        if stop is not None:
            of_kind("compiled.evaluate()", "stop", stop, (Stop,), "Make one, as rm.Stop(after=60).")
            stop.check(f"Evaluating kernel {self.name!r}")
        hold_count(sanitising, len(runs), "sanitise")
        results: list[dict[str, Ciphertext]] = []
        with done("evaluate", self.name, machine=where) as facts:
            for at, run in enumerate(runs):
                taken = {name: run[name] for name in needed}
                of = f" ({at + 1} of {len(runs)})" if len(runs) > 1 else ""
                with self._shared(progress, stop, of) as reported:
                    out = self.executable(where).run(taken, evaluation, reported)
                if self.declared:
                    out = {name: self._as_declared(name, cipher) for name, cipher in out.items()}
                if sanitising and encrypting:
                    out = sanitised(out, encrypting, sanitising, self.terms.bounds)
                results.append(out)
            facts["ciphertexts"] = sum(map(len, results))
        return Values._of_runs(
            "results", results, self.name, self.digest, public=self.public, records=arguments.records
        )

    @contextmanager
    def _shared(self, progress: Show, stop: Stop | None, of: str = "") -> Iterator[Share]:
        """What a machine calls now and then: it shows how far it is, and ends the run."""
        with share(f"evaluate {self.name}{of}", progress) as reported:

            def both(done: int, total: int) -> None:
                if stop is not None:
                    stop.check(f"Evaluating kernel {self.name!r}")
                reported(done, total)

            yield both

    def _to_sanitise(self, keys: EvaluationKeys | Keys, public: PublicKey | None) -> PublicKey:
        """The public key that results are re-randomised under."""
        key = keys.public if public is None and isinstance(keys, Keys) else public
        if key is None:
            fail(
                KeyMissingError,
                "PublicKey",
                "sanitise encrypts zero under the client's public key, which evaluation keys do not hold. "
                "Give public=…, from public.key of the client.",
            )
        of_kind("compiled.evaluate()", "public", key, (PublicKey,), "It is public.key of the client.")
        self._same_params("public key", key.params)
        evaluation = keys.evaluation if isinstance(keys, Keys) else keys
        one_secret("public key", key, "evaluation keys", evaluation)
        return key

    def _as_declared(self, name: str, cipher: Ciphertext) -> Ciphertext:
        """A result that states what follows from declared bounds of private weights."""
        error, bound = _native.stated(self.precision, self._noise()[name], self.terms.bounds[name])
        return cipher.restated(max(bound, cipher.magnitude), max(error, cipher.error_log2))

    def _room_to_run(self, keys: EvaluationKeys) -> None:
        """Refuse a run that memory does not hold beside the keys."""
        if self._working is None:
            work = self.work()
            self._working = {"arguments and results": work["data_bytes"], "values": work["peak_bytes"]}
        needed = sum(self._working.values())
        count = len(keys.galois_elements) + keys.has_relin
        seeded = memory.of_keys(self.params, count, keys.forms, seeded=True)

        def without(spared: float) -> float:
            return max(needed - max(spared, 0), 0)

        fits = {
            'keys that are loaded with memory="seeded"': lambda: without(keys.nbytes - seeded),
            'keys that are loaded with memory="mapped"': lambda: without(keys.nbytes),
        }
        memory.room(f"Evaluating kernel {self.name!r}", self._working, fits if keys.nbytes else {})

    def executable(
        self,
        machine: str | MachineSpec | Outside = "cpu",
        threads: int | None = None,
        butterflies: int | None = None,
    ) -> Executable:
        """The lowered program for a machine, as `evaluate` takes it; lowered once."""
        where = machine_or_function(beside(machine, 2, threads=threads, butterflies=butterflies))
        if where not in self._executables:
            self._executables[where] = self._executable(where)
        return self._executables[where]

    def _executable(self, machine: MachineSpec | Outside) -> Executable:
        promised = None if self.public else self.precision
        if not isinstance(machine, MachineSpec):
            return Executable.through(self.plan, machine, promised)
        if machine.to_build is not None:
            from ringmill.project import simulator

            machine = machine.with_options(**{machine.to_build: simulator.library(self, machine)})
        return Executable(self.plan, machine, self.switching, promised, self.capacity)
