//! How a kernel's keys are switched: by digits raised to every prime, by KLSS, by what takes the least at each level of
//! the machine at hand, or as another library does it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use ringmill::machine::compact::costs::table;
use ringmill::{Evaluator, Machine};
use ringmill_ckks::{CkksError, KeyForm, KeyLayout, LayoutError, Level, Library, Params};
use ringmill_program::cost::{Allowed, Auxiliary, CostTable, Kind, Methods, Work, worthwhile};
use ringmill_program::he::{Chain, Program};
use ringmill_program::lower::{Method, Switch, lower_by};
use ringmill_program::schedule::Statistics;

use crate::argument::Arg;
use crate::error::{Failure, Family};
use crate::image::Core;
use crate::machines::{self, Named};
use crate::plan::Plan;

/// What a text such as `auto 26+9/9 @5=klss` asks for: a method, forms that keys have beside the base one, and the methods of
/// some levels.
struct Wish<'t> {
    method: &'t str,
    forms: Vec<KeyLayout>,
    levels: Vec<(Level, &'t str)>,
}

fn refused(message: &str) -> Failure {
    Failure::rule(Family::Parameter, "Switching", message)
}

fn layout_error(e: &LayoutError) -> Failure {
    Failure::of(Family::Parameter, e)
}

fn form(text: &str) -> Result<KeyLayout, Failure> {
    text.parse().map_err(|e| layout_error(&e))
}

fn wish(text: &str) -> Result<Wish<'_>, Failure> {
    let mut words = text.split_whitespace();
    let method = words.next().unwrap_or_default();
    if !["hybrid", "klss", "auto", "seal", "openfhe"].contains(&method) {
        let message = format!(
            "there is no key switching {method:?}; there are \"hybrid\", \"klss\", \"auto\", \"seal\" and \"openfhe\""
        );
        return Err(refused(&message));
    }
    if method.parse::<Library>().is_ok() && words.clone().next().is_some() {
        let message = format!("{method} switches keys one way at all levels; write {method:?} alone");
        return Err(refused(&message));
    }
    let mut wish = Wish { method, forms: Vec::new(), levels: Vec::new() };
    for word in words {
        let Some(level) = word.strip_prefix('@') else {
            wish.forms.push(form(word)?);
            continue;
        };
        let found = level.split_once('=').and_then(|(level, how)| Some((level.parse::<u16>().ok()?, how)));
        let wrong =
            || refused(&format!("a level's method is written @LEVEL=METHOD, as @5=klss; {word:?} is none"));
        let (level, how) = found.ok_or_else(wrong)?;
        wish.levels.push((Level::new(level.into()), how));
    }
    Ok(wish)
}

/// A text such as `:26+9/9~7` without its length of blocks, and that.
fn blocks(text: &str) -> Result<(&str, Option<usize>), Failure> {
    let Some((of, block)) = text.split_once('~') else { return Ok((text, None)) };
    let wrong =
        || refused(&format!("a length of blocks is written klss~LIMBS, as klss~7; klss{text} has none"));
    Ok((of, Some(block.parse::<u16>().map_err(|_| wrong())?.into())))
}

/// The library that a text names, with keys that it has.
fn library(params: &Params, text: &str) -> Result<Option<Library>, Failure> {
    let library: Option<Library> = wish(text)?.method.parse().ok();
    library.map_or(Ok(()), |library| library.check(KeyLayout::base(params))).map_err(|e| layout_error(&e))?;
    Ok(library)
}

/// The methods that a text allows; none for hybrid with the keys as they are, and for a library's.
///
/// A key of KLSS is derived from the form of its digits.
fn methods(params: &Params, text: &str, costs: &CostTable) -> Result<Option<Methods>, Failure> {
    let wish = wish(text)?;
    let plain = wish.method == "hybrid" && wish.forms.is_empty() && wish.levels.is_empty();
    if plain || library(params, text)?.is_some() {
        return Ok(None);
    }
    let chain = Chain::from(params);
    let allowed = match wish.method {
        "hybrid" => Allowed::Hybrid,
        "klss" => Allowed::Klss,
        _ => Allowed::Any,
    };
    let all = Methods::new(costs, &chain, &wish.forms, allowed);
    let mut methods = all.map_err(|e| layout_error(&e))?;
    let no_klss = || no_klss(costs);
    if methods.candidates().is_empty() {
        return Err(no_klss());
    }
    for (level, how) in wish.levels {
        let (limbs, most) = (params.limbs(level), params.max_level());
        if level > most {
            return Err(refused(&format!("a method is wanted for level {level}; levels end at {most}")));
        }
        // `hybrid`, `klss`, a form, or `klss:` and a form; after those of KLSS perhaps `~` and the limbs of a block.
        let (klss, of, block) = match how.strip_prefix("klss") {
            Some(rest) => {
                let (of, block) = blocks(rest)?;
                (true, of.strip_prefix(':').unwrap_or(of), block)
            }
            None => (false, how.strip_prefix("hybrid").unwrap_or(how), None),
        };
        let layout = if of.is_empty() { KeyLayout::base(params) } else { form(of)? };
        if layout != KeyLayout::base(params) && !wish.forms.contains(&layout) {
            let message =
                format!("level {level} is to use the key form {layout}, which is not among the forms named");
            return Err(refused(&message));
        }
        let method = match klss {
            true => methods.klss(layout, limbs, block).map_err(|e| layout_error(&e))?.ok_or_else(no_klss)?,
            false => Method::Hybrid(layout),
        };
        methods = methods.fixing(limbs, method).map_err(|e| layout_error(&e))?;
    }
    Ok(Some(methods))
}

/// The error if the parameters or the machine have no space for the primes of T.
fn no_klss(costs: &CostTable) -> Failure {
    let Auxiliary { bits, moduli } = costs.auxiliary();
    if *costs.auxiliary() == Auxiliary::default() {
        let none = "there are not enough primes for KLSS key switching with these parameters; compile with \
                    switching=\"hybrid\"";
        return Failure::rule(Family::Parameter, "NoKlss", none);
    }
    let why = match bits[..] {
        [] => "its multiplier takes primes of a special form only".to_owned(),
        _ => format!("its programs have {moduli} moduli at most, those of the chain among them"),
    };
    let message = format!(
        "the machine has no primes for KLSS key switching with these parameters: {why}; compile with \
         switching=\"hybrid\" for it"
    );
    Failure::rule(Family::Machine, "NoKlss", &message)
}

/// The costs of a machine, for what is chosen and predicted for it.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct Costs {
    pub(crate) inner: CostTable,
}

#[pymethods]
impl Costs {
    /// Of a machine; those of "cpu" are what `ringmill calibrate` measured, the shipped ones otherwise.
    #[staticmethod]
    fn of(machine: Arg<Named>) -> PyResult<Self> {
        let machine = machines::open(&machine.0.spec()?)?;
        Ok(Self { inner: machine.costs().map_err(|e| Failure::face(&e.into()))? })
    }

    /// Of a compact core with a clock of `mhz`.
    #[staticmethod]
    fn of_core(core: Core, mhz: f64) -> PyResult<Self> {
        Ok(Self { inner: table(&core.config()?, mhz) })
    }

    /// The machine, as text.
    #[getter]
    fn machine(&self) -> &str {
        self.inner.machine()
    }

    fn __repr__(&self) -> String {
        format!("Costs({})", self.inner.machine())
    }
}

/// Refuses a text that asks for what these parameters do not allow; gives the forms that it names.
#[pyfunction]
pub(crate) fn check_switching(
    params: &Bound<'_, crate::params::Params>,
    text: &str,
) -> PyResult<Vec<String>> {
    methods(&params.get().inner, text, &costs()?)?;
    Ok(wish(text)?.forms.iter().map(ToString::to_string).collect())
}

/// Up to `count` key forms that take the most time off key switches of all levels, by the costs of a machine.
#[pyfunction]
pub(crate) fn key_forms(
    py: Python<'_>,
    params: &Bound<'_, crate::params::Params>,
    count: usize,
    costs: &Bound<'_, Costs>,
) -> PyResult<Vec<String>> {
    let (params, costs) = (params.get().inner.clone(), &costs.get().inner);
    let found =
        py.detach(|| worthwhile(costs, &Chain::from(&params), count).map_err(|e| layout_error(&e)))?;
    Ok(found.iter().map(ToString::to_string).collect())
}

/// Bytes of one expanded key in a form such as `26+9/9`, or in the base form; none if the text is none that these parameters allow.
#[pyfunction]
#[pyo3(signature = (params, form = None))]
pub(crate) fn form_bytes(
    params: &Bound<'_, crate::params::Params>,
    form: Option<&str>,
) -> PyResult<Option<usize>> {
    let params = &params.get().inner;
    let layout = form.map_or_else(|| Some(KeyLayout::base(params)), |text| text.parse().ok());
    let Some(layout) = layout else { return Ok(None) };
    match KeyForm::expanded_bytes(params, layout) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(CkksError::Layout(_)) => Ok(None),
        Err(e) => Err(Failure::ckks(&e).into()),
    }
}

/// Those of this computer.
pub(crate) fn costs() -> Result<CostTable, Failure> {
    ringmill::costs().map_err(|e| Failure::face(&e.into()))
}

/// An evaluator on a machine that switches keys as the word says.
pub(crate) fn evaluator(
    params: &Params,
    machine: Arc<dyn Machine>,
    word: &str,
) -> Result<Evaluator, Failure> {
    let face = |e: ringmill::Error| Failure::face(&e);
    let costs = machine.costs().map_err(|e| face(e.into()))?;
    let evaluator = Evaluator::with_machine(params, machine).map_err(face)?;
    if let Some(library) = library(params, word)? {
        return evaluator.computing_as(library).map_err(face);
    }
    match methods(params, word, &costs)? {
        None => Ok(evaluator),
        Some(methods) => evaluator.choosing(methods).map_err(face),
    }
}

/// The method of each key switch of a program that a text asks for: the base form where it asks for nothing.
pub(crate) fn method_of(
    (params, program): (&Params, &Program),
    text: &str,
    costs: &CostTable,
) -> Result<impl Fn(&Switch) -> Method + use<>, Failure> {
    let base = KeyLayout::base(params);
    let base = library(params, text)?.map_or(Method::Hybrid(base), |library| Method::Of(library, base));
    let suited = methods(params, text, costs)?.map(|methods| methods.suited(program));
    let methods = suited.transpose().map_err(|e| Failure::of(Family::Program, &e))?;
    Ok(move |switch: &Switch| {
        let chosen = methods.as_ref().and_then(|methods| methods.choose(switch));
        chosen.unwrap_or(&base).clone()
    })
}

/// The name of a method for polynomials of `limbs` limbs.
fn name(method: &Method, limbs: usize) -> String {
    let layout = method.layout();
    let digits = format!("digits of {}", layout.alpha);
    match method {
        Method::Hybrid(_) => format!("hybrid, {digits}, {} special primes", layout.special),
        Method::Of(library, _) => format!("{library}, {digits}, {} special primes", layout.special),
        Method::Klss(klss) => {
            let t = klss.t_for(limbs);
            let (t, bits) = (t.len(), t[0].bits());
            format!("KLSS, {digits}, blocks of {}, {t} primes of {bits} bits", klss.block())
        }
    }
}

/// What a kernel's key switches have in common: limbs, and how they are done.
type Switches = BTreeMap<(usize, String), usize>;

/// A managed program, lowered and counted.
struct Counted {
    statistics: Statistics,
    instructions: usize,
    switches: Switches,
    nanoseconds: f64,
    by_kind: Vec<(&'static str, u64)>,
    machine: String,
}

fn counted(plan: &Plan, word: &str, costs: &CostTable) -> Result<Counted, Failure> {
    let chosen = method_of((&plan.params, &plan.managed.program), word, costs)?;
    let switches = RefCell::new(Switches::new());
    let method = |switch: &Switch| {
        let chosen = chosen(switch);
        *switches.borrow_mut().entry((switch.limbs, name(&chosen, switch.limbs))).or_default() += 1;
        chosen
    };
    let lowered = lower_by(&plan.managed.program, &method).map_err(|e| Failure::of(Family::Program, &e))?;
    let program = lowered.program;
    let (work, log_n) = (Work::of(&program), plan.params.log_n());
    let by_kind = Kind::ALL.map(|kind| (kind.name(), work.get(kind)));
    Ok(Counted {
        statistics: Statistics::of(&program),
        instructions: program.len(),
        switches: switches.into_inner(),
        nanoseconds: costs.nanoseconds(&work, log_n),
        by_kind: by_kind.into(),
        machine: costs.machine().to_owned(),
    })
}

/// What one run of a plan takes, by counting: the limb program, the time that the costs of a machine predict, and the method
/// of every key switch.
pub(crate) fn work<'py>(
    py: Python<'py>,
    plan: &Plan,
    word: &str,
    costs: &CostTable,
) -> PyResult<Bound<'py, PyDict>> {
    let found = py.detach(|| counted(plan, word, costs))?;
    let (reported, s) = (PyDict::new(py), &found.statistics);
    reported.set_item("instructions", found.instructions)?;
    reported.set_item("transforms", s.ntt + s.intt)?;
    reported.set_item("butterflies", s.butterflies)?;
    reported.set_item("multiply_adds", s.multiply_adds)?;
    reported.set_item("key_bytes", s.key_bytes)?;
    reported.set_item("key_bytes_packed", s.key_bytes_packed)?;
    reported.set_item("key_bytes_seeded", s.key_bytes_seeded)?;
    reported.set_item("key_bytes_read", s.key_bytes_read)?;
    reported.set_item("data_bytes", s.data_bytes)?;
    reported.set_item("peak_bytes", u64::from(s.peak_live) * s.words as u64 * 8)?;
    reported.set_item("seconds", found.nanoseconds / 1e9)?;
    reported.set_item("costs", &found.machine)?;
    let kinds = PyDict::new(py);
    for (name, count) in &found.by_kind {
        kinds.set_item(name, count)?;
    }
    reported.set_item("kinds", kinds)?;
    let level = |limbs| plan.params.levels().of_limbs(limbs).map_or(0, Level::get);
    let switches = found.switches.into_iter().map(|((limbs, name), count)| (level(limbs), name, count));
    reported.set_item("switches", PyList::new(py, switches)?)?;
    Ok(reported)
}
