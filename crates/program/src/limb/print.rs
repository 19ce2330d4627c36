//! The text form of a limb program, which [`super::parse()`] reads back to the same program.

use std::fmt;

use super::op::Shape;
use super::program::LimbProgram;
use super::types::{Domain, LimbType, Operand, OutputId, Source};

impl fmt::Display for LimbProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "limb {} : 2^{} {{", self.name, self.log_n)?;
        for m in &self.moduli {
            writeln!(f, "  modulus {} = {}", m.name, m.modulus.value())?;
        }
        for g in &self.inputs {
            write!(f, "  input {} {} :", g.class, g.name)?;
            self.group_type(f, (g.domain, g.log_stride), &g.moduli)?;
        }
        for g in &self.outputs {
            write!(f, "  output {} :", g.name)?;
            self.group_type(f, (g.domain, 0), &g.moduli)?;
        }
        if let Some(a) = &self.allocation {
            writeln!(f, "  buffers {}", a.buffers)?;
        }
        let mut regions = self.regions.iter().peekable();
        let (mut sections, mut end) = (self.sections.iter().peekable(), None);
        for i in 0..=self.len() {
            if end.take_if(|end| *end as usize == i).is_some() {
                writeln!(f, "end")?;
            }
            while let Some(r) = regions.next_if(|r| r.first as usize == i) {
                writeln!(f, "region {}", r.label)?;
            }
            if let Some(section) = sections.next_if(|s| s.first as usize == i) {
                writeln!(f, "section {}", section.kind)?;
                end = Some(section.end);
            }
            if i < self.len() {
                writeln!(f, "  {}", self.line(i))?;
            }
        }
        writeln!(f, "}}")
    }
}

impl LimbProgram {
    /// Instruction `i` as text, without indentation. `i` must be below [`Self::len`].
    pub fn line(&self, i: usize) -> impl fmt::Display + '_ {
        fmt::from_fn(move |f| self.write_line(f, i))
    }

    fn group_type(
        &self,
        f: &mut fmt::Formatter<'_>,
        (domain, log_stride): (Domain, u32),
        moduli: &[super::ModulusId],
    ) -> fmt::Result {
        write!(f, " {domain}")?;
        if log_stride > 0 {
            write!(f, " (2^{log_stride})")?;
        }
        for &m in moduli {
            write!(f, " {}", self.moduli[m.index()].name)?;
        }
        writeln!(f)
    }

    fn write_line(&self, f: &mut fmt::Formatter<'_>, i: usize) -> fmt::Result {
        let (op, operands) = (self.opcode(i), self.operands(i));
        let Some(dst) = self.defined(i) else {
            let (name, limb) = self.output_name(OutputId(self.nodes[i].dst));
            return write!(f, "{} {} -> {name}.{limb}", op.name(), self.operand(operands[0]));
        };
        if let Some(a) = &self.allocation {
            write!(f, "b{}:", a.buffer_of[dst.index()].0)?;
        }
        write!(f, "%{} = {} ", dst.0, op.name())?;
        match op.spec().shape {
            Shape::Pairs => {
                let (a, b) = operands.split_at(operands.len() / 2);
                write!(f, "[{}], [{}]", self.list(a), self.list(b))?;
            }
            Shape::Sources | Shape::SourcesOnly => write!(f, "[{}]", self.list(operands))?,
            Shape::SourcesAndQuotient => {
                let (sources, quotient) = operands.split_at(operands.len() - 1);
                write!(f, "[{}], {}", self.list(sources), self.list(quotient))?;
            }
            Shape::Input | Shape::Same(_) | Shape::Other => write!(f, "{}", self.list(operands))?,
        }
        if let Some(constant) = self.immediate(i) {
            write!(f, ", {constant}")?;
        }
        write!(f, " : {}", self.type_text(self.value_type(dst)))
    }

    fn list<'a>(&'a self, operands: &'a [Operand]) -> impl fmt::Display + 'a {
        fmt::from_fn(move |f| {
            for (i, &o) in operands.iter().enumerate() {
                let comma = if i == 0 { "" } else { ", " };
                write!(f, "{comma}{}", self.operand(o))?;
            }
            Ok(())
        })
    }

    /// An operand as text: `%7` or `a0.2`. It must come from this program.
    pub fn operand(&self, operand: Operand) -> impl fmt::Display + '_ {
        fmt::from_fn(move |f| match operand.source() {
            Source::Value(v) => write!(f, "%{}", v.0),
            Source::Input(i) => {
                let group = self.input_group(i);
                write!(f, "{}.{}", group.name, i.0 - group.first.0)
            }
        })
    }

    fn type_text(&self, ty: LimbType) -> impl fmt::Display + '_ {
        fmt::from_fn(move |f| match ty.modulus() {
            Some(m) => write!(f, "{} {}", self.moduli[m.index()].name, ty.domain()),
            None => write!(f, "{}", ty.domain()),
        })
    }
}
