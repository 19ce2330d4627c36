//! A program as text.

use std::fmt;

use ringmill_ckks::Generator;

use crate::he::{Chain, Constant, Flat, Instr, Like, Lookup, Numbers, Op, Program, Value};

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(self, Vectors::Written, f)
    }
}

/// A program as text without its vectors, each named by its digest: what [`super::parse_with_tables`] reads with their tables.
#[derive(Debug, Clone, Copy)]
pub struct Outline<'p>(pub &'p Program);

impl fmt::Display for Outline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(self.0, Vectors::Named, f)
    }
}

/// How vectors of numbers are printed.
#[derive(Clone, Copy)]
enum Vectors {
    Written,
    /// By their digests.
    Named,
}

fn print(p: &Program, vectors: Vectors, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(f, "he @{} {} slots {}", p.name(), p.stage().word(), p.slots())?;
    if let Some(chain) = p.chain() {
        print_chain(chain, f)?;
    }
    for table in p.tables() {
        write!(f, "data @{} ", table.name)?;
        match (vectors, &table.numbers) {
            (Vectors::Named, _) => {}
            (Vectors::Written, Numbers::Real(_)) => f.write_str("real ")?,
            (Vectors::Written, Numbers::Complex(_)) => f.write_str("complex ")?,
        }
        print_numbers(&table.numbers, vectors, f)?;
        writeln!(f)?;
    }
    let mut region = None;
    for (v, instr) in p.values() {
        if instr.region != region {
            region = instr.region;
            let name = region.map_or("", |r| &p.regions()[r.0 as usize]);
            writeln!(f, "region {name:?}")?;
        }
        print_instr(p, v, instr, vectors, f)?;
    }
    for out in p.outputs() {
        write!(f, "output {:?}, {}", out.name, p.value_name(out.value))?;
        if let Some(s) = &out.source {
            write!(f, " @ {:?}:{}", s.file, s.line)?;
        }
        writeln!(f)?;
    }
    writeln!(f, "end")
}

fn print_chain(chain: &Chain, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (log_n, scale, alpha) = (chain.log_n(), chain.scale().to_text(), chain.alpha());
    write!(f, "chain log_n {log_n} scale {scale} q {:?} p {:?} alpha {alpha}", chain.q(), chain.p())?;
    if !chain.levels().is_single() {
        write!(f, " levels {}", chain.levels())?;
    }
    match chain.generator() {
        Generator::Five => writeln!(f),
        other => writeln!(f, " rotations {other}"),
    }
}

fn print_numbers(numbers: &Numbers, vectors: Vectors, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match numbers {
        _ if matches!(vectors, Vectors::Named) => write!(f, "table \"{}\"", numbers.digest()),
        Numbers::Real(v) => write!(f, "{v:?}"),
        Numbers::Complex(v) => {
            f.write_str("[")?;
            for (i, z) in v.iter().enumerate() {
                write!(f, "{}({:?}, {:?})", if i > 0 { ", " } else { "" }, z.re, z.im)?;
            }
            f.write_str("]")
        }
    }
}

fn print_instr(
    p: &Program,
    v: Value,
    instr: &Instr,
    vectors: Vectors,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    write!(f, "{} = {}", p.value_name(v), instr.op.kind().word())?;
    for (i, a) in instr.op.operands().as_slice().iter().enumerate() {
        write!(f, "{}{}", if i > 0 { ", " } else { " " }, p.value_name(*a))?;
    }
    match &instr.op {
        Op::Input(name) | Op::Plain(name) => write!(f, " {name:?}")?,
        Op::Const(c) => print_constant(p, c, vectors, f)?,
        Op::Rotate { k, hoist, .. } => {
            write!(f, ", {k}")?;
            print_hoist(*hoist, f)?;
        }
        Op::Conj { hoist, .. } => print_hoist(*hoist, f)?,
        Op::Sum { count, stride: 1, .. } => write!(f, ", {count}")?,
        Op::Sum { count, stride, .. } => write!(f, ", {count}, {stride}")?,
        Op::Raise { bits, .. } => write!(f, ", {bits}")?,
        Op::Bootstrap { iterations: Some(n), .. } => write!(f, ", {n}")?,
        Op::Lookup { table, .. } => print_lookup(table, f)?,
        Op::AddScalar(_, c) => write!(f, ", {c:?}")?,
        Op::MulScalar { c, scale, .. } => write!(f, ", {c:?}, scale {}", scale.to_text())?,
        Op::Drop(_, level) => write!(f, ", {level}")?,
        _ => {}
    }
    if p.chain().is_some() {
        write!(f, " : {}", instr.ty)?;
    }
    if let Some(bound) = instr.within {
        write!(f, " within {bound:?}")?;
    }
    if let Some(Like { value, off, bias, flat }) = instr.like {
        write!(f, " like {} off {off:?}", p.value_name(value))?;
        if bias > 0.0 {
            write!(f, " bias {bias:?}")?;
        }
        if let Some(Flat { square, from }) = flat {
            write!(f, " flat {square:?} from {from:?}")?;
        }
    }
    if let Some(s) = &instr.source {
        write!(f, " @ {:?}:{}", s.file, s.line)?;
    }
    writeln!(f)
}

fn print_constant(p: &Program, c: &Constant, vectors: Vectors, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(" ")?;
    match c {
        Constant::Real(x) => write!(f, "{x:?}"),
        Constant::Complex(z) => write!(f, "({:?}, {:?})", z.re, z.im),
        Constant::List(numbers) => print_numbers(numbers, vectors, f),
        Constant::Table(id) => write!(f, "@{}", p.table(*id).map_or("?", |t| &t.name)),
    }
}

/// Tables are short: they stand in place whether vectors do or not.
fn print_lookup(table: &Lookup, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (i, entry) in table.entries().iter().enumerate() {
        write!(f, "{}{entry:?}", if i > 0 { ", " } else { ", [" })?;
    }
    write!(f, "], {}", table.first())?;
    if table.noise() > 0.0 { write!(f, ", {:?}", table.noise()) } else { Ok(()) }
}

fn print_hoist(hoist: Option<u32>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    hoist.map_or(Ok(()), |group| write!(f, " hoist {group}"))
}
