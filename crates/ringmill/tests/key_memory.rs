//! Wherever keys are kept, results are the same bits: on every machine, with any number of threads, by every method.

mod common;

use common::{World, params};
use ringmill::ckks::file::Stored;
use ringmill::ckks::{Ciphertext, EvaluationKeys, KeyLayout, KeyMemory, KlssLayout, Level};
use ringmill::program::cost::{CostTable, Methods};
use ringmill::program::he::{Chain, parse};
use ringmill::program::lower::Method;
use ringmill::program::manage::Options;
use ringmill::{Evaluator, Input, Inputs, Kernel, open_machine};

/// The keys of a world as they are, as halves, and in a file.
fn kept(w: &World) -> Vec<EvaluationKeys> {
    let keys = EvaluationKeys::new(Some(w.relin.clone()), w.galois.clone()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("evaluation.keys");
    keys.save(&path).unwrap();
    let load = |memory| EvaluationKeys::load_in(&w.params, &path, memory).unwrap();
    // The file may be unlinked: a mapping keeps it.
    vec![keys.seeded(), load(KeyMemory::Seeded), load(KeyMemory::Mapped), load(KeyMemory::Expanded), keys]
}

#[test]
fn operations_give_the_same_bits() {
    let mut w = World::new(params(4, 2), &[1, 2, 3], 8);
    let x = w.rng.vector(512, 1.0);
    let top = w.encrypt(&x, Level::new(4));
    let (chain, base) = (Chain::from(&w.params), KeyLayout::base(&w.params));
    let moduli = (w.params.q_moduli(), w.params.p_moduli());
    let klss = Method::Klss(KlssLayout::new(w.params.log_n(), moduli, base, 2, 60).unwrap());
    let klss = Methods::only(&CostTable::shipped(), &chain, klss).unwrap();
    let on = |machine| Evaluator::with_machine(&w.params, machine).unwrap();
    let evaluators = [
        w.evaluator.clone(),
        on(open_machine("cpu:threads=3").unwrap()),
        on(open_machine("reference").unwrap()),
        w.evaluator.choosing(klss).unwrap(),
    ];
    for level in [4, 2, 1] {
        let mut all: Vec<Vec<Ciphertext>> = Vec::new();
        for keys in kept(&w) {
            for e in &evaluators {
                let x = e.drop_level(&top, Level::new(level)).unwrap();
                let mut found = vec![
                    e.square_relinearise_rescale(&x, keys.relin().unwrap()).unwrap(),
                    e.rotate(&x, 2, keys.galois()).unwrap(),
                    e.conjugate(&x, keys.galois()).unwrap(),
                ];
                found.extend(e.rotate_hoisted(&x, &[1, 2, 3], keys.galois()).unwrap());
                all.push(found);
            }
        }
        assert!(all.iter().all(|found| *found == all[0]), "level {level}");
    }
}

const TURNS: &str = r#"
he @turns traced slots 16
%x = input "x"
%a = rotate %x, 1
%b = rotate %x, 2
%c = rotate %x, 3
%d = add %a, %b
%e = add %d, %c
%f = mul %e, %x
%y = rotate %f, 1
output "y", %y
end
"#;

#[test]
fn kernels_give_the_same_bits() {
    let mut w = World::new(params(3, 2), &[1, 2, 3], 9);
    let kernel = Kernel::compile(&w.evaluator, &parse(TURNS).unwrap(), &Options::default()).unwrap();
    let (_, level, _) = kernel.cipher_inputs().next().unwrap();
    let values = w.rng.vector(16, 1.0);
    let x = w.encrypt(&values, level);
    let run = |keys: &EvaluationKeys| {
        kernel.run(&Inputs::from([("x".into(), Input::Cipher(&x))]), keys).unwrap().remove("y").unwrap()
    };
    let all: Vec<Ciphertext> = kept(&w).iter().map(run).collect();
    assert!(all.iter().all(|y| *y == all[0]));
}
