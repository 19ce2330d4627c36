"""``@ringmill.kernel``: plain Python functions over encrypted arrays, traced into HE programs."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import inspect
import itertools
import math
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ringmill._checks.requirements import PRECISION, precision_of
from ringmill._native import Params
from ringmill.errors import KernelError, RingmillError
from ringmill.trace.base import parts_of, present
from ringmill.trace.bounds import positive
from ringmill.trace.callables import code_of, named
from ringmill.trace.graph import Graph
from ringmill.trace.layout import MOST_SLOTS, power_of_two
from ringmill.trace.marks import tracing
from ringmill.trace.private import (
    Private,
    Sizes,
    declares,
    replaced,
)
from ringmill.trace.program import Traced
from ringmill.trace.samples import Samples, checked, declared, sized
from ringmill.trace.signature import Result, Signature
from ringmill.trace.spec import Spec, slots_for
from ringmill.trace.stack import Stack
from ringmill.trace.symbol import Symbol
from ringmill.trace.where import MissingError, MoreSlotsError, Where, raised, refuse

if TYPE_CHECKING:
    from ringmill.compiled import Compiled

# Options of Kernel.compile, and those of Compiled.run and Compiled.encrypt; a kernel's own arguments must be
# called otherwise.
OPTIONS = (
    "params",
    "precision",
    "magnitude",
    "security",
    "switching",
    "rotation_keys",
    "calibrate",
    "encryption",
    "publish",
    "sanitise",
    "statistical",
    "algebra",
    "batch",
)
RUN = ("machine", "progress")
# Options of a machine in their old places; where a kernel has an argument of that name, it is that.
OLD = ("threads", "butterflies")
RESERVED = (*OPTIONS, *RUN)

# How often a kernel is traced anew for closer approximations.
CLOSER = 8


def most_slots(params: object) -> int:
    """Slots of a ciphertext at most: those of the parameters, if any are given."""
    return params.slots if isinstance(params, Params) else MOST_SLOTS


def at_prompt(values: Iterable[object]) -> bool:
    """Whether a function of these values is called at the prompt: in a kernel no vector of it has a place."""
    return tracing.get() is None and any(present(value) for value in values)


@dataclass(frozen=True, slots=True)
class Known:
    """What a trace goes by: the size of arguments, what functions may err by, samples, slots at most.

    ``sizes`` are those of private constants.
    """

    magnitude: float | None
    tolerance: float
    samples: Samples
    most: int
    sizes: Sizes


def _revealed(value: Any) -> Any:
    """A clear argument with its private numbers, for code that runs in the clear."""
    return replaced(value, Private.revealed)


class Kernel:
    """A function that can be traced, compiled, and called on clear NumPy arrays for comparison."""

    def __init__(self, function: Callable[..., Any]) -> None:
        code = code_of(function)
        if code is None:
            raise KernelError(
                f"@kernel takes a plain function, not {type(function).__name__}. "
                "Write `def` and let the function call the object.",
                "NotAFunction",
                {"line": 0},
            )
        self.function = function = named(function)
        self.where = Where(code.co_filename, code.co_firstlineno)
        self.parameters = inspect.signature(function)
        functools.update_wrapper(self, function)
        self._check()

    def _check(self) -> None:
        function, name = self.function, self.function.__name__
        if (
            inspect.isgeneratorfunction(function)
            or inspect.iscoroutinefunction(function)
            or inspect.isasyncgenfunction(function)
        ):
            refuse(
                "UnsupportedConstruct",
                f"{name} is a generator or coroutine",
                "Return the results",
                self.where,
            )
        for parameter in self.parameters.parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                refuse(
                    "UnsupportedConstruct",
                    f"{name} takes {parameter}: the arguments of a kernel are fixed",
                    "Name every argument",
                    self.where,
                )
            if parameter.name in RESERVED:
                refuse(
                    "ReservedName",
                    f"the argument {parameter.name!r} of {name} has the name of an option of compile(), "
                    "run() or encrypt()",
                    f"Call it otherwise; reserved are {', '.join(RESERVED)}",
                    self.where,
                )

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
            known = self._of_prompt if at_prompt(bound.arguments.values()) else _revealed
            bound.arguments.update({name: known(value) for name, value in bound.arguments.items()})
            args, kwargs = bound.args, bound.kwargs
        if at_prompt(itertools.chain(args, kwargs.values())):
            from ringmill.trace.prompt import applied

            return applied(self.function, args, kwargs)
        return self.function(*args, **kwargs)

    def _of_prompt(self, value: Any) -> Any:
        """A clear argument at the prompt, where private numbers are those of a declared bound."""
        if isinstance(value, Private):
            from ringmill.plain import Plain

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

    def __repr__(self) -> str:
        return f"<kernel {self.function.__name__}{self.parameters} at {self.where}>"

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> inspect.BoundArguments:
        """Arguments of a call by name; refused with the kernel's line where they do not fit."""
        name = self.function.__name__
        self._check_names(kwargs)
        try:
            return self.parameters.bind(*args, **kwargs)
        except TypeError as error:
            refuse("Arguments", f"{name}: {error}", f"Its signature is {name}{self.parameters}", self.where)

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Arguments and defaults by name, of which one or more are encrypted."""
        name = self.function.__name__
        bound = self._bind(args, kwargs)
        bound.apply_defaults()
        self._described(bound.arguments)
        if not any(isinstance(value, Spec) for value in bound.arguments.values()):
            refuse(
                "NothingEncrypted",
                f"no argument of {name} is encrypted",
                "Describe encrypted arguments by ringmill.vector(n), matrix(r, c) or scalar()",
                self.where,
            )
        return dict(bound.arguments)

    def _described(self, arguments: dict[str, Any]) -> None:
        """Refuse vectors that are encrypted already where descriptions or clear arguments are wanted."""
        for name, value in arguments.items():
            if present(value):
                refuse(
                    "Encrypted",
                    f"the argument {name!r} of {self.function.__name__} is an encrypted vector of the prompt",
                    f"Call {self.function.__name__} itself with it; to compile, give its description, "
                    "as ringmill.vector(n)",
                    self.where,
                )

    def _check_names(self, given: Iterable[str]) -> None:
        """Refuse what is neither an argument nor an option, such as an option that is misspelt."""
        name, known = self.function.__name__, [*self.parameters.parameters, *OPTIONS]
        for other in given:
            if other not in known:
                near = difflib.get_close_matches(other, known, 1)
                refuse(
                    "Arguments",
                    f"{name} has no argument {other!r}, and compile() no such option",
                    (f"Did you mean {near[0]}? " if near else "")
                    + f"Its signature is {name}{self.parameters}; options are {', '.join(OPTIONS)}",
                    self.where,
                )

    def trace(
        self, /, *args: Any, magnitude: float | None = None, precision: int | None = None, **kwargs: Any
    ) -> Traced:
        """Run the function on symbolic values.

        Encrypted arguments are given as ``ringmill.vector(n)``, ``ringmill.matrix(r, c)`` or
        ``ringmill.scalar()``; everything else is plaintext that becomes part of the program. A bound on the
        size of the arguments, where it is known, can save masks before polynomials; the program is for
        arguments up to that size then. Functions such as ``numpy.exp`` become polynomials on the
        intervals that follow from it and from bounds of the arguments, within the bits of ``precision`` (20).
        Raises ``KernelError``, naming the line, where the kernel asks for what encrypted values cannot give.
        """
        bound = self._bound(args, kwargs)
        clear = {name: _revealed(value) for name, value in bound.items()}
        return self._trace(clear, magnitude, precision=precision)

    def _trace(
        self,
        arguments: dict[str, Any],
        magnitude: float | None,
        least: int = 1,
        *,
        precision: int | None = None,
        calibrate: Any = None,
        params: Params | None = None,
    ) -> Traced:
        """Run the function in as few slots as hold its values, ``least`` or more.

        Functions are approximated so that results keep half of the error that the precision allows; the
        other half is for encryption.
        """
        known = {n: v for n, v in arguments.items() if isinstance(v, Spec)}
        seen: Samples = {} if calibrate is None else checked(calibrate, known, magnitude)
        arguments = {**arguments, **(declared(known, seen, magnitude) if seen else {})}
        arguments, magnitude = sized(arguments, None if magnitude is None else positive(magnitude))
        most = most_slots(params)

        def once(tolerance: float) -> Traced:
            known = Known(magnitude, tolerance, seen, most, {})
            return self._fitting(arguments, known, least)

        return self._close(once, precision, magnitude)

    def _close(
        self, once: Callable[[float], Traced], precision: int | None, magnitude: float | None
    ) -> Traced:
        """Trace with closer approximations until results keep half of what the precision allows."""
        bits = precision_of(precision)
        allowed = 2.0 ** -(1 + (PRECISION if bits is None else bits))
        tolerance = allowed / 2
        for _ in range(CLOSER):
            traced = once(tolerance)
            if magnitude is None or not traced.chooses:
                return traced
            worst = max(traced.approximation_errors(magnitude, chosen=True).values(), default=0.0)
            if worst <= allowed:
                return traced
            tolerance *= 0.75 * allowed / worst
            if not tolerance > 2.0**-60:
                break
        refuse(
            "Precision",
            f"functions in {self.function.__name__} cannot be approximated so closely that results keep "
            f"{bits if bits is not None else PRECISION} bits",
            f"Ask for precision={max(int(-math.log2(worst)) - 1, 1)} or less, or keep errors from growing",
            next(f.where for f in traced.graph.found if f.chosen),
        )

    def _fitting(self, arguments: dict[str, Any], known: Known, least: int) -> Traced:
        """Trace in the least number of slots that holds all values."""
        specs = {name: value for name, value in arguments.items() if isinstance(value, Spec)}
        slots = max(slots_for(specs), least)
        while slots <= MOST_SLOTS:
            try:
                return self._traced(arguments, specs, slots, known)
            except MoreSlotsError as more:
                slots = power_of_two(more.slots)
        refuse(
            "TooManySlots",
            f"{self.function.__name__} needs {slots} slots in a ciphertext; the largest has {MOST_SLOTS}",
            'Split the arguments, pack matrices by columns (packing="columns"), or write the kernel for one '
            "element and run it on a batch, which is cut over ciphertexts",
            self.where,
        )

    def _traced(self, arguments: dict[str, Any], specs: dict[str, Spec], slots: int, known: Known) -> Traced:
        real = all(s.real for s in specs.values())
        graph = Graph(slots, known.magnitude if real else None, self.where)
        graph.tolerance, graph.most, graph.sizes = known.tolerance, known.most, known.sizes
        values = {name: v.symbols(graph, name) if isinstance(v, Spec) else v for name, v in arguments.items()}
        for name, records in known.samples.items():
            for part, value in zip(specs[name].parts(name), parts_of(values[name]), strict=True):
                packed = [specs[name].pack(name, record, slots)[part].real for record in records]
                graph.samples[value.node] = np.array(packed)
        token = tracing.set(graph)
        try:
            returned = self._call(values)
        finally:
            tracing.reset(token)
        form, outputs = self._outputs(graph, returned)
        graph.relax()
        graph.reaches.clear()  # 16 bytes a slot each
        constants = [graph.nodes[i].value for i in graph.live() if graph.nodes[i].plain]
        real = all(s.real for s in specs.values()) and all(bool(np.all(np.imag(c) == 0)) for c in constants)  # type: ignore[arg-type]
        name = self.function.__name__
        name = name if name.isidentifier() and name.isascii() else "kernel"
        return Traced(graph, Signature(name, graph.slots, specs, outputs, real, form=form), known.magnitude)

    def _call(self, values: dict[str, Any]) -> Any:
        positional = [n for n, p in self.parameters.parameters.items() if p.kind is p.POSITIONAL_ONLY]
        named = {n: v for n, v in values.items() if n not in positional}
        try:
            return self.function(*[values[n] for n in positional], **named)
        except RecursionError as error:
            raise KernelError(
                f"{self.where}: {self.function.__name__} recurses without end while it is traced. "
                "Recursion must end by a plaintext argument.",
                "Recursion",
                {"file": self.where.file, "line": self.where.line},
            ) from error
        except (RingmillError, MoreSlotsError):
            raise
        except MissingError as error:
            refuse("UnsupportedConstruct", str(error), error.remedy, raised(error))
        except Exception as error:
            text = str(error).strip().rstrip(".")
            refuse(
                "Raised",
                type(error).__name__ + (f": {text}" if text else ""),
                "A kernel is called once, with symbols in place of encrypted arguments",
                raised(error),
            )

    def _outputs(self, graph: Graph, returned: Any) -> tuple[str, dict[str, Result]]:
        """How results stand together, and the results."""
        form, named = _named_results(returned)
        outputs: dict[str, Result] = {}
        for name, value in named:
            if not isinstance(value, (Symbol, Stack)):
                refuse(
                    "NotEncrypted",
                    f"{self.function.__name__} returns {type(value).__name__} as {name!r}",
                    "Return encrypted values, a tuple or a dict of them; plaintext results need no kernel",
                    self.where,
                )
            parts = value.parts if isinstance(value, Stack) else (value,)
            if any(part.graph is not graph for part in parts):
                refuse(
                    "ForeignValue",
                    "a value of another kernel's trace cannot be used",
                    "Use only this kernel's arguments",
                    self.where,
                )
            stacked = isinstance(value, Stack)
            labels = tuple(f"{name}.{j}" if stacked else name for j in range(len(parts)))
            # 1 and "1" are one name; a column of "a" may be called as another result is, "a.0".
            others = {label for other in outputs.values() for label in other.parts}
            if name in outputs or others.intersection(labels):
                refuse(
                    "SameName",
                    f"{self.function.__name__} returns two results that would both be called {name!r}",
                    "Give each a name of its own",
                    self.where,
                )
            for label, part in zip(labels, parts, strict=True):
                graph.output(label, part.node)
            outputs[name] = Result(labels, parts[0].layout, stacked)
        if not outputs:
            refuse(
                "NotEncrypted", f"{self.function.__name__} returns nothing", "Return the results", self.where
            )
        return form, outputs

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
                ``key_switching``.
            calibrate: sample data, a record or several (along a first axis) of every encrypted argument by
                its name. Functions then are polynomials on the intervals that these show, and half as much
                on both sides: a promise about all other data. Arguments without declared bounds get those
                of the samples.
            rotation_keys: the most rotation keys that the program may take, for clients that cannot make,
                send or store one for every distance. Other distances become several rotations, which takes
                longer; ``compiled.cost`` says how many. Left out, every distance has its key. The keys of
                relinearisation, conjugation and encapsulation are not counted.
            encryption: the key that arguments are encrypted under: "public" (default), or "secret", which
                adds less error, so that parameters are smaller.
            publish: how many decryptions of results will be published, all together. The precision then has a
                reserve for the noise of ``decrypt(…, publish=…)``; it is what remains after it.
            sanitise: the same for results that the server sanitises: how many of one model.
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


def _named_results(returned: Any) -> tuple[str, list[tuple[str, Any]]]:
    """How results stand together, and their names."""
    if isinstance(returned, tuple) and hasattr(returned, "_fields"):
        return "namedtuple", list(zip(returned._fields, returned, strict=True))
    if isinstance(returned, (tuple, list)):
        form = "tuple" if isinstance(returned, tuple) else "list"
        return form, [(f"out{i}", value) for i, value in enumerate(returned)]
    if isinstance(returned, dict):
        return "dict", [(str(name), value) for name, value in returned.items()]
    if dataclasses.is_dataclass(returned) and not isinstance(returned, (type, Symbol, Stack)):
        return "dict", [(f.name, getattr(returned, f.name)) for f in dataclasses.fields(returned)]
    return "", [("out", returned)]


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
