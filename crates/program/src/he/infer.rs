//! The type of each operation's result: the rules of `docs/he-program.md`, written once for builder and verifier.

use super::{Chain, CtType, Level, Op, PtType, Rule, Scale, Type, Value};

/// What the rules need to know of the program around an operation.
pub(super) struct Context<'a> {
    pub(super) slots: usize,
    pub(super) chain: Option<&'a Chain>,
    /// The type of a value.
    pub(super) ty: &'a dyn Fn(Value) -> &'a Type,
    /// How errors call a value.
    pub(super) name: &'a dyn Fn(Value) -> String,
}

/// The result type of `op`. `declared` is needed by `input`, `plain` and `const` of managed programs.
pub(super) fn infer(op: &Op, declared: Option<&Type>, cx: &Context<'_>) -> Result<Type, Rule> {
    check_ranges(op, cx)?;
    match cx.chain {
        None => infer_traced(op, cx),
        Some(chain) => infer_managed(op, declared, chain, cx),
    }
}

fn check_ranges(op: &Op, cx: &Context<'_>) -> Result<(), Rule> {
    match *op {
        Op::Sum { count, stride, .. } if count == 0 || count > cx.slots || stride == 0 => {
            Err(Rule::SumRange { count, slots: cx.slots })
        }
        Op::AddScalar(_, c) | Op::MulScalar { c, .. } if !c.is_finite() => Err(Rule::NotFinite { index: 0 }),
        _ => Ok(()),
    }
}

fn infer_traced(op: &Op, cx: &Context<'_>) -> Result<Type, Rule> {
    let kind = op.kind().word();
    match *op {
        Op::Input(_) => Ok(Type::TracedCt),
        Op::Plain(_) | Op::Const(_) => Ok(Type::TracedPt),
        Op::Add(a, b) | Op::Sub(a, b) | Op::Mul(a, b) => {
            if (cx.ty)(a).is_ct() || (cx.ty)(b).is_ct() {
                return Ok(Type::TracedCt);
            }
            let given = format!(
                "{} and {} are plaintexts; compute this before the program is traced",
                (cx.name)(a),
                (cx.name)(b)
            );
            Err(Rule::Operands { op: kind, expected: "at least one ciphertext", given })
        }
        _ => {
            let &[a] = op.operands().as_slice() else { return Ok(Type::TracedCt) };
            if (cx.ty)(a).is_ct() {
                return Ok(Type::TracedCt);
            }
            let given = format!("{} is a plaintext; compute this before the program is traced", (cx.name)(a));
            Err(Rule::Operands { op: kind, expected: "a ciphertext", given })
        }
    }
}

fn infer_managed(op: &Op, declared: Option<&Type>, chain: &Chain, cx: &Context<'_>) -> Result<Type, Rule> {
    let kind = op.kind().word();
    let ty = match op {
        Op::Input(_) | Op::Plain(_) | Op::Const(_) => infer_source(op, declared)?,
        Op::Raise { a, bits } => infer_raise(*a, *bits, chain, cx)?,
        Op::Relin(_) | Op::Rescale(_) | Op::Drop(..) | Op::Rotate { .. } | Op::Conj { .. } => {
            infer_moved(op, chain, cx)?
        }
        Op::Sum { .. } | Op::Bootstrap { .. } | Op::Lookup { .. } => {
            return Err(Rule::WrongStage { op: kind, stage: "managed" });
        }
        _ => infer_arithmetic(op, cx)?,
    };
    within_chain(&ty, chain)?;
    Ok(ty)
}

/// What comes from outside has the type that is declared.
fn infer_source(op: &Op, declared: Option<&Type>) -> Result<Type, Rule> {
    match (op, declared) {
        (Op::Input(_), Some(t @ Type::Ct(CtType { parts: 2..=3, .. }))) => Ok(t.clone()),
        (Op::Input(_), Some(Type::Ct(t))) => {
            Err(parts_rule(op.kind().word(), "2 or 3 parts", "an input", t.parts, ""))
        }
        (Op::Input(_), _) => Err(Rule::TypeMissing { what: "a managed input" }),
        (_, Some(t @ Type::Pt(_))) => Ok(t.clone()),
        _ => Err(Rule::TypeMissing { what: "a managed plaintext" }),
    }
}

fn infer_arithmetic(op: &Op, cx: &Context<'_>) -> Result<Type, Rule> {
    let kind = op.kind().word();
    Ok(match *op {
        Op::Add(a, b) | Op::Sub(a, b) => {
            let (x, y) = (ct(kind, a, cx)?, ct(kind, b, cx)?);
            same_level(kind, (a, x.level), (b, y.level), cx)?;
            same_scale(kind, (a, &x.scale), (b, &y.scale), cx)?;
            Type::ct(x.parts.max(y.parts), x.level, x.scale.clone())
        }
        Op::AddPlain(a, p) | Op::SubPlain(a, p) => {
            let (x, y) = (ct(kind, a, cx)?, pt(kind, p, cx)?);
            same_level(kind, (a, x.level), (p, y.level), cx)?;
            same_scale(kind, (a, &x.scale), (p, &y.scale), cx)?;
            Type::Ct(x.clone())
        }
        Op::MulPlain(a, p) => {
            let (x, y) = (ct(kind, a, cx)?, pt(kind, p, cx)?);
            same_level(kind, (a, x.level), (p, y.level), cx)?;
            Type::ct(x.parts, x.level, x.scale.mul(&y.scale))
        }
        Op::MulScalar { a, ref scale, .. } => {
            let x = ct(kind, a, cx)?;
            Type::ct(x.parts, x.level, x.scale.mul(scale))
        }
        Op::Mul(a, b) => {
            let (x, y) = (two_parts(kind, a, cx)?, two_parts(kind, b, cx)?);
            same_level(kind, (a, x.level), (b, y.level), cx)?;
            Type::ct(3, x.level, x.scale.mul(&y.scale))
        }
        Op::Square(a) => {
            let x = two_parts(kind, a, cx)?;
            Type::ct(3, x.level, x.scale.mul(&x.scale))
        }
        // A negation, or the sum with a number.
        _ => match op.operands().as_slice() {
            &[a, ..] => Type::Ct(ct(kind, a, cx)?.clone()),
            [] => return Err(Rule::TypeMissing { what: "a managed value" }),
        },
    })
}

/// Operations that change level, parts or slots but not the message's value.
fn infer_moved(op: &Op, chain: &Chain, cx: &Context<'_>) -> Result<Type, Rule> {
    let kind = op.kind().word();
    Ok(match *op {
        Op::Relin(a) => {
            let x = ct(kind, a, cx)?;
            if x.parts != 3 {
                let remedy = "; there is nothing to relinearise";
                return Err(parts_rule(kind, "3 parts", &(cx.name)(a), x.parts, remedy));
            }
            Type::ct(2, x.level, x.scale.clone())
        }
        Op::Rescale(a) => {
            let x = ct(kind, a, cx)?;
            let (Some(below), Some(q)) = (x.level.down(), chain.level_scale(x.level)) else {
                return Err(Rule::LevelExhausted { op: kind, value: (cx.name)(a) });
            };
            Type::ct(x.parts, below, x.scale.div(q))
        }
        Op::Drop(a, to) => {
            let x = ct(kind, a, cx)?;
            if to >= x.level {
                return Err(Rule::DropUp { from: x.level, to });
            }
            Type::ct(x.parts, to, x.scale.clone())
        }
        // By S slots and more it turns what a raise has put beside the packed slots.
        Op::Rotate { k, .. } if k < 1 || k as u64 >= chain.slots() as u64 => {
            return Err(Rule::RotationRange { k, slots: chain.slots() });
        }
        _ => match op.operands().as_slice() {
            &[a, ..] => Type::Ct(two_parts(kind, a, cx)?.clone()),
            [] => return Err(Rule::TypeMissing { what: "a managed value" }),
        },
    })
}

/// From level 0 and scale q_0/2^bits to the top. The operand fills one of N/2S equal parts of the ring, so the sum over the
/// automorphisms that fix it, N/2S times the operand, is the message at this scale.
fn infer_raise(a: Value, bits: u32, chain: &Chain, cx: &Context<'_>) -> Result<Type, Rule> {
    let x = two_parts("raise", a, cx)?;
    let value = || (cx.name)(a);
    if x.level.get() > 0 {
        return Err(Rule::RaiseLevel { value: value(), level: x.level });
    }
    let wanted = chain.raise_scale(bits);
    if x.scale != wanted {
        let (scale, wanted) = (x.scale.to_text(), wanted.to_text());
        return Err(Rule::RaiseScale { value: value(), scale, wanted });
    }
    let copies = chain.slots() / cx.slots;
    Ok(Type::ct(2, chain.top(), wanted.mul(&Scale::pow2(i64::from(copies.trailing_zeros())))))
}

fn within_chain(ty: &Type, chain: &Chain) -> Result<(), Rule> {
    match ty {
        Type::Ct(CtType { level, .. }) | Type::Pt(PtType { level, .. }) if *level > chain.top() => {
            Err(Rule::LevelAboveTop { level: *level, top: chain.top() })
        }
        _ => Ok(()),
    }
}

fn parts_rule(
    op: &'static str,
    expected: &'static str,
    value: &str,
    found: u8,
    remedy: &'static str,
) -> Rule {
    Rule::Parts { op, expected, value: value.into(), found, remedy }
}

fn ct<'a>(op: &'static str, v: Value, cx: &Context<'a>) -> Result<&'a CtType, Rule> {
    match (cx.ty)(v) {
        Type::Ct(t) => Ok(t),
        _ => {
            let given = format!("{} is a plaintext", (cx.name)(v));
            Err(Rule::Operands { op, expected: "a ciphertext here", given })
        }
    }
}

fn pt<'a>(op: &'static str, v: Value, cx: &Context<'a>) -> Result<&'a PtType, Rule> {
    match (cx.ty)(v) {
        Type::Pt(t) => Ok(t),
        _ => {
            let given = format!("{} is a ciphertext", (cx.name)(v));
            Err(Rule::Operands { op, expected: "a ciphertext and a plaintext", given })
        }
    }
}

fn two_parts<'a>(op: &'static str, v: Value, cx: &Context<'a>) -> Result<&'a CtType, Rule> {
    let t = ct(op, v, cx)?;
    if t.parts == 2 {
        return Ok(t);
    }
    Err(parts_rule(op, "2 parts", &(cx.name)(v), t.parts, "; relinearise first"))
}

fn same_level(op: &'static str, a: (Value, Level), b: (Value, Level), cx: &Context<'_>) -> Result<(), Rule> {
    if a.1 == b.1 {
        return Ok(());
    }
    let (left, right) = ((cx.name)(a.0), (cx.name)(b.0));
    Err(Rule::LevelMismatch { op, left, left_level: a.1, right, right_level: b.1 })
}

fn same_scale(
    op: &'static str,
    a: (Value, &Scale),
    b: (Value, &Scale),
    cx: &Context<'_>,
) -> Result<(), Rule> {
    if a.1 == b.1 {
        return Ok(());
    }
    let (left, right) = ((cx.name)(a.0), (cx.name)(b.0));
    Err(Rule::ScaleMismatch { op, left, left_scale: a.1.to_text(), right, right_scale: b.1.to_text() })
}
