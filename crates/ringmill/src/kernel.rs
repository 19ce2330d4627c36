//! Whole programs: managed, lowered once, run as often as one likes.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use ringmill_ckks::noise::Manner;
use ringmill_ckks::{
    Ciphertext, CkksError, EvaluationKeys, KeyIdentity, KeyLayout, Level, Meta, Noise, Plaintext, Scale,
};
use ringmill_machine::Watch;
use ringmill_program::he::{Chain, Constant, Numbers, Op, Output, Program, Type, Value};
use ringmill_program::limb::LimbProgram;
use ringmill_program::lower::{Switch, key_switches};
use ringmill_program::manage::{Encryption, Managed, Options, Summary, manage, predict};
use ringmill_program::schedule::Statistics;
use ringmill_ring::Poly;

use crate::plaintext::not_zero;
use crate::prepared::{Keys, Operands, Prepared};
use crate::{Declared, Error, Evaluator, Stated};

/// What a kernel is given.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// An encrypted vector.
    Cipher(&'a Ciphertext),
    /// A vector in the clear.
    Plain(&'a Numbers),
}

/// Vectors by name.
pub type Inputs<'a> = BTreeMap<String, Input<'a>>;

/// A program compiled for the parameters and the machine of an evaluator.
///
/// It holds no key: the server side needs this, the evaluation keys and ciphertexts.
///
/// ```
/// use ringmill::ckks::{KeyGenerator, Randomness};
/// use ringmill::program::{he, manage};
/// use ringmill::{Declared, Evaluator, Input, Inputs, Kernel};
///
/// let traced = he::parse(
///     r#"he @norm traced slots 4
///        %x = input "x"
///        %s = square %x
///        %t = sum %s, 4
///        output "norm", %t
///        end"#,
/// )?;
/// let want = manage::Accuracy { bits: 15, magnitude: 40.0, ..Default::default() };
/// let plan = manage::choose(&traced, &want)?;
/// let e = Evaluator::new(&plan.params)?;
/// let kernel = Kernel::new(&e, plan.managed)?;
///
/// let mut generator = KeyGenerator::new(&plan.params)?;
/// let secret = generator.secret_key()?;
/// let rotations: Vec<i64> = kernel.summary().keys.rotations.iter().map(|&k| k as i64).collect();
/// let keys = generator.evaluation_keys(&secret, &rotations, false)?;
/// let (_, level, scale) = kernel.cipher_inputs().next().ok_or("no input")?;
/// let plain = e.encode_within([1.0, 2.0, 3.0, 4.0].as_slice(), Declared::bound(4.0), 4, level, scale)?;
/// let x = secret.encrypt(&plain, &mut Randomness::from_os()?)?;
///
/// let results = kernel.run(&Inputs::from([("x".into(), Input::Cipher(&x))]), &keys)?;
/// let norm = e.decode(&secret.decrypt(&results["norm"])?)?;
/// assert!((norm[0].re - 30.0).abs() < 1.0 / 32768.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Kernel {
    evaluator: Evaluator,
    managed: Managed,
    prepared: Prepared,
    /// Ciphertext inputs in order.
    ciphers: Vec<(Value, String)>,
    /// `plain` and `const` instructions in order; constants are encoded already.
    plains: Vec<(Value, Option<Poly>)>,
    /// How keys are switched, as the evaluator's methods do it.
    manners: HashMap<Switch, Manner>,
    /// Bounds on every value, which keep predictions tight. `None`: the bounds that the program promises.
    bounds: Option<Vec<f64>>,
    /// Whether inputs are promised to be real.
    real: bool,
    /// Bound on vectors in the clear.
    plain: Declared,
    /// What results carry.
    stated: Stated,
    /// The program by which errors are predicted, if it is another one: with bounds in place of private numbers.
    predicted_by: Option<Program>,
}

impl Kernel {
    /// Compiles a managed program.
    ///
    /// # Errors
    /// [`Error::ProgramParams`] if it is managed for other parameters; what lowering, encoding of constants or the
    /// machine refuses.
    pub fn new(evaluator: &Evaluator, managed: Managed) -> Result<Self, Error> {
        let p = &managed.program;
        let print = evaluator.params().fingerprint().to_string();
        match p.chain() {
            None => return Err(Error::ProgramParams { what: "it is traced, not managed", print }),
            Some(chain) if chain != evaluator.chain() => {
                return Err(Error::ProgramParams { what: "its chain differs from theirs", print });
            }
            Some(_) => {}
        }
        let evaluator = &evaluator.suited(p)?;
        let prepared = Prepared::new(p, evaluator)?;
        let ciphers = p.inputs().map(|(v, name, _)| (v, name.to_owned())).collect();
        let mut plains = Vec::new();
        for (v, instr) in p.values() {
            match &instr.op {
                Op::Plain(_) => plains.push((v, None)),
                Op::Const(c) => {
                    let compact = prepared.is_compact(v);
                    plains.push((v, Some(encode_constant(evaluator, p, (v, c), compact)?)));
                }
                _ => {}
            }
        }
        let manner = |switch: Switch| (switch, evaluator.method(&switch).manner());
        let manners = key_switches(p).into_values().map(manner).collect();
        Ok(Self {
            evaluator: evaluator.clone(),
            managed,
            prepared,
            ciphers,
            plains,
            manners,
            bounds: None,
            real: false,
            plain: Declared::default(),
            stated: Stated::Promise { bits: None, encryption: Encryption::default() },
            predicted_by: None,
        })
    }

    /// The same kernel, whose results carry this. [`Stated::Promise`] of nothing if it is not said.
    #[must_use]
    pub fn stating(self, stated: Stated) -> Self {
        Self { stated, ..self }
    }

    /// The same kernel, which takes vectors in the clear within this bound.
    #[must_use]
    pub fn with_plain_bound(self, plain: Declared) -> Self {
        Self { plain, ..self }
    }

    /// The same kernel, whose results carry predictions that hold for any vectors as large as those of its program: nothing else
    /// of its vectors shows. Numbers that stand in all slots count as public. `declared` bounds the vectors by their names, see
    /// [`Program::with_vectors_bounded`].
    #[must_use]
    pub fn with_private_vectors(self, declared: &BTreeMap<String, f64>) -> Self {
        let predicted_by = Some(self.program().with_vectors_bounded(declared));
        Self { predicted_by, stated: Stated::Prediction, bounds: None, ..self }
    }

    /// The same kernel, whose predictions of errors rely on a bound on |slot| of every value of its program: those of
    /// [`Plan::bounds`](crate::Plan::bounds), and on real inputs if that is promised. There must be one bound
    /// an instruction; bounds of another number are ignored.
    #[must_use]
    pub fn with_bounds(self, bounds: Vec<f64>, real: bool) -> Self {
        let fit = bounds.len() == self.program().instrs().len();
        Self { bounds: fit.then_some(bounds), real: fit && real, ..self }
    }

    /// Manages a traced program for the evaluator's parameters and compiles it.
    ///
    /// # Errors
    /// What management refuses: too few levels, scales that drift; as [`new`](Self::new).
    pub fn compile(evaluator: &Evaluator, traced: &Program, options: &Options) -> Result<Self, Error> {
        Self::new(evaluator, manage(traced, &Chain::from(evaluator.params()), options)?)
    }

    /// The evaluator.
    pub fn evaluator(&self) -> &Evaluator {
        &self.evaluator
    }

    /// The managed program.
    pub fn program(&self) -> &Program {
        &self.managed.program
    }

    /// Depth, keys, counts.
    pub fn summary(&self) -> &Summary {
        &self.managed.summary
    }

    /// The limb program that the machine runs.
    pub fn limb_program(&self) -> &LimbProgram {
        self.prepared.executable().program()
    }

    /// What one run costs, by counting: transforms, multiplications, bytes of keys and data, peak of live limbs.
    pub fn cost(&self) -> Statistics {
        Statistics::of(self.limb_program())
    }

    /// The layout of the key that a switch of the program reads: its error depends on it.
    pub fn layout(&self, switch: &Switch) -> KeyLayout {
        self.manner(switch).layout
    }

    /// How a switch of the program is done.
    fn manner(&self, switch: &Switch) -> Manner {
        let base = || KeyLayout::base(self.evaluator.params()).into();
        self.manners.get(switch).copied().unwrap_or_else(base)
    }

    /// The encrypted inputs: name, level and scale to encrypt at. Ciphertexts of a higher level serve as well.
    pub fn cipher_inputs(&self) -> impl Iterator<Item = (&str, Level, &Scale)> {
        self.program().inputs().filter_map(|(_, name, ty)| match ty {
            Type::Ct(t) => Some((name, t.level, &t.scale)),
            _ => None,
        })
    }

    /// Names of the vectors given in the clear.
    pub fn plain_inputs(&self) -> impl Iterator<Item = &str> {
        let mut names: Vec<&str> = self.program().plains().map(|(_, name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter()
    }

    /// Runs on encrypted and clear inputs; gives ciphertexts by the names of the program's outputs, each with what is
    /// [stated](Stated) of its error.
    ///
    /// # Errors
    /// [`Error::BeyondBound`] for an unencrypted vector beyond its declared bound. [`Error::MissingInput`],
    /// [`Error::UnknownInput`], [`Error::InputKind`], [`Error::InputLevel`], [`Error::InputScale`],
    /// [`Error::InputSlots`]. Errors for keys that are missing or of other parameters, inputs or keys of
    /// different secret keys, and numbers that cannot be encoded.
    pub fn run(
        &self,
        inputs: &Inputs<'_>,
        keys: &EvaluationKeys,
    ) -> Result<BTreeMap<String, Ciphertext>, Error> {
        self.run_watched(inputs, keys, &Watch::default())
    }

    /// As [`run`](Self::run), while another thread may see how far the machine is, and may end it: `cpu` and `reference` then do so
    /// within a task, other machines where they would have ended.
    ///
    /// # Errors
    /// [`MachineError::Stopped`](ringmill_machine::MachineError::Stopped); as [`run`](Self::run).
    pub fn run_watched(
        &self,
        inputs: &Inputs<'_>,
        keys: &EvaluationKeys,
        watch: &Watch,
    ) -> Result<BTreeMap<String, Ciphertext>, Error> {
        self.evaluator.check_params("keys", keys.params())?;
        self.check_names(inputs)?;
        let ciphers = self
            .ciphers
            .iter()
            .map(|(v, name)| self.cipher(inputs, *v, name))
            .collect::<Result<Vec<_>, _>>()?;
        let identity = self.identity(&ciphers, keys)?;
        let fresh = self.encode_plains(inputs)?;
        let plains: Vec<&Poly> = self
            .plains
            .iter()
            .filter_map(|(v, constant)| constant.as_ref().or_else(|| Some(fresh.get(v)?.poly())))
            .collect();
        let (relin, encapsulation) = (keys.relin().ok(), keys.encapsulation().ok());
        let keys = Keys { relin, galois: Some(keys.galois()), encapsulation };
        let operands = Operands { ciphers: &ciphers, plains: &plains, keys };
        let metas = self.metas(&ciphers)?;
        let results = self.prepared.run(self.evaluator.params(), &operands, self.evaluator.pool(), watch)?;
        let names = self.program().outputs().iter().map(|o| o.name.clone());
        names
            .zip(results.into_iter().zip(metas))
            .map(|(name, (polys, meta))| Ok((name, self.evaluator.wrap(polys, meta, identity)?)))
            .collect()
    }

    /// The one secret key of all inputs and of the evaluation keys.
    fn identity(
        &self,
        ciphers: &[&Ciphertext],
        keys: &EvaluationKeys,
    ) -> Result<Option<KeyIdentity>, CkksError> {
        let inputs = self.ciphers.iter().zip(ciphers);
        let named = inputs.map(|((_, name), cipher)| (format!("input \"{name}\""), cipher.identity()));
        KeyIdentity::common(named.chain([("evaluation keys".to_owned(), keys.identity())]))
    }

    fn expected(&self) -> String {
        let ciphers = self.ciphers.iter().map(|(_, name)| format!("{name} (encrypted)"));
        let plains = self.plain_inputs().map(|name| format!("{name} (in the clear)"));
        ciphers.chain(plains).collect::<Vec<_>>().join(", ")
    }

    fn check_names(&self, inputs: &Inputs<'_>) -> Result<(), Error> {
        let known = |name: &str| {
            self.ciphers.iter().any(|(_, n)| n == name) || self.plain_inputs().any(|n| n == name)
        };
        match inputs.keys().find(|name| !known(name)) {
            Some(name) => Err(Error::UnknownInput { name: name.clone(), expected: self.expected() }),
            None => Ok(()),
        }
    }

    fn input<'a>(&self, inputs: &Inputs<'a>, name: &str) -> Result<Input<'a>, Error> {
        let missing = || Error::MissingInput { name: name.to_owned(), expected: self.expected() };
        inputs.get(name).copied().ok_or_else(missing)
    }

    /// The ciphertext of an input, if it is what the program takes.
    fn cipher<'a>(&self, inputs: &Inputs<'a>, v: Value, name: &str) -> Result<&'a Ciphertext, Error> {
        let name = name.to_owned();
        let c = match self.input(inputs, &name)? {
            Input::Cipher(c) => c,
            Input::Plain(_) => {
                return Err(Error::InputKind { name, given: "vector in the clear", expected: "ciphertext" });
            }
        };
        self.evaluator.check_params("ciphertext", c.params())?;
        let Type::Ct(t) = &self.program().instr(v).ty else { return Ok(c) };
        if c.polys().len() != usize::from(t.parts) {
            return Err(Error::NotRelinearised { op: "this program", name: "an input" });
        }
        if c.level() < t.level {
            return Err(Error::InputLevel { name, given: c.level(), needed: t.level });
        }
        if c.scale() != &t.scale {
            return Err(Error::InputScale { name, given: c.scale().to_text(), needed: t.scale.to_text() });
        }
        if c.slots() != self.program().slots() {
            return Err(Error::InputSlots { name, given: c.slots(), needed: self.program().slots() });
        }
        Ok(c)
    }

    /// The run-time plaintexts, each encoded at every level and scale that the program wants.
    fn encode_plains(&self, inputs: &Inputs<'_>) -> Result<BTreeMap<Value, Plaintext>, Error> {
        let slots = self.program().slots();
        let mut fresh = BTreeMap::new();
        for (v, name, ty) in self.program().plains() {
            let (Type::Pt(t), name) = (ty, name.to_owned()) else { continue };
            let numbers = match self.input(inputs, &name)? {
                Input::Plain(numbers) => numbers,
                Input::Cipher(_) => {
                    return Err(Error::InputKind {
                        name,
                        given: "ciphertext",
                        expected: "vector in the clear",
                    });
                }
            };
            if numbers.len() != slots {
                return Err(Error::InputSlots { name, given: numbers.len(), needed: slots });
            }
            fresh.insert(v, self.evaluator.encode_numbers(numbers, self.plain, slots, t.level, &t.scale)?);
        }
        Ok(fresh)
    }

    /// The prediction of every output, in the order of the program, for these ciphertexts. It follows from the numbers that the
    /// program holds: what may be known of it is what results carry.
    ///
    /// # Errors
    /// As [`run`](Self::run) for the inputs.
    pub fn predict(&self, inputs: &Inputs<'_>) -> Result<Vec<Noise>, Error> {
        let cipher = |(v, name): &(Value, String)| self.cipher(inputs, *v, name);
        let ciphers = self.ciphers.iter().map(cipher).collect::<Result<Vec<_>, _>>()?;
        self.predicted(ciphers.into_iter().map(|c| c.noise().clone()).collect())
    }

    /// The prediction of every output, given those of the encrypted inputs.
    fn predicted(&self, inputs: Vec<Noise>) -> Result<Vec<Noise>, Error> {
        let (p, params) = (self.predicted_by.as_ref().unwrap_or(self.program()), self.evaluator.params());
        let cipher = |v: Value, _: &str| {
            let at = self.ciphers.iter().position(|(x, _)| *x == v);
            at.map_or_else(|| Noise::exact(0.0, 0), |i| inputs[i].clone())
        };
        let promised = |v: Value| match &self.bounds {
            Some(bounds) => bounds[v.index()],
            None => p.instr(v).within.unwrap_or(f64::INFINITY),
        };
        let plain = |_: Value, _: &str| self.plain.get();
        let noises =
            predict(p, params, &|switch| self.manner(switch), &cipher, &plain, &promised, self.real)?;
        Ok(p.outputs().iter().map(|o| noises[o.value.index()].clone()).collect())
    }

    /// What each output carries.
    fn metas(&self, ciphers: &[&Ciphertext]) -> Result<Vec<Meta>, Error> {
        let p = self.program();
        let input = |(i, c): (usize, &&Ciphertext)| match self.stated {
            // What is promised holds for encryptions with no more error than the program was compiled for. Those of one name are one,
            // and its name is that of the first of them, as where the program was compiled: what is predicted does not depend on random
            // names.
            Stated::Promise { encryption, .. } => {
                let first = ciphers.iter().position(|other| other.noise().fresh() == c.noise().fresh());
                let name = u64::from(self.ciphers[first.unwrap_or(i)].0.0);
                let plain = Noise::plain(c.noise().magnitude(), c.scale());
                c.noise().as_encrypted(encryption.seal(&plain, self.evaluator.params(), c.scale(), name))
            }
            Stated::Prediction => c.noise().clone(),
        };
        let predicted = self.predicted(ciphers.iter().enumerate().map(input).collect())?;
        let meta = |(output, noise): (&Output, Noise)| {
            let (level, scale) = match &p.instr(output.value).ty {
                Type::Ct(t) => (t.level, t.scale.clone()),
                _ => (Level::ZERO, Scale::ONE),
            };
            let noise = self.stated.of(&noise, p.slots());
            Meta { level, scale, slots: p.slots(), noise }
        };
        Ok(p.outputs().iter().zip(predicted).map(meta).collect())
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, machine) = (self.program().name(), self.evaluator.machine().name());
        write!(f, "Kernel({name}, depth {}, machine {machine})", self.summary().depth)
    }
}

fn encode_constant(
    e: &Evaluator,
    p: &Program,
    (v, c): (Value, &Constant),
    compact: bool,
) -> Result<Poly, Error> {
    let (level, scale) = match &p.instr(v).ty {
        Type::Pt(t) => (t.level, &t.scale),
        _ => return Err(Error::ProgramParams { what: "it is traced, not managed", print: String::new() }),
    };
    let repeated;
    let numbers = match c {
        Constant::Real(x) => {
            repeated = Numbers::Real(vec![*x; p.slots()]);
            &repeated
        }
        Constant::Complex(z) => {
            repeated = Numbers::Complex(vec![*z; p.slots()]);
            &repeated
        }
        Constant::List(numbers) => numbers,
        Constant::Table(id) => match p.table(*id) {
            Some(table) => &table.numbers,
            None => {
                return Err(Error::ProgramParams { what: "a table of it is missing", print: String::new() });
            }
        },
    };
    let poly = match compact {
        true => e.encode_compact(numbers, scale)?,
        false => {
            let declared = Declared::bound(numbers.magnitude().max(f64::MIN_POSITIVE));
            e.encode_numbers(numbers, declared, p.slots(), level, scale)?.into_parts().0
        }
    };
    // A sum with zero shows nothing, so that one more unit is as good there.
    Ok(not_zero(poly))
}
