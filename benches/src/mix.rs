//! Key switching over all levels of a chain: by the method that the cost table chooses for each level, or by hybrid key
//! switching with the one key that serves every level.

use ringmill::ckks::params::{NamedSet, Params, ParamsLiteral};
use ringmill::ckks::{Ciphertext, KeyGenerator, Level, Randomness, Scale};
use ringmill::program::cost::{Allowed, Methods, worthwhile};
use ringmill::program::he::Chain;

use crate::{Failure, Work, evaluator};

/// Forms of the key beside the base one.
const FORMS: usize = 5;

/// Relinearisation once at each level. `keyswitch_mix/V50` is the named set; `keyswitch_mix/36x48` has N = 2^16 and 48
/// primes of 36 bits in all, seven of them special (dnum 6), at 128 bits of security.
pub(crate) fn prepare(set: &str, mixed: bool) -> Result<Work, String> {
    work(set, mixed).map_err(|error| error.to_string())
}

fn work(set: &str, mixed: bool) -> Result<Work, Failure> {
    let params = match set {
        "36x48" => Params::new(&ParamsLiteral::from_bits(16, &[36; 41], &[36; 7], 6))?,
        name => Params::named(name.parse::<NamedSet>()?)?,
    };
    let (costs, chain) = (ringmill::costs()?, Chain::from(&params));
    let mut generator = KeyGenerator::new(&params)?;
    let secret = generator.secret_key()?;
    let mut relin = generator.relin_key(&secret)?;
    let mut evaluator = evaluator(&params)?;
    if mixed {
        let layouts = worthwhile(&costs, &chain, FORMS)?;
        for &layout in &layouts {
            generator.extend_relin_key(&secret, &mut relin, layout)?;
        }
        evaluator = evaluator.choosing(Methods::new(&costs, &chain, &layouts, Allowed::Any)?)?;
    }
    // A scale whose square still fits the base prime. The same number in all slots is one coefficient: one slot alone
    // would be coefficients of about 1 at this scale, and rounding them a tenth of the message.
    let message = vec![0.5; params.slots()];
    let plain = evaluator.encode(message.as_slice(), params.slots(), params.max_level(), &Scale::pow2(16))?;
    let top = secret.encrypt(&plain, &mut Randomness::from_os()?)?;
    let products = (0..=params.max_level().get())
        .map(|level| {
            let x = evaluator.drop_level(&top, Level::new(level))?;
            evaluator.multiply(&x, &x)
        })
        .collect::<Result<Vec<Ciphertext>, _>>()?;
    let check = &products[products.len() / 2];
    // At so small a scale a slot has an error of one per cent; the mean has not.
    let slots = evaluator.decode(&secret.decrypt(&evaluator.relinearise(check, &relin)?)?)?;
    let found = slots.iter().map(|slot| slot.re).sum::<f64>() / slots.len() as f64;
    if (found - 0.25).abs() > 1e-3 {
        return Err(format!("0.5 · 0.5 is {found}").into());
    }
    Ok(Box::new(move || {
        for product in &products {
            drop(evaluator.relinearise(product, &relin).unwrap_or_else(|error| panic!("{error}")));
        }
    }))
}
