//! `docs/limb-program.md`, printed from the table so that it cannot drift from what the machines implement.

use std::fmt::Write as _;

use super::op::{Immediate, OpSpec, Shape};

/// The reference page of the instruction set, in Markdown.
pub fn markdown() -> String {
    let mut out = String::from(HEAD);
    for row in &OpSpec::TABLE {
        let operands = match row.shape {
            Shape::Input => "one input limb".to_owned(),
            Shape::Same(1) => "one limb".to_owned(),
            Shape::Same(count) => format!("{count} limbs of one modulus"),
            Shape::Other => "one limb of another modulus".to_owned(),
            Shape::Sources => format!("2 to {} limbs of different moduli", OpSpec::MAX_SOURCES),
            Shape::SourcesAndQuotient => format!(
                "2 to {} limbs of different moduli, and the quotient of the same limbs",
                OpSpec::MAX_SOURCES
            ),
            Shape::SourcesOnly => format!("1 to {} limbs of different moduli", OpSpec::MAX_SOURCES),
            Shape::Pairs => "two lists of equal length, one modulus".to_owned(),
        };
        let constant = match row.immediate {
            Immediate::None => "",
            Immediate::Residue => "; constant in [0, q)",
            Immediate::Galois => "; Galois element, odd, below 2N",
        };
        let from = row.from.map_or("coeff or eval", |d| d.name());
        let to = row.to.or(row.from).map_or("the same", |d| d.name());
        let in_place = if row.in_place { "yes" } else { "no" };
        let _ = writeln!(
            out,
            "| `{}` | {operands}{constant} | {from} → {to} | {in_place} | {} |",
            row.syntax,
            row.meaning.replace('|', "\\|")
        );
    }
    out.push_str(TAIL);
    out
}

const HEAD: &str = "\
# The limb program

A limb program is a flat list of operations on *limbs*: polynomials of Z_q[X]/(X^N + 1), N words each. Two machines
that run the same program produce the same bits, because every instruction has one meaning on integers. This page is
printed from `OpSpec::TABLE` in `crates/program/src/limb/op.rs`; a test compares (`RINGMILL_BLESS=1 cargo test -p
ringmill-program` rewrites it).

- **Borders are canonical**: an input, an output and what a machine shows of a value are residues in [0, q). Inside, a
  machine keeps what suits it.
- **Domains**: `coeff` is natural order; in `eval`, word k is the value at ψ^(2·brv(k)+1), ψ the least primitive 2N-th
  root of unity modulo q; a `quotient` limb holds small integers of no modulus.
- **Values** `%7` are defined once. An operand is a value or an input limb `a0.2`, which a machine may read where the
  caller keeps it; `load` copies one into a buffer for machines that compute on local memory only.
- **Input classes**: `data` changes with every run, `key` limbs are read in the order of use and best streamed, `plain`
  limbs are encoded plaintexts.
- **Client inputs**: `secret` limbs are those of the secret key, which a program names and never holds. `sampled` limbs
  are drawn anew for each run: `ternary` and `gaussian` ones are one polynomial of small integers modulo every prime of
  the input, in `coeff`; `uniform(public_key)` and `uniform(ciphertext)` ones are the expansion of a public seed under that
  label, limb i with number i, in `eval`. Small polynomials come from the run's secret seed one after the other, in the order of
  their inputs. Only a machine of a client takes these classes; every other one refuses the program by the name of the input.
  No output may follow from `secret`, `ternary` and `gaussian` limbs alone.
- **Sparse inputs**: `coeff (2^k)` says that all coefficients of a limb are zero except every 2^k-th, from the first on.
  The caller that binds the limbs guarantees it. A machine may use it, since a polynomial in X^(2^k) has a transform of
  N/2^k points, each 2^k times, or ignore it.
- **Regions** are labels on runs of instructions; they carry no meaning.
- **Sections** are whole operations of the scheme: from `section KIND` to `end`. A machine of fixed function takes those that
  it serves, and a host the rest. They change no result, and scheduling drops them. Kinds are `tensor`, `rescale`, `raise`
  and `key_switch`, with their sizes: `key_switch hybrid 5+2/2 rescale` switches five limbs with two special primes, in
  digits of two limbs, and divides by P·q_4. `rescale by 2` divides by the two last primes, where they are one level.
- **Buffers**: after allocation every value has a buffer, `b3:%7 = …`. *In place* below says whether the result may take
  the buffer of the first operand; it never shares the buffer of another one.
- **Forms**: this text, and a compact one of about a fifth of its bytes, which `write_binary` and `read_binary` write and read
  as streams (`crates/program/src/limb/binary.rs` says how). Both give back the same program.

## Instructions

q is the modulus of the result, k runs over all words.

| instruction | operands | domain | in place | meaning |
|---|---|---|---|---|
";

const TAIL: &str = "
## Base conversion

To convert x from primes s_0 … s_(a−1) with product S, scale first: y_i = `mul_const` x_i, [(S/s_i)^−1] mod s_i. Then
Σ_i y_i·(S/s_i) = x + v·S for some v in [0, a), and `quotient` finds the nearest integer to Σ_i y_i/s_i, so that
`convert` yields x in about (−S/2, S/2]. The sum sees 14 bits of each y_i: every term is below 2^28, so 64 of them
stay below 2^34 and fit a word of the narrowest machine. `convert_fast` takes v = 0: its integer lies in
[0, a·S). A single limb has two readings: `lift` takes its residue in (−s/2, s/2), `convert_fast` the one in [0, s), the uncentred
reduction that SEAL and OpenFHE use for their digits.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_in_docs_is_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/limb-program.md");
        if std::env::var_os("RINGMILL_BLESS").is_some() {
            std::fs::write(path, markdown()).unwrap();
        }
        let page = std::fs::read_to_string(path).unwrap();
        assert_eq!(page, markdown(), "run with RINGMILL_BLESS=1 to rewrite docs/limb-program.md");
    }
}
