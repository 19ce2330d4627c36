"""A trace's values as limb instructions: domains are worked out first, then each line is written.

Adding a number to every coefficient is no limb instruction. It is put off instead: a value in coefficients
is a limb and a number c that every word still lacks. Sums, negatives and multiples carry c along. A word x
+ c modulo s that is taken modulo q without centring is lift(x + c − h) + h for h = (s − 1)/2, because x + c
− h modulo s is centred as x + c − h. So the three lines by which recorders centre (add h, change the
modulus, subtract h) are one `lift`. Where c has to be there, before a transform or at the end, it comes
from an input limb of ones.
"""

from __future__ import annotations

import tempfile
from array import array
from typing import IO, NoReturn

from ringmill.errors import ProgramError, fail
from ringmill.interop.fhetch.columns import BITS, KINDS, Columns, fits
from ringmill.interop.fhetch.trace import Group, Trace

_UNKNOWN, _COEFF, _EVAL = 0, 1, 2

#: Text that is kept in memory before it goes to a file.
_IN_MEMORY = 1 << 26


def _wrong(columns: Columns, value: int, said: str, code: str) -> NoReturn:
    fail(
        ProgramError,
        code,
        f"Line {columns.line[value]}: {said}.",
        line=columns.line[value],
    )


class _Domains:
    """Classes of values of one domain: sums have that of their terms."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.parent = array("I", range(len(columns.kind)))
        self.found = array("B", bytes(len(columns.kind)))

    def root(self, value: int) -> int:
        parent = self.parent
        while parent[value] != value:
            parent[value] = value = parent[parent[value]]
        return value

    def tell(self, value: int, domain: int, at: int) -> None:
        root = self.root(value)
        if self.found[root] not in (_UNKNOWN, domain):
            names = {_COEFF: "coefficients", _EVAL: "values"}
            _wrong(
                self.columns,
                at,
                f"{names[domain]} are wanted, and an operand is in {names[self.found[root]]}",
                "Domain",
            )
        self.found[root] = domain

    def join(self, one: int, other: int, at: int) -> None:
        one, other = self.root(one), self.root(other)
        if one != other:
            known = self.found[other]
            self.parent[other] = one
            if known:
                self.tell(one, known, at)

    def of(self, value: int) -> int:
        # Pointwise alone: any domain will do.
        return self.found[self.root(value)] or _EVAL


def _domains(c: Columns) -> _Domains:
    domains = _Domains(c)
    inputs = {address: value for value, address in c.inputs.items()}
    for _, domain, addresses in c.declared.values():
        for value in (inputs[a] for a in addresses if a in inputs):
            domains.tell(value, _COEFF if domain == "coeff" else _EVAL, value)
    for value in range(len(c.kind)):
        kind, a, b = KINDS[c.kind[value]], c.a[value], c.b[value]
        match kind:
            case "input":
                pass
            case "sr_ntt" | "sr_intt":
                ends = (_COEFF, _EVAL) if kind == "sr_ntt" else (_EVAL, _COEFF)
                domains.tell(a, ends[0], value)
                domains.tell(value, ends[1], value)
            case "sr_mulp" | "sr_automorph_eval":
                for each in (a, b, value) if kind == "sr_mulp" else (a, value):
                    domains.tell(each, _EVAL, value)
            case "sr_mulps" if c.row[c.cell[a]] != c.row[c.cell[value]]:
                domains.tell(a, _COEFF, value)
                domains.tell(value, _COEFF, value)
            case _:
                domains.join(a, value, value)
                if kind in ("sr_addp", "sr_subp"):
                    domains.join(b, value, value)
    return domains


class _Writer:
    """Lines of a limb program, after the declarations."""

    def __init__(self, columns: Columns, log_n: int, out: IO[str]) -> None:
        self.c, self.two_n, self.out = columns, 2 << log_n, out
        self.next = 0
        #: The limb of each value, and what its words still lack.
        self.names: list[str] = []
        self.lacks: dict[int, int] = {}
        #: Rows of `ones` by modulus, and its multiples.
        self.ones: dict[int, int] = {}
        self.multiples: dict[tuple[int, int], str] = {}

    def put(self, text: str, row: int, domain: int) -> str:
        name = f"%{self.next}"
        self.next += 1
        self.out.write(f"  {name} = {text} : q{row} {'coeff' if domain == _COEFF else 'eval'}\n")
        return name

    def shifted(self, name: str, number: int, row: int) -> str:
        """A limb of coefficients and a number added to every word."""
        if number == 0:
            return name
        if (row, number) not in self.multiples:
            one = f"ones.{self.ones.setdefault(row, len(self.ones))}"
            made = one if number == 1 else self.put(f"mul_const {one}, {number}", row, _COEFF)
            self.multiples[row, number] = made
        return self.put(f"add {name}, {self.multiples[row, number]}", row, _COEFF)

    def whole(self, value: int, row: int) -> str:
        """The limb with all that its words lack."""
        return self.shifted(self.names[value], self.lacks.get(value, 0), row)

    def line(self, value: int, kind: str, domain: int) -> None:
        c = self.c
        a, b, number, row = c.a[value], c.b[value], c.number[value], c.row[c.cell[value]]
        q, source = c.moduli[row], c.row[c.cell[a]]
        lack = self.lacks.get(a, 0)
        match kind:
            case "sr_addp" | "sr_subp":
                sign = 1 if kind == "sr_addp" else -1
                name = self.put(f"{kind[3:6]} {self.names[a]}, {self.names[b]}", row, domain)
                lack = lack + sign * self.lacks.get(b, 0)
            case "sr_negp":
                name, lack = self.put(f"neg {self.names[a]}", row, domain), -lack
            case "sr_mulp":
                name = self.put(f"mul {self.names[a]}, {self.names[b]}", row, domain)
            case "sr_ntt":
                name, lack = self.put(f"ntt {self.whole(a, row)}", row, domain), 0
            case "sr_intt":
                name = self.put(f"intt {self.names[a]}", row, domain)
            case "sr_automorph_eval":
                if number % 2 == 0:
                    _wrong(c, value, f"the element {number} of an automorphism is even", "Galois")
                element = number % self.two_n
                name = self.names[a]
                if element != 1:
                    name = self.put(f"automorphism {name}, {element}", row, domain)
            case "sr_mulps":
                name = self.names[a]
                if source != row:
                    half = (c.moduli[source] - 1) // 2
                    below = self.shifted(name, (lack - half) % c.moduli[source], source)
                    name, lack = self.put(f"lift {below}", row, domain), half
                if number % q != 1:
                    name = self.put(f"mul_const {name}, {number % q}", row, domain)
                lack *= number
            case _:  # sr_addps, sr_subps
                name, added = self.names[a], number if kind == "sr_addps" else -number
                if domain == _COEFF:
                    lack += added
                elif added % q:
                    name = self.put(f"add_const {name}, {added % q}", row, domain)
        if lack % q:
            self.lacks[value] = lack % q
        self.names.append(name)


def program_of(c: Columns, name: str, log_n: int, keys_from: int | None) -> Trace:
    """Return the trace as a limb program.

    Raises
    ------
    ProgramError
        Moduli that are no primes of the ring, operands of the wrong domain, even elements of automorphisms.
    """
    used = sorted({c.row[cell] for cell in set(c.cell)})
    unfit = [str(c.moduli[row]) for row in used if not fits(c.moduli[row], log_n)]
    if unfit:
        fail(
            ProgramError,
            "Modulus",
            f"These moduli are no primes of {BITS[0]} to {BITS[-1]} bits that are 1 modulo 2^{log_n + 1}: "
            f"{', '.join(unfit)}. Limb programs compute modulo such primes alone.",
            moduli=unfit,
        )
    domains = _domains(c)
    inputs = _inputs(c, domains, keys_from)
    with tempfile.SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="ascii") as body:
        writer = _Writer(c, log_n, body)
        limbs = {value: f"{group.name}.{i}" for group, values in inputs for i, value in enumerate(values)}
        for value in range(len(c.kind)):
            kind = KINDS[c.kind[value]]
            if kind == "input":
                writer.names.append(limbs[value])
            else:
                writer.line(value, kind, domains.of(value))
        outputs = []
        for group, values in _outputs(c, domains):
            for i, value in enumerate(values):
                body.write(f"  store {writer.whole(value, c.row[c.cell[value]])} -> {group.name}.{i}\n")
            outputs.append(group)
        groups = [group for group, _ in inputs]
        if writer.ones:
            groups.append(Group("ones", "plain", True, (), tuple(c.moduli[row] for row in writer.ones)))
        rows = {c.moduli[row]: row for row in used}
        head = [f"limb {name} : 2^{log_n} {{", *(f"  modulus q{row} = {c.moduli[row]}" for row in used)]
        for group in (*groups, *outputs):
            role = "output" if group.kind == "output" else f"input {group.kind}"
            of = " ".join(f"q{rows[q]}" for q in group.moduli)
            head.append(f"  {role} {group.name} : {'coeff' if group.coefficients else 'eval'} {of}")
        body.seek(0)
        text = "\n".join(head) + "\n" + body.read() + "}\n"
    moduli = tuple(c.moduli[row] for row in used)
    return Trace(name, log_n, moduli, c.instructions, tuple(groups), tuple(outputs), text)


def _group(c: Columns, name: str, kind: str, coefficients: bool, values: list[int]) -> Group:
    addresses = tuple(c.inputs[value] for value in values if value in c.inputs and kind != "output")
    return Group(name, kind, coefficients, addresses, tuple(c.moduli[c.row[c.cell[v]]] for v in values))


def _inputs(c: Columns, domains: _Domains, keys_from: int | None) -> list[tuple[Group, list[int]]]:
    by_address = {address: value for value, address in c.inputs.items()}
    found = []
    for name, (kind, _, addresses) in c.declared.items():
        # What no line reads has no modulus.
        values = [by_address.pop(address) for address in addresses if address in by_address]
        if values:
            found.append((name, kind, values))
    for name, kind in (("x", "data"), ("keys", "key")):
        first = 1 << 32 if keys_from is None else keys_from
        own = [a for a in sorted(by_address) if (a >= first) == (kind == "key")]
        while name in c.declared:
            name += "_"
        found.append((name, kind, [by_address[address] for address in own]))
    return [
        (_group(c, name + end, kind, coefficients, values), values)
        for name, kind, all_values in found
        for end, coefficients, values in _apart(domains, all_values)
    ]


def _outputs(c: Columns, domains: _Domains) -> list[tuple[Group, list[int]]]:
    found = []
    for number, (name, all_values) in enumerate(c.outputs.items()):
        known = name if name.isidentifier() and name.isascii() else f"out{number}"
        for end, coefficients, values in _apart(domains, all_values):
            found.append((_group(c, known + end, "output", coefficients, values), values))
    return found


def _apart(domains: _Domains, values: list[int]) -> list[tuple[str, bool, list[int]]]:
    """Values by domain: a group has one."""
    both = [
        (coefficients, [v for v in values if (domains.of(v) == _COEFF) == coefficients])
        for coefficients in (False, True)
    ]
    present = [(coefficients, own) for coefficients, own in both if own]
    return [("_coeff" if at else "", coefficients, own) for at, (coefficients, own) in enumerate(present)]
