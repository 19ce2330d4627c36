//! A traced kernel, and what becomes of it under parameters.

use ringmill_ckks::params::Security;
use ringmill_ckks::{KeyLayout, Level, Params};
use ringmill_program::he::{Chain, Op, Program, Type, Value, parse};
use ringmill_program::limb::LimbProgram;
use ringmill_program::lower::{Switch, lower};
use ringmill_program::manage::{
    Encryption, KeySet, Managed, Options, Promise, depth, manage, predict_fresh, ranges, simplify,
};

use crate::ExploreError;
use crate::design::KernelSource;

/// A traced kernel, simplified once.
#[derive(Debug, Clone)]
pub struct Kernel {
    source: KernelSource,
    program: Program,
    depth: u32,
    keys: KeySet,
    encryption: Encryption,
}

/// A kernel under parameters.
#[derive(Debug, Clone)]
pub struct Instance {
    /// The parameters.
    pub params: Params,
    /// The program for them.
    pub managed: Managed,
    /// The greatest predicted error of a slot of an output, for inputs that fill their bound.
    pub error: f64,
    /// The least margin above a value before it wraps around, in bits; never negative.
    pub headroom: f64,
}

/// Why a kernel does not run under parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unfit {
    /// More slots than N/2.
    Slots,
    /// Fewer levels than the depth.
    Depth,
    /// Scales leave the bounds that management keeps.
    Scale,
    /// A value could wrap around.
    Headroom,
}

impl Kernel {
    /// Parses and simplifies a traced program.
    ///
    /// # Errors
    /// [`ExploreError::Kernel`] naming the line; bounds that are no positive numbers.
    pub fn new(source: KernelSource) -> Result<Self, ExploreError> {
        for (what, x) in [("magnitude", source.magnitude), ("bound", source.bound)] {
            if !(x > 0.0 && x.is_finite()) {
                return Err(ExploreError::NotPositive { what, value: x });
            }
        }
        let kernel = |e: ringmill_program::he::HeError| ExploreError::Kernel {
            name: source.name.clone(),
            why: e.to_string(),
        };
        let program = simplify(&parse(&source.program).map_err(kernel)?).map_err(kernel)?;
        let keys = KeySet::of(&program);
        // Products of two ciphertexts are relinearised, which a traced program does not say.
        let relin = program.values().any(|(_, i)| match i.op {
            Op::Mul(a, b) => program.instr(a).ty.is_ct() && program.instr(b).ty.is_ct(),
            Op::Square(_) => true,
            _ => false,
        });
        let (depth, keys) = (depth(&program), KeySet { relin, ..keys });
        Ok(Self { source, program, depth, keys, encryption: Encryption::default() })
    }

    /// The same where its arguments are encrypted so.
    #[must_use]
    pub const fn encrypted(mut self, encryption: Encryption) -> Self {
        self.encryption = encryption;
        self
    }

    /// How its arguments are encrypted.
    pub const fn encryption(&self) -> Encryption {
        self.encryption
    }

    /// Where it came from.
    pub const fn source(&self) -> &KernelSource {
        &self.source
    }

    /// The simplified program.
    pub const fn program(&self) -> &Program {
        &self.program
    }

    /// Rescales in a row.
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// The keys that it needs.
    pub const fn keys(&self) -> &KeySet {
        &self.keys
    }

    /// Whether it asks to be bootstrapped.
    pub fn bootstraps(&self) -> bool {
        self.program.instrs().iter().any(|i| matches!(i.op, Op::Bootstrap { .. } | Op::Lookup { .. }))
    }

    /// log2 of the least degree whose slots hold its vectors.
    pub fn least_log_n(&self) -> u32 {
        self.program.slots().trailing_zeros() + 1
    }

    /// log2 of the greatest |slot| of an output, rounded up, at least 0.
    pub fn integer_bits(&self) -> u32 {
        let all = ranges(&self.program, self.source.magnitude, self.source.real);
        let greatest = self.program.outputs().iter().map(|o| all[o.value.index()].min(self.source.bound));
        greatest.fold(1.0, f64::max).log2().ceil() as u32
    }

    /// Manages the kernel for parameters and predicts its error.
    ///
    /// # Errors
    /// What does not fit.
    pub fn instantiate(&self, params: &Params) -> Result<Instance, Unfit> {
        if params.slots() < self.program.slots() {
            return Err(Unfit::Slots);
        }
        let floor = params.max_level().get().checked_sub(self.depth).ok_or(Unfit::Depth)?;
        let options = Options { output_level: Some(Level::new(floor)), ..Options::default() };
        let managed = manage(&self.program, &Chain::from(params), &options).map_err(|_| Unfit::Scale)?;
        let KernelSource { magnitude, bound, real, .. } = self.source;
        let encryption = self.encryption;
        let promise = Promise { inputs: magnitude, plain: magnitude, values: bound, real, encryption };
        let base = |_: &Switch| KeyLayout::base(params).into();
        let noises = predict_fresh(&managed.program, params, &promise, &base).map_err(|_| Unfit::Scale)?;
        let mut headroom = f64::INFINITY;
        for (v, instr) in managed.program.values() {
            if let Type::Ct(t) = &instr.ty {
                headroom = headroom.min(noises[v.index()].headroom_log2(params, t.level, &t.scale));
            }
        }
        if headroom < 0.0 || headroom.is_nan() {
            return Err(Unfit::Headroom);
        }
        let p = &managed.program;
        let error = p.outputs().iter().map(|o| noises[o.value.index()].error(p.slots())).fold(0.0, f64::max);
        Ok(Instance { params: params.clone(), managed, error, headroom })
    }
}

impl Instance {
    /// The limb program.
    ///
    /// # Errors
    /// None for a managed program; the signature is that of lowering.
    pub fn lower(&self) -> Result<LimbProgram, ExploreError> {
        let lowered = lower(&self.managed.program);
        Ok(lowered
            .map_err(|e| ExploreError::Kernel {
                name: self.managed.program.name().into(),
                why: e.to_string(),
            })?
            .program)
    }

    /// Security of the parameters.
    pub fn security(&self) -> &Security {
        self.params.security()
    }

    /// Bytes of evaluation keys, encrypted inputs and encrypted outputs as a core reads them, 8 a word.
    pub fn bytes(&self) -> [u64; 3] {
        let p = &self.managed.program;
        let of = |v: Value| match &p.instr(v).ty {
            Type::Ct(t) => {
                u64::from(t.parts) * self.params.limbs(t.level) as u64 * (8 << self.params.log_n())
            }
            _ => 0,
        };
        let inputs = p.inputs().map(|(v, _, _)| of(v)).sum();
        let outputs = p.outputs().iter().map(|o| of(o.value)).sum();
        [self.managed.summary.key_bytes, inputs, outputs]
    }
}
