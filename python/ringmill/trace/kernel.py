"""``@ringmill.kernel``: plain Python functions over encrypted arrays, traced into HE programs."""

from __future__ import annotations

import functools
import itertools
import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ringmill.trace.base import present
from ringmill.trace.marks import tracing
from ringmill.trace.private import Private, declares
from ringmill.trace.tracer import Tracer, revealed
from ringmill.trace.where import refuse

if TYPE_CHECKING:
    from ringmill.compiled import Compiled


def at_prompt(values: Iterable[object]) -> bool:
    """Whether a function of these values is called at the prompt: in a kernel no vector of it has a place."""
    return tracing.get() is None and any(present(value) for value in values)


class Kernel(Tracer):
    """A function that can be traced, compiled, and called on clear NumPy arrays for comparison."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        functools.update_wrapper(self, self.function)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """The function itself: on clear arrays the plain result, on encrypted values part of their trace.

        On encrypted vectors of the prompt it is traced, compiled for their parameters and their level, and
        run with their keys at once; results end as high as that level and the depth let them. A scalar
        stands in every slot of a vector as long as the first argument. Further calls with vectors of the same
        lengths, level and scale use the program again (the latest eight). Clear arguments become part of it.
        """
        if self._may_be_private(args, kwargs):
            bound = self._bind(args, kwargs)
            bound.apply_defaults()
            if tracing.get() is not None:
                refuse(
                    "Private",
                    f"{self.function.__name__} has private numbers, and is called within another kernel",
                    "Declare them where the outer kernel is compiled, and hand them over as arguments",
                    self.where,
                )
            known = self._of_prompt if at_prompt(bound.arguments.values()) else revealed
            bound.arguments.update({name: known(value) for name, value in bound.arguments.items()})
            args, kwargs = bound.args, bound.kwargs
        if at_prompt(itertools.chain(args, kwargs.values())):
            from ringmill.trace.prompt import applied

            return applied(self.function, args, kwargs)
        return self.function(*args, **kwargs)

    def _of_prompt(self, value: Any) -> Any:
        """A clear argument at the prompt, where private numbers are those of a declared bound."""
        if isinstance(value, Private):
            from ringmill.trace.plain import Plain

            return Plain(
                np.asarray(value.values, complex), value.magnitude, not np.iscomplexobj(value.values)
            )
        if declares({"": value}):
            refuse(
                "Arguments",
                f"{self.function.__name__} is given private numbers within a list or a dict",
                "At the prompt give each as an argument of its own, or compile the kernel",
                self.where,
            )
        return value

    def _may_be_private(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether an argument that is given, or a default, has private numbers."""
        defaults = {n: p.default for n, p in self.parameters.parameters.items()}
        return declares({**defaults, **kwargs, "": args})

    def __get__(self, instance: object, owner: type | None = None) -> Kernel:
        """A kernel that is a method: that of the instance, whose attributes are plaintext."""
        return self if instance is None else type(self)(types.MethodType(self.function, instance))

    def compile(self, /, *args: Any, **kwargs: Any) -> Compiled:
        """Trace, then choose parameters and lower to a program that machines run.

        Args:
            *args, **kwargs: the kernel's arguments as for ``trace``, and these options:
            precision: wanted bits after the binary point in the results (20 where parameters are chosen).
            magnitude: bound on the size of the arguments (default 1.0); what follows for other values
                is worked out.
            security: bits, 128 (where parameters are chosen), 192 or 256.
            params: ``ringmill.Params`` to use instead of choosing, which are held to ``precision`` and
                ``security`` if these are given. Those chosen bootstrap if the kernel asks for it or no
                others hold its depth; then for 128 bits of security alone.
            switching: how keys are switched: "hybrid" (default), "klss", or "auto", what takes the
                machine that evaluates the least at each level; with key forms and by level:
                ``key_switching``. "seal" and "openfhe" give the residues that the library would compute.
            calibrate: sample data, a record or several (along a first axis) of every encrypted argument by
                its name. Functions then are polynomials on the intervals that these show, and half as much
                on both sides: a promise about all other data. Arguments without declared bounds get those
                of the samples.
            rotation_keys: the most rotation keys that the program may take, for clients that cannot make,
                send or store one for every distance. Other distances become several rotations, which takes
                longer; ``compiled.cost`` says how many. Left out, every distance has its key. The keys of
                relinearisation, conjugation and encapsulation are not counted.
            encryption: the key that arguments are encrypted under: "public" (default), or "secret", which
                adds less error, so that parameters are smaller. "undivided" is a public key of OpenFHE or an
                older version, which adds 4 to 5 bits more, since it does not divide (`PublicKey.divides`).
            publish: how many decryptions of results will be published, all together. The precision then has a
                reserve for the noise of ``decrypt(…, publish=…)``; it is what remains after it.
            sanitise: the same for results that the server sanitises: how many of one model.
            word: bits of the widest prime, 20 to 60, for a machine of narrow words: a level then has several
                primes. Left out, a level is one prime.
            capacity: of the chip that runs the program, in limbs or as text ("128MiB"). Of the limb programs
                with the same bits that one is taken which moves fewest bytes over its edge;
                ``compiled.ways`` says what was counted. A large program takes seconds more.
            statistical: the bits of statistical security of these (30).
            batch: how many records one call is for, or ``True`` for as many as fit. Arguments and results
                then have a first axis of records, of any length: each has slots of its own, as many as fill
                a ciphertext, and more records take more ciphertexts. An argument without that axis is the
                same for all.
            algebra: ``False`` keeps the program as the kernel says it. Otherwise an equal one takes its place
                if that has fewer levels, key switches or products: constants folded, products balanced,
                polynomials found (docs/algorithms/algebra.md); ``compiled.algebra`` says what it saves. With
                private weights the program always stays.

        Raises
        ------
            ParameterError: parameters given that do not keep what is asked for.
            ProgramError: code ``RotationKeys``, for fewer keys than ``least``, the number that is enough.
                Code ``Least``, for a capacity of fewer limbs than ``least``.
        """
        from ringmill.trace.compiling import compiled

        return compiled(self, args, kwargs)

    def run(self, /, *args: Any, **kwargs: Any) -> Any:
        """Compile for these arguments, make keys, encrypt, evaluate and decrypt, all in this process.

        The shortest road. To run a kernel twice, or on a server, compile it once.

        Args:
            *args, **kwargs: the kernel's arguments, and the options of ``compile`` and of `Compiled.run`.
                Arrays and lists of numbers are encrypted, by their shapes: as ``ringmill.scalar()``,
                ``vector(n)`` or ``matrix(r, c)``, or as the description that is the argument's default. With
                one axis more than described, or with ``batch=True``, the first one is of records.
                Numbers, lists and dicts of arrays, and arguments with another default, stay plaintext.

        Raises
        ------
            EncodingError: arrays that are no finite numbers, or larger than ``magnitude``.
            KernelError: arguments that the kernel does not take; where `trace` raises it.

        >>> import numpy as np, ringmill as rm
        >>> @rm.kernel
        ... def score(x, w=np.array([0.5, -0.25])):
        ...     return x @ w
        >>> round(float(score.run(x=[1.0, 0.5])), 4)
        0.375
        """
        from ringmill.trace.compiling import run

        return run(self, args, kwargs)


_NOTHING: Any = object()


@overload
def kernel(function: Callable[..., Any]) -> Kernel: ...
@overload
def kernel() -> Callable[[Callable[..., Any]], Kernel]: ...
def kernel(function: Any = _NOTHING) -> Any:
    """Decorator that makes a function a kernel; with or without parentheses.

    Raises
    ------
        KernelError: what is no plain function, or a function of arguments that have no name of their own.

    >>> import numpy as np, ringmill as rm
    >>> @rm.kernel
    ... def score(x, w):
    ...     return x @ w
    >>> score.trace(rm.vector(4), np.array([1.0, 2.0, 3.0, 4.0]))
    <kernel score: 4 slots, depth 1; 1 const, 1 input, 1 mul, 1 sum>
    """
    return Kernel if function is _NOTHING else Kernel(function)
