//! Instructions as text, one a line: `mac b4 = c4 + b1 * m[0x40 after 3] : 2`.

use std::fmt;

use super::isa::{Instruction, Op};

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.op.name())?;
        if let (Some(bank), true) = (self.a, self.op.is_in_lane()) {
            return write!(f, " b{} : {}", bank.index(), self.modulus);
        }
        if !self.op.is_arithmetic() {
            return Ok(());
        }
        let mut separator = " ";
        if let Some(bank) = self.d {
            write!(f, "{separator}b{}", bank.index())?;
            separator = ", ";
        }
        if let Some(address) = self.store {
            write!(f, "{separator}m[{address:#x}]")?;
        }
        f.write_str(" =")?;
        if let (Op::Mac | Op::MacK, Some(c)) = (self.op, self.c) {
            write!(f, " b{} +", c.index())?;
        }
        if let Some(a) = self.a {
            write!(f, " b{}", a.index())?;
        }
        if let Some(g) = self.permute {
            write!(f, " ^{g}")?;
        }
        if let Some(s) = self.s {
            write!(f, " m[{:#x} after {}]", s.address, s.after)?;
        }
        if let (true, Some(c)) = (!matches!(self.op, Op::Mac | Op::MacK), self.c) {
            write!(f, " b{}", c.index())?;
        }
        if self.swap {
            f.write_str(" swap")?;
        }
        if self.shift != 0 {
            write!(f, " >> {}", self.shift)?;
        }
        if matches!(self.op, Op::AddK | Op::MulK | Op::SubK | Op::MacK | Op::Lift | Op::ShrK) {
            write!(f, " k {:#x}", self.k0)?;
        }
        if self.op == Op::MulK && self.k1 != 0 {
            write!(f, " - {:#x}", self.k1)?;
        }
        if self.op == Op::Lift {
            write!(f, " {:#x} from {}", self.k1, self.source)?;
        }
        write!(f, " : {}", self.modulus)
    }
}
