//! Graphs of limb programs.

use ringmill_program::limb::parse;

use super::*;

/// Both halves of a key, a plaintext that is extended, a load, a base conversion.
const PROGRAM: &str = "\
limb small : 2^10 {
  modulus q0 = 1152921504606830593
  modulus q1 = 1073692673
  modulus p0 = 1152921504606748673
  input data x : eval q0 q1
  input key relin_b0 : eval p0
  input key relin_a0 : eval p0
  input plain w : coeff q0
  output y : eval p0
region raise
  %0 = load x.0 : q0 eval
  %1 = intt %0 : q0 coeff
  %2 = mul_const %1, 3 : q0 coeff
  %3 = intt x.1 : q1 coeff
  %4 = quotient [%2, %3] : quotient
  %5 = convert [%2, %3], %4 : p0 coeff
  %6 = ntt %5 : p0 eval
region product
  %7 = dot [%6], [relin_b0.0] : p0 eval
  %8 = dot [%6], [relin_a0.0] : p0 eval
  %9 = lift w.0 : p0 coeff
  %10 = ntt %9 : p0 eval
  %11 = mac %7, %8, %10 : p0 eval
  %12 = mul_const %11, 3 : p0 eval
  store %12 -> y.0
}
";

#[test]
fn a_limb_program_is_read_with_its_kinds_classes_terms_and_bits() {
    let graph = Graph::of(&parse(PROGRAM).unwrap()).unwrap();
    let classes: Vec<_> = graph.limbs[..5].iter().map(|l| (l.class, l.bits)).collect();
    let expected =
        [(Class::Data, 60), (Class::Data, 30), (Class::Key, 60), (Class::SeededKey, 60), (Class::Plain, 60)];
    assert_eq!(classes, expected);
    let outcome: Vec<_> = graph.nodes.iter().map(|n| (n.kind, n.terms, n.reads)).collect();
    let expected = [
        (Kind::Intt, 1, 1),
        (Kind::Scale, 1, 1),
        (Kind::Intt, 1, 1),
        (Kind::Quotient, 2, 2),
        (Kind::Convert, 2, 3),
        (Kind::Ntt, 1, 1),
        (Kind::DotKey, 1, 2),
        (Kind::DotKey, 1, 2),
        (Kind::Lift, 1, 1),
        (Kind::Ntt, 1, 1),
        (Kind::MacPlain, 1, 3),
        (Kind::MulConst, 1, 1),
    ];
    assert_eq!(outcome, expected);
    // The load is the limb that it copies.
    assert_eq!(graph.reads(&graph.nodes[0]), [0]);
    assert_eq!(graph.limbs[graph.nodes[3].result as usize].bits, 14);
    assert_eq!(graph.results, [graph.nodes[11].result]);
    let labels: Vec<_> = (0..12).map(|i| &*graph.regions[graph.region_of(i).unwrap()].0).collect();
    assert_eq!((&labels[..6], &labels[6..]), (&["raise"; 6][..], &["product"; 6][..]));
}

#[test]
fn an_operand_that_is_read_twice_is_one_limb_and_two_reads() {
    let mut graph = Graph::new("square", 4).unwrap();
    let x = graph.input(Class::Data, 30);
    graph.push(Kind::Mul, &[x, x], 30, 1).unwrap();
    assert_eq!((graph.reads(&graph.nodes[0]), graph.nodes[0].reads), (&[x][..], 2));
}

#[test]
fn names_of_kinds_are_read_back() {
    assert!(
        Kind::ALL
            .into_iter()
            .enumerate()
            .all(|(i, kind)| kind as usize == i && Kind::named(kind.name()) == Some(kind))
    );
    assert!(Class::ALL.into_iter().enumerate().all(|(i, class)| class as usize == i));
}
