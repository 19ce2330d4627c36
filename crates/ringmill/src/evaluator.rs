//! The evaluator: parameters, a machine, and the programs lowered so far.

use std::fmt;
use std::sync::Arc;

use ringmill_ckks::encoder::Encoder;
use ringmill_ckks::noise::Switching;
use ringmill_ckks::{Ciphertext, KeyIdentity, KeyLayout, Level, Library, Meta, Params, SwitchKey};
use ringmill_machine::{Machine, Watch};
use ringmill_program::cost::Methods;
use ringmill_program::he::{Chain, Program};
use ringmill_program::lower::{KeyId, Method, Switch};
use ringmill_ring::{Poly, Pool};

use crate::Error;
use crate::eager::shape::Shape;
use crate::prepared::{Operands, Prepared};
use crate::recent::Recent;

/// Computes on ciphertexts of one parameter set, on one machine.
///
/// Every operation is a small HE program. Its lowering depends on the shape only (operation, level, parts), is done
/// once a shape and kept for the latest [`PROGRAMS`](Self::PROGRAMS) shapes, so that afterwards an operation costs what its limb
/// program costs. Numbers and rotations are part of the shape. Results come from a
/// pool that takes back the buffers of dropped results: in the steady state no limb is allocated.
///
/// Keys are passed to the operations that need them. Cloning is cheap and shares programs and buffers.
#[derive(Clone)]
pub struct Evaluator(Arc<Inner>);

struct Inner {
    params: Params,
    chain: Chain,
    encoder: Encoder,
    machine: Arc<dyn Machine>,
    /// None: hybrid key switching with keys of the base layout.
    methods: Option<Methods>,
    /// Whose residues are computed, if not the engine's.
    library: Option<Library>,
    pool: Pool,
    programs: Recent<Shape, Prepared>,
}

impl Evaluator {
    /// The most programs that are kept.
    pub const PROGRAMS: usize = 256;

    /// An evaluator on the [default machine](crate::default_machine).
    ///
    /// # Errors
    /// An instruction set in `RINGMILL_ISA` that does not exist or that this CPU lacks.
    pub fn new(params: &Params) -> Result<Self, Error> {
        Self::with_machine(params, crate::default_machine()?)
    }

    /// An evaluator on `machine`.
    ///
    /// # Errors
    /// None for valid parameters.
    pub fn with_machine(params: &Params, machine: Arc<dyn Machine>) -> Result<Self, Error> {
        Self::make(params, machine, None, None)
    }

    /// This evaluator with the key-switch method of every level chosen by the machine's costs. Every key that is passed
    /// to it must have the forms that are chosen.
    ///
    /// ```
    /// use ringmill::{Declared, Evaluator};
    /// use ringmill::ckks::{KeyGenerator, NamedSet, Params, Randomness};
    /// use ringmill::program::cost::{Allowed, CostTable, Methods, worthwhile};
    /// use ringmill::program::he::Chain;
    ///
    /// let params = Params::named(NamedSet::III)?;
    /// let (costs, chain) = (CostTable::shipped(), Chain::from(&params));
    /// let layouts = worthwhile(&costs, &chain, 2)?;
    /// let mut generator = KeyGenerator::new(&params)?;
    /// let secret = generator.secret_key()?;
    /// let mut relin = generator.relin_key(&secret)?;
    /// for &layout in &layouts {
    ///     generator.extend_relin_key(&secret, &mut relin, layout)?;
    /// }
    /// let e = Evaluator::new(&params)?.choosing(Methods::new(&costs, &chain, &layouts, Allowed::Hybrid)?)?;
    /// let plain = e.encode_within([3.0].as_slice(), Declared::bound(4.0), 1, params.max_level(), &params.default_scale())?;
    /// let x = secret.encrypt(&plain, &mut Randomness::from_os()?)?;
    /// let square = e.square_relinearise_rescale(&x, &relin)?;
    /// assert!((e.decode(&secret.decrypt(&square)?)?[0].re - 9.0).abs() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ProgramParams`] if the methods are those of another chain.
    pub fn choosing(&self, methods: Methods) -> Result<Self, Error> {
        if methods.chain() != self.chain() {
            let print = self.params().fingerprint().to_string();
            return Err(Error::ProgramParams { what: "its key-switch methods are for another chain", print });
        }
        Self::make(self.params(), self.machine().clone(), Some(methods), None)
    }

    /// This evaluator with key switches as a library does them: every residue of a result is the one that the library would
    /// compute for the same operations on the same ciphertexts. Methods that were chosen are given up.
    ///
    /// A product that is rescaled is relinearised first and then divided by q_ℓ, as libraries do. Rotations of one ciphertext
    /// share no digits as SEAL does them. There is no bootstrapping.
    ///
    /// # Errors
    /// [`Error::Layout`] if the library has no keys of the parameters' layout: SEAL has one special prime and digits of one
    /// prime.
    pub fn computing_as(&self, library: Library) -> Result<Self, Error> {
        library.check(KeyLayout::base(self.params()))?;
        Self::make(self.params(), self.machine().clone(), None, Some(library))
    }

    /// Whose residues it computes, if not the engine's own.
    pub fn library(&self) -> Option<Library> {
        self.0.library
    }

    /// This evaluator with the methods that take the finished program the least time, if it chooses any.
    pub(crate) fn suited(&self, program: &Program) -> Result<Self, Error> {
        match &self.0.methods {
            None => Ok(self.clone()),
            Some(methods) => {
                Self::make(self.params(), self.machine().clone(), Some(methods.suited(program)?), None)
            }
        }
    }

    fn make(
        params: &Params,
        machine: Arc<dyn Machine>,
        methods: Option<Methods>,
        library: Option<Library>,
    ) -> Result<Self, Error> {
        // One stock of memory for runs, results and what encodes and decodes them.
        let pool = machine.memory().cloned().unwrap_or_default();
        Ok(Self(Arc::new(Inner {
            params: params.clone(),
            chain: Chain::from(params),
            encoder: Encoder::new(params.log_n())?.with_generator(params.generator()).with_pool(pool.clone()),
            machine,
            methods,
            library,
            pool,
            programs: Recent::new(Self::PROGRAMS),
        })))
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.0.params
    }

    /// The machine.
    pub fn machine(&self) -> &Arc<dyn Machine> {
        &self.0.machine
    }

    /// The pool that results come from: that of the machine, if it has one.
    pub fn pool(&self) -> &Pool {
        &self.0.pool
    }

    /// Number of programs lowered and kept.
    pub fn programs_kept(&self) -> usize {
        self.0.programs.len()
    }

    /// The method of a key switch.
    pub fn method(&self, switch: &Switch) -> Method {
        let base = KeyLayout::base(self.params());
        if let Some(library) = self.0.library {
            return Method::Of(library, base);
        }
        let chosen = self.0.methods.as_ref().and_then(|methods| methods.choose(switch));
        chosen.cloned().unwrap_or(Method::Hybrid(base))
    }

    /// The switch with a key at `level`, one of `hoisted` that share digits. Which key it is makes a difference to errors alone: one
    /// that is missing is found when the program runs.
    pub(crate) fn switching(&self, key: Option<&SwitchKey>, level: Level, hoisted: usize) -> Switching {
        // Which key it is makes no difference to the choice.
        let switch = Switch { key: KeyId::Relin, limbs: self.params().limbs(level), hoisted, rescale: false };
        Switching { key: key.map_or(0, SwitchKey::name), manner: self.method(&switch).manner(), level }
    }

    pub(crate) fn encoder(&self) -> &Encoder {
        &self.0.encoder
    }

    pub(crate) fn chain(&self) -> &Chain {
        &self.0.chain
    }

    /// The program of a shape, lowered now if it is new.
    pub(crate) fn prepared(&self, shape: &Shape) -> Result<Arc<Prepared>, Error> {
        if let Some(prepared) = self.0.programs.get(shape) {
            return Ok(prepared);
        }
        let program = shape.program(&self.0.chain)?;
        Ok(self.0.programs.insert(shape, Arc::new(Prepared::new(&program, self)?)))
    }

    /// Runs a shape with one output.
    pub(crate) fn run(
        &self,
        shape: &Shape,
        operands: &Operands<'_>,
        meta: Meta,
    ) -> Result<Ciphertext, Error> {
        Ok(self.run_all(shape, operands, [meta])?.swap_remove(0))
    }

    /// Runs a shape; what its outputs will be is given in their order.
    pub(crate) fn run_all(
        &self,
        shape: &Shape,
        operands: &Operands<'_>,
        metas: impl IntoIterator<Item = Meta>,
    ) -> Result<Vec<Ciphertext>, Error> {
        let identity = operands.identity()?;
        let outputs = self.prepared(shape)?.run(&self.0.params, operands, &self.0.pool, &Watch::default())?;
        outputs.into_iter().zip(metas).map(|(polys, meta)| self.wrap(polys, meta, identity)).collect()
    }

    /// A ciphertext of polynomials computed from what belongs to one secret key.
    pub(crate) fn wrap(
        &self,
        polys: Vec<Poly>,
        meta: Meta,
        identity: Option<KeyIdentity>,
    ) -> Result<Ciphertext, Error> {
        Ok(Ciphertext::from_parts(&self.0.params, polys, meta, identity)?)
    }

    /// Refuses a result whose scale alone exceeds the modulus.
    pub(crate) fn check_scale(&self, meta: &Meta) -> Result<(), Error> {
        let (bits, modulus) = (meta.scale.log2(), self.0.params.log_q(meta.level));
        if bits < modulus {
            return Ok(());
        }
        Err(Error::ScaleOverflow { scale: meta.scale.to_string(), level: meta.level, modulus })
    }

    /// q_level as a scale.
    pub(crate) fn level_scale(&self, level: Level) -> ringmill_ckks::Scale {
        self.0.chain.level_scale(level).cloned().unwrap_or(ringmill_ckks::Scale::ONE)
    }
}

impl fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (machine, kept) = (self.0.machine.name(), self.programs_kept());
        write!(
            f,
            "Evaluator(machine {machine}, parameters {}, {kept} programs kept)",
            self.0.params.fingerprint()
        )
    }
}
