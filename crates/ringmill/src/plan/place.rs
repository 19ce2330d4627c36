//! A program managed for given parameters, with bootstrappings where its levels do not do.

use std::fmt;

use ringmill_circuits::bootstrap::{Bootstrap, Content, Placed, expand, place, unmarked};
use ringmill_ckks::{KeyLayout, Level, Params, Scale};
use ringmill_program::he::{Chain, HeError, Instr, Op, Program, Rule, Source, Type, Value};
use ringmill_program::lower::Switch;
use ringmill_program::manage::{
    Managed, Options, Promise, least_output_level, manage, predict_fresh, simplify,
};

use super::{PlanOptions, asks};
use crate::Error;
use crate::bootstrap::config;

/// A place where a program bootstraps, and why; prints as one line.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// The program asks for it.
    Asked {
        /// The place in the user's source.
        of: Option<Source>,
        /// Bootstrappings in a row; as many as the chain is laid out for if `None`.
        iterations: Option<u32>,
    },
    /// It looks numbers up in a table, which is done by a bootstrapping.
    LookedUp {
        /// The place in the user's source.
        of: Option<Source>,
        /// Entries of the table.
        entries: usize,
    },
    /// Its levels run out.
    Placed(Placed),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked { of, iterations } => {
                of.iter().try_for_each(|source| write!(f, "{source}: "))?;
                f.write_str("asked for")?;
                iterations
                    .iter()
                    .try_for_each(|n| write!(f, " in {n} iteration{}", if *n == 1 { "" } else { "s" }))
            }
            Self::LookedUp { of, entries } => {
                of.iter().try_for_each(|source| write!(f, "{source}: "))?;
                write!(f, "looked up in a table of {entries} entries")
            }
            Self::Placed(placed) => placed.fmt(f),
        }
    }
}

/// The program managed for given parameters, bootstrapped where it asks for that or its levels run out; says where and why.
pub(super) fn managed(
    traced: &Program,
    params: &Params,
    promise: &Promise,
    wanted: &PlanOptions,
) -> Result<(Managed, Vec<Place>), Error> {
    let (input_level, input_scale) = wanted.input.clone().unzip();
    let scale = input_scale.clone().unwrap_or_else(|| params.default_scale());
    let (held, size) = held(traced, params, &scale, promise)?.unzip();
    let options = Options {
        input_level,
        input_scale,
        output_level: wanted.output_level.max(held),
        low: wanted.input.is_none(),
        rotation_keys: wanted.rotation_keys,
        at_hand: wanted.at_hand.clone(),
    };
    let refused = match manage(traced, &Chain::from(params), &options) {
        Ok(managed) => return Ok((managed, Vec::new())),
        Err(refused) => match size {
            Some(size) => because_of(refused, size, options.output_level),
            None => refused,
        },
    };
    // Programs that bootstrap end above the levels that it needs anyway.
    if wanted.output_level.is_some() && !asks(traced) {
        return Err(refused.into());
    }
    let mut to_do = Bootstrapping { params, promise, options: Options { output_level: held, ..options } };
    if let Some(bounded) = to_do.to_the_end(traced, &refused) {
        return Ok((bounded, Vec::new()));
    }
    // Programs that bootstrap choose where inputs rest: those from above come down.
    (to_do.options.input_level, to_do.options.low) = (None, true);
    to_do.on_the_way(traced, refused)
}

/// The least level that holds the outputs, and the largest of them, if it is not where outputs of a unit end anyway. What else wraps around on the way does
/// no harm: residues are exact modulo the least modulus to come, and an output that it holds is what they say.
fn held(
    traced: &Program,
    params: &Params,
    scale: &Scale,
    promise: &Promise,
) -> Result<Option<(Level, f64)>, HeError> {
    let chain = Chain::from(params);
    let bounds = promise.bounds(traced);
    let sizes = traced.outputs().iter().map(|o| (bounds[o.value.index()], o));
    let Some((size, output)) = sizes.max_by(|a, b| a.0.total_cmp(&b.0)) else { return Ok(None) };
    // A bound that was not promised says nothing.
    if !size.is_finite() || least_output_level(&chain, scale, 1.0).is_none() {
        return Ok(None);
    }
    match least_output_level(&chain, scale, size) {
        found if found == least_output_level(&chain, scale, 1.0) => Ok(None),
        Some(level) => Ok(Some((level, size))),
        None => {
            let all: f64 = chain.q().iter().map(|&q| (q as f64).log2()).sum();
            let most = (all - scale.log2() - 1.1).exp2();
            let rule = Rule::WrapsAround { size, scale_bits: scale.log2(), most };
            let source = output.source.clone().or_else(|| traced.instr(output.value).source.clone());
            Err(HeError { source, ..HeError::new(rule) })
        }
    }
}

/// What a program is bootstrapped for.
struct Bootstrapping<'a> {
    params: &'a Params,
    promise: &'a Promise,
    options: Options,
}

impl Bootstrapping<'_> {
    /// A program that needs every level of its chain, if the bounds on its values say that none wraps around: management
    /// alone keeps outputs where the modulus exceeds the scale by two bits, whatever they are.
    fn to_the_end(&self, traced: &Program, refused: &HeError) -> Option<Managed> {
        let Rule::Depth { needed, .. } = *refused.rule else { return None };
        let top = self.options.input_level.unwrap_or(self.params.max_level());
        let floor = top.get().checked_sub(needed)?;
        let options = Options { output_level: Some(Level::new(floor)), ..self.options.clone() };
        let managed = manage(traced, &Chain::from(self.params), &options).ok()?;
        let p = &managed.program;
        let base = |_: &Switch| KeyLayout::base(self.params).into();
        let noises = predict_fresh(p, self.params, self.promise, &base).ok()?;
        let fits = p.values().all(|(v, instr)| match &instr.ty {
            // Written so that what is not a number does not fit.
            Type::Ct(t) => noises[v.index()].headroom_log2(self.params, t.level, &t.scale) >= 0.0,
            _ => true,
        });
        fits.then_some(managed)
    }

    /// The program with the bootstrappings that it asks for and, where levels run out all the same, as few more as [`place`] finds.
    /// Where these are more in all than a program takes that asks for none, it is given those: what is asked for says where a
    /// bootstrapping does no harm, and none of them changes a value.
    fn on_the_way(&self, traced: &Program, refused: HeError) -> Result<(Managed, Vec<Place>), Error> {
        let content = if self.promise.real { Content::Real } else { Content::Complex };
        // Its depth is that of what management makes of it: factors in a row are one, for instance.
        let simple = simplify(traced)?;
        let asked = |i: &Instr| match i.op {
            Op::Bootstrap { iterations, .. } => Some(Place::Asked { of: i.source.clone(), iterations }),
            Op::Lookup { ref table, .. } => {
                Some(Place::LookedUp { of: i.source.clone(), entries: table.entries().len() })
            }
            _ => None,
        };
        let mut places: Vec<Place> = simple.instrs().iter().filter_map(asked).collect();
        let config = config(self.params, content, None);
        let refused = match places.is_empty() {
            true => refused,
            false => match self.with_circuits(&simple, &config)? {
                Ok(managed) => return Ok((managed, places)),
                Err(refused) => refused,
            },
        };
        let least = || least_output_level(&Chain::from(self.params), &self.params.default_scale(), 1.0);
        let floor = self.options.output_level.or_else(least).unwrap_or(self.params.max_level());
        let top = self.params.max_level().get();
        let Some(budget) = config.budget(top, simple.slots(), floor.get())? else {
            return Err(too_short(refused).into());
        };
        let placed = |p: &Program| {
            let bounds = self.promise.bounds(p);
            place(p, budget, |v: Value| config.takes(bounds[v.index()]))
        };
        let (mut program, mut more) = placed(&simple)?;
        if more.is_empty() {
            return Err(refused.into());
        }
        let marks = places.iter().filter(|place| matches!(place, Place::Asked { .. })).count();
        if marks > 0 {
            let (bare, alone) = placed(&simplify(&unmarked(&simple)?)?)?;
            if alone.len() < marks + more.len() {
                places.retain(|place| !matches!(place, Place::Asked { .. }));
                (program, more) = (bare, alone);
            }
        }
        places.extend(more.into_iter().map(Place::Placed));
        Ok((self.with_circuits(&program, &config)??, places))
    }

    /// The program with circuits in place of its bootstrappings, managed; or why management refuses it.
    fn with_circuits(
        &self,
        program: &Program,
        config: &Bootstrap,
    ) -> Result<Result<Managed, HeError>, Error> {
        let bounds = self.promise.bounds(program);
        // One program raises by one margin: that of the usual iterations. No other number of them needs a larger one.
        let arranged = |iterations: Option<u32>| match iterations {
            None => config.clone(),
            Some(_) => Bootstrap {
                room: config.room,
                content: config.content,
                ..Bootstrap::of(self.params, iterations)
            },
        };
        let expanded = expand(program, arranged, |v: Value| bounds[v.index()])?;
        Ok(manage(&expanded, &Chain::from(self.params), &self.options))
    }
}

/// The refusal, with what would let the program bootstrap.
/// Says that outputs end so high because of their size.
fn because_of(mut refused: HeError, size: f64, level: Option<Level>) -> HeError {
    if let (Rule::Depth { what, .. }, Some(level)) = (&mut *refused.rule, level) {
        what.push_str(&format!("; outputs as large as {size:.3e} end at level {level} or above"));
    }
    refused
}

fn too_short(mut refused: HeError) -> HeError {
    if let Rule::Depth { what, .. } = &mut *refused.rule {
        what.push_str("; this chain is too short to bootstrap on the way, one of `Need::arranged` is not");
    }
    refused
}
