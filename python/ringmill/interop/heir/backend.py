"""A backend for HEIR's Python front end: `@heir.compile(scheme="ckks", backend=Backend())`.

Ringmill runs what the compiler writes, so neither a C++ compiler nor OpenFHE is needed.
"""

from __future__ import annotations

from typing import Any

from ringmill.errors import MismatchError, ProgramError, fail
from ringmill.interop.arguments import arguments as joined
from ringmill.interop.heir.program import Program, load


class Client:
    """A compiled function, with the calls of HEIR's own backends.

    `setup()` makes keys, `encrypt_NAME(value)` encrypts an argument, `eval(...)` computes,
    and `decrypt_result(...)` decrypts. A call does all of it.
    """

    def __init__(
        self, program: Program, name: str, arguments: list[str], clear: list[str], options: dict[str, Any]
    ) -> None:
        if clear:
            fail(
                ProgramError,
                "ClearArgument",
                f"{', '.join(clear)} of {name} are not secret. Write their values into the function, or read "
                "the module with ringmill.interop.heir.load and give them to compile().",
            )
        self.program, self.func_name, self.arg_names = program, name, arguments
        self.compiled = program.compile(**options)
        self.func: Any = None
        self._keys: Any = None

    def setup(self) -> None:
        """Make the client's keys, and the evaluation keys that the function needs."""
        self._keys = self.compiled.keygen()

    @property
    def keys(self) -> Any:
        """The client's keys.

        Raises
        ------
        MismatchError
            `setup` was not called.
        """
        if self._keys is None:
            fail(MismatchError, "NoKeys", f"{self.func_name} has no keys yet. Call {self.func_name}.setup().")
        return self._keys

    def encrypt(self, name: str, value: Any) -> dict[str, Any]:
        """Pack and encrypt one argument: its ciphertexts by name."""
        terms, key = self.compiled.terms, self.keys.public
        packed = self.program.pack_argument(self.arg_names.index(name), value)
        return {
            part: key.encrypt(slots, level=terms.level, magnitude=terms.magnitude, scale=terms.scale)
            for part, slots in packed.items()
        }

    def eval(self, *encrypted: dict[str, Any]) -> Any:
        """Compute on encrypted arguments, in the order of the function; needs evaluation keys alone.

        Raises
        ------
        MismatchError
            Arguments in another order, or of other functions.
        """
        ciphers: dict[str, Any] = {}
        for index, (name, parts) in enumerate(zip(self.arg_names, encrypted, strict=True)):
            wanted = self.program.arguments[index].parts
            if not isinstance(parts, dict) or list(parts) != wanted:
                fail(
                    MismatchError,
                    "Argument",
                    f"{self.func_name} takes {name} here. Encrypt it by "
                    f"{self.func_name}.encrypt_{name}(value).",
                )
            ciphers.update(parts)
        return self.compiled.evaluate(self.keys.evaluation, joined(self.compiled, **ciphers))

    def decrypt_result(self, result: Any, **_: Any) -> Any:
        """Decrypt what the function returned, and unpack it."""
        return self.program.unpack(self.compiled.decrypt(self.keys, result))

    def original(self, *arguments: Any, **named: Any) -> Any:
        """Call the Python function itself."""
        return self.func(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("encrypt_") and name[8:] in self.__dict__.get("arg_names", ()):
            return lambda value: self.encrypt(name[8:], value)
        if name == self.__dict__.get("func_name"):
            return self.eval
        raise AttributeError(f"a function of HEIR has no {name}")

    def __call__(self, *arguments: Any) -> Any:
        """Make keys, encrypt, compute, decrypt."""
        if len(arguments) != len(self.arg_names):
            fail(
                MismatchError,
                "Arguments",
                f"{self.func_name} takes {len(self.arg_names)} arguments, and {len(arguments)} were given.",
            )
        self.setup()
        return self.decrypt_result(self.eval(*map(self.encrypt, self.arg_names, arguments)))


class Backend:
    """What `heir.compile` takes as `backend`.

    Args:
        faithful: keep the ring degree and the primes that HEIR chose.
        **options: of `Program.compile`, such as `precision` and `magnitude`.
    """

    def __init__(self, *, faithful: bool = False, **options: Any) -> None:
        self.options = {"faithful": faithful, **options}
        try:
            from heir.interfaces import BackendInterface
        except ImportError:
            return  # without HEIR there is nobody to ask for the class
        BackendInterface.register(Backend)

    def run_backend(
        self,
        workspace_dir: str,
        heir_opt: Any,
        heir_translate: Any,
        func_name: str,
        arg_names: list[str],
        secret_args: list[int],
        heir_opt_output: str,
        debug: bool,
    ) -> Client:
        """Take the module that HEIR's compiler wrote."""
        del workspace_dir, heir_translate, debug
        text = heir_opt.run_binary(input=heir_opt_output, options=["--mlir-print-op-generic"])
        program = load(text + "\n", func_name)
        names = list(arg_names)
        clear = [name for index, name in enumerate(names) if index not in secret_args]
        return Client(program, func_name, names, clear, self.options)
