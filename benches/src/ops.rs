//! Operations through the Rust facade, as a user calls them: an evaluator on the CPU machine, real keys, results
//! written over older ones. What is prepared is checked by decryption.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::{Rc, Weak};

use ringmill::Evaluator;
use ringmill::ckks::params::{NamedSet, Params};
use ringmill::ckks::{Ciphertext, EvaluationKeys, KeyGenerator, Plaintext, PublicKey, Randomness};

use crate::{Failure, Work, evaluator};

/// Everything that the works of one set share.
struct Context {
    params: Params,
    evaluator: Evaluator,
    public: PublicKey,
    keys: EvaluationKeys,
    values: Vec<f64>,
    plain: Plaintext,
    fresh: Ciphertext,
    product: Ciphertext,
    switched: Ciphertext,
}

thread_local! {
    static CONTEXTS: RefCell<HashMap<String, Weak<Context>>> = RefCell::default();
}

/// One operation of one set.
pub(crate) fn prepare(work: &str) -> Result<Work, String> {
    let (kind, set) = work.split_once('/').ok_or_else(|| format!("{work} names no set"))?;
    if kind == "keygen_multiply" {
        let params = set.parse::<NamedSet>().and_then(Params::named).map_err(|error| error.to_string())?;
        return Ok(Box::new(move || keygen_multiply(&params).unwrap_or_else(|error| panic!("{error}"))));
    }
    let context = context(set).map_err(|error| error.to_string())?;
    operation(kind, context).ok_or_else(|| format!("{kind} is not measured"))
}

fn context(set: &str) -> Result<Rc<Context>, Failure> {
    if let Some(context) = CONTEXTS.with_borrow(|all| all.get(set).and_then(Weak::upgrade)) {
        return Ok(context);
    }
    let params = Params::named(set.parse::<NamedSet>()?)?;
    let evaluator = evaluator(&params)?;
    let mut generator = KeyGenerator::new(&params)?;
    let secret = generator.secret_key()?;
    let public = generator.public_key(&secret)?;
    let keys = generator.evaluation_keys(&secret, &[1], false)?;

    let values: Vec<f64> = (0..params.slots()).map(|i| (i as f64 * 0.37).sin()).collect();
    let plain = encode(&evaluator, &values)?;
    let fresh = public.encrypt(&plain, &mut Randomness::from_os()?)?;
    let product = evaluator.multiply(&fresh, &fresh)?;
    let switched = evaluator.relinearise(&product, keys.relin()?)?;
    let rotated = evaluator.rotate(&fresh, 1, keys.galois())?;
    let squares: Vec<f64> = values.iter().map(|x| x * x).collect();
    let turned: Vec<f64> = values.iter().cycle().skip(1).take(values.len()).copied().collect();
    for (found, expected) in [(&switched, squares), (&rotated, turned)] {
        let decoded = evaluator.decode(&secret.decrypt(found)?)?;
        let worst = decoded.iter().zip(expected).map(|(z, x)| (z.re - x).abs()).fold(0.0, f64::max);
        if worst > 1e-4 {
            return Err(format!("a prepared result is off by {worst:.3e}").into());
        }
    }
    let context =
        Rc::new(Context { params, evaluator, public, keys, values, plain, fresh, product, switched });
    CONTEXTS.with_borrow_mut(|all| all.insert(set.to_owned(), Rc::downgrade(&context)));
    Ok(context)
}

/// Real numbers at the top level and the set's scale, in all slots.
fn encode(evaluator: &Evaluator, values: &[f64]) -> Result<Plaintext, ringmill::Error> {
    let params = evaluator.params();
    evaluator.encode(values, params.slots(), params.max_level(), &params.default_scale())
}

/// What the limit on memory is about, and nothing beside it: keys, two ciphertexts, their product.
fn keygen_multiply(params: &Params) -> Result<(), Failure> {
    let mut generator = KeyGenerator::new(params)?;
    let secret = generator.secret_key()?;
    let (public, relin) = (generator.public_key(&secret)?, generator.relin_key(&secret)?);
    let evaluator = evaluator(params)?;
    let plain = encode(&evaluator, &[0.5])?;
    let mut randomness = Randomness::from_os()?;
    let (a, b) = (public.encrypt(&plain, &mut randomness)?, public.encrypt(&plain, &mut randomness)?);
    let product = evaluator.multiply_relinearise_rescale(&a, &b, &relin)?;
    let found = evaluator.decode(&secret.decrypt(&product)?)?[0].re;
    if (found - 0.25).abs() > 1e-6 { Err(format!("0.5 · 0.5 is {found}").into()) } else { Ok(()) }
}

/// A work that writes its result over the last one; every call succeeded once before it is timed.
fn into(
    context: Rc<Context>,
    run: impl Fn(&Context, &mut Ciphertext) -> Result<(), ringmill::Error> + 'static,
) -> Work {
    let mut out = context.fresh.clone();
    Box::new(move || run(&context, &mut out).unwrap_or_else(|error| panic!("{error}")))
}

fn operation(kind: &str, context: Rc<Context>) -> Option<Work> {
    let relin = |c: &Context| c.keys.relin().cloned();
    Some(match kind {
        "relin" => {
            let key = relin(&context).ok()?;
            into(context, move |c, out| c.evaluator.relinearise_into(&c.product, &key, out))
        }
        "rotate" => into(context, |c, out| c.evaluator.rotate_into(&c.fresh, 1, c.keys.galois(), out)),
        "rescale" => into(context, |c, out| c.evaluator.rescale_into(&c.switched, out)),
        "mul_ct_ct" => into(context, |c, out| c.evaluator.multiply_into(&c.fresh, &c.fresh, out)),
        "mul_relin" => {
            let key = relin(&context).ok()?;
            into(context, move |c, out| c.evaluator.multiply_relinearise_into(&c.fresh, &c.fresh, &key, out))
        }
        "encode" => Box::new(move || drop(encode(&context.evaluator, &context.values))),
        "decode" => Box::new(move || drop(context.evaluator.decode(&context.plain))),
        "encrypt" => {
            let mut randomness = Randomness::from_os().ok()?;
            Box::new(move || drop(context.public.encrypt(&context.plain, &mut randomness)))
        }
        "keygen" => Box::new(move || drop(keys(&context.params))),
        _ => return None,
    })
}

/// Secret, public and relinearisation key, as the peers are asked for.
fn keys(params: &Params) -> Result<impl Sized + use<>, ringmill::ckks::CkksError> {
    let mut generator = KeyGenerator::new(params)?;
    let secret = generator.secret_key()?;
    Ok((generator.public_key(&secret)?, generator.relin_key(&secret)?, secret))
}
