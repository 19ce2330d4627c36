//! Private inputs do not leave a program as they are.

use super::{VerifyError, Violation};
use crate::limb::program::LimbProgram;
use crate::limb::types::{Distribution, InputClass, Operand, OutputId, Source};

/// What a limb follows from.
#[derive(Debug, Clone, Copy, Default)]
struct From {
    private: bool,
    other: bool,
}

/// Whether knowing a limb of this class, or what it alone determines, breaks an encryption.
const fn is_private(class: InputClass) -> bool {
    matches!(class, InputClass::Secret)
        || matches!(class, InputClass::Sampled(Distribution::Ternary | Distribution::Gaussian))
}

/// Every output that follows from a private input follows from another one too. This finds a key that is stored, transformed or
/// scaled; it is no proof that nothing of it can be learned.
pub(super) fn secrecy(p: &LimbProgram) -> Result<(), VerifyError> {
    if !p.inputs().iter().any(|g| is_private(g.class)) {
        return Ok(());
    }
    let mut from = vec![From::default(); p.values()];
    for i in 0..p.len() {
        let of = |o: &Operand| match o.source() {
            Source::Value(v) => from[v.index()],
            Source::Input(input) => {
                let private = is_private(p.input_group(input).class);
                From { private, other: !private }
            }
        };
        let both = |a: From, b: From| From { private: a.private || b.private, other: a.other || b.other };
        let all = p.operands(i).iter().map(of).fold(From::default(), both);
        match p.defined(i) {
            Some(v) => from[v.index()] = all,
            None if all.private && !all.other => {
                let (name, limb) = p.output_name(OutputId(p.nodes[i].dst));
                let violation = Violation::SecretAlone { name: name.to_owned(), limb };
                return Err(VerifyError { at: Some(i), violation });
            }
            None => {}
        }
    }
    Ok(())
}
