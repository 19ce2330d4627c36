//! A program as text.

use std::fmt;

use ringmill_ckks::Generator;

use crate::he::{Chain, Constant, Instr, Like, Numbers, Op, Program, Value};

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "he @{} {} slots {}", self.name(), self.stage().word(), self.slots())?;
        if let Some(chain) = self.chain() {
            print_chain(chain, f)?;
        }
        for table in self.tables() {
            write!(f, "data @{} ", table.name)?;
            f.write_str(if matches!(table.numbers, Numbers::Real(_)) { "real " } else { "complex " })?;
            print_numbers(&table.numbers, f)?;
            writeln!(f)?;
        }
        let mut region = None;
        for (v, instr) in self.values() {
            if instr.region != region {
                region = instr.region;
                let name = region.map_or("", |r| &self.regions()[r.0 as usize]);
                writeln!(f, "region {name:?}")?;
            }
            print_instr(self, v, instr, f)?;
        }
        for out in self.outputs() {
            write!(f, "output {:?}, {}", out.name, self.value_name(out.value))?;
            if let Some(s) = &out.source {
                write!(f, " @ {:?}:{}", s.file, s.line)?;
            }
            writeln!(f)?;
        }
        writeln!(f, "end")
    }
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

fn print_numbers(numbers: &Numbers, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match numbers {
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

fn print_instr(p: &Program, v: Value, instr: &Instr, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{} = {}", p.value_name(v), instr.op.kind().word())?;
    for (i, a) in instr.op.operands().as_slice().iter().enumerate() {
        write!(f, "{}{}", if i > 0 { ", " } else { " " }, p.value_name(*a))?;
    }
    match &instr.op {
        Op::Input(name) | Op::Plain(name) => write!(f, " {name:?}")?,
        Op::Const(c) => print_constant(p, c, f)?,
        Op::Rotate { k, hoist, .. } => {
            write!(f, ", {k}")?;
            print_hoist(*hoist, f)?;
        }
        Op::Conj { hoist, .. } => print_hoist(*hoist, f)?,
        Op::Sum { count, stride: 1, .. } => write!(f, ", {count}")?,
        Op::Sum { count, stride, .. } => write!(f, ", {count}, {stride}")?,
        Op::Raise { bits, .. } => write!(f, ", {bits}")?,
        Op::Bootstrap { iterations: Some(n), .. } => write!(f, ", {n}")?,
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
    if let Some(Like { value, off, bias }) = instr.like {
        write!(f, " like {} off {off:?}", p.value_name(value))?;
        if bias > 0.0 {
            write!(f, " bias {bias:?}")?;
        }
    }
    if let Some(s) = &instr.source {
        write!(f, " @ {:?}:{}", s.file, s.line)?;
    }
    writeln!(f)
}

fn print_constant(p: &Program, c: &Constant, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(" ")?;
    match c {
        Constant::Real(x) => write!(f, "{x:?}"),
        Constant::Complex(z) => write!(f, "({:?}, {:?})", z.re, z.im),
        Constant::List(numbers) => print_numbers(numbers, f),
        Constant::Table(id) => write!(f, "@{}", p.table(*id).map_or("?", |t| &t.name)),
    }
}

fn print_hoist(hoist: Option<u32>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    hoist.map_or(Ok(()), |group| write!(f, " hoist {group}"))
}
