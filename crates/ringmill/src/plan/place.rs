//! A program managed for given parameters, with bootstrappings where its levels do not do.

use std::fmt;

use ringmill_circuits::bootstrap::{Bootstrap, Content, Placed, expand, place};
use ringmill_ckks::{KeyLayout, Level, Params};
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
    let options = Options {
        output_level: wanted.output_level,
        rotation_keys: wanted.rotation_keys,
        ..Options::default()
    };
    let refused = match manage(traced, &Chain::from(params), &options) {
        Ok(managed) => return Ok((managed, Vec::new())),
        Err(refused) => refused,
    };
    // Programs that bootstrap end above the levels that it needs anyway.
    if wanted.output_level.is_some() && !asks(traced) {
        return Err(refused.into());
    }
    let to_do = Bootstrapping { params, promise, options: Options { output_level: None, ..options } };
    match to_do.to_the_end(traced, &refused) {
        Some(bounded) => Ok((bounded, Vec::new())),
        None => to_do.on_the_way(traced, refused),
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
        let floor = self.params.max_level().get().checked_sub(needed)?;
        let options = Options { output_level: Some(Level::new(floor)), ..self.options.clone() };
        let managed = manage(traced, &Chain::from(self.params), &options).ok()?;
        let p = &managed.program;
        let base = |_: &Switch| KeyLayout::base(self.params);
        let noises = predict_fresh(p, self.params, self.promise, &base).ok()?;
        let fits = p.values().all(|(v, instr)| match &instr.ty {
            // Written so that what is not a number does not fit.
            Type::Ct(t) => noises[v.index()].headroom_log2(self.params, t.level, &t.scale) >= 0.0,
            _ => true,
        });
        fits.then_some(managed)
    }

    /// The program with the bootstrappings that it asks for and, where levels run out all the same, as few more as [`place`] finds.
    fn on_the_way(&self, traced: &Program, refused: HeError) -> Result<(Managed, Vec<Place>), Error> {
        let content = if self.promise.real { Content::Real } else { Content::Complex };
        let config = config(self.params, content, None);
        // Its depth is that of what management makes of it: factors in a row are one, for instance.
        let simple = simplify(traced)?;
        let asked = |i: &Instr| match i.op {
            Op::Bootstrap { iterations, .. } => Some(Place::Asked { of: i.source.clone(), iterations }),
            _ => None,
        };
        let mut places: Vec<Place> = simple.instrs().iter().filter_map(asked).collect();
        let refused = match places.is_empty() {
            true => refused,
            false => match self.with_circuits(&simple, &config)? {
                Ok(managed) => return Ok((managed, places)),
                Err(refused) => refused,
            },
        };
        let floor = least_output_level(&Chain::from(self.params), &self.params.default_scale());
        let top = self.params.max_level().get();
        let Some(budget) = config.budget(top, simple.slots(), floor.get())? else {
            return Err(too_short(refused).into());
        };
        let bounds = self.promise.bounds(&simple);
        let (program, placed) = place(&simple, budget, |v: Value| config.takes(bounds[v.index()]))?;
        if placed.is_empty() {
            return Err(refused.into());
        }
        places.extend(placed.into_iter().map(Place::Placed));
        Ok((self.with_circuits(&program, &config)??, places))
    }

    /// The program with circuits in place of its bootstrappings, managed; or why management refuses it.
    fn with_circuits(
        &self,
        program: &Program,
        config: &Bootstrap,
    ) -> Result<Result<Managed, HeError>, Error> {
        let bounds = self.promise.bounds(program);
        // One program raises by one room: that of the usual iterations, which no other number needs more of.
        let arranged = |iterations: Option<u32>| match iterations {
            None => config.clone(),
            Some(_) => Bootstrap {
                room: config.room,
                ..crate::bootstrap::config(self.params, config.content, iterations)
            },
        };
        let expanded = expand(program, arranged, |v: Value| bounds[v.index()])?;
        Ok(manage(&expanded, &Chain::from(self.params), &self.options))
    }
}

/// The refusal, with what would let the program bootstrap.
fn too_short(mut refused: HeError) -> HeError {
    if let Rule::Depth { what, .. } = &mut *refused.rule {
        what.push_str("; this chain is too short to bootstrap on the way, one of `Need::arranged` is not");
    }
    refused
}
