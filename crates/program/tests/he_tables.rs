//! Programs without their vectors: they come back with the tables, and with no others.

use std::sync::Arc;

use proptest::prelude::*;

use ringmill_program::he::{Numbers, Outline, Program, Tables, TablesError, parse, parse_with_tables};

/// A named table, the same numbers in place, complex ones, and numbers alone, which stay in the text.
const TEXT: &str = "he @example traced slots 4
data @w real [0.25, -1.5, 0.0, 1e-7]
%x = input \"x\"
%1 = const @w
%2 = mul %x, %1
%3 = const [0.25, -1.5, 0.0, 1e-7]
%4 = add %2, %3
%5 = const [(0.5, 1.0), (0.0, -0.0), (1.0, 2.0), (3.0, 4.0)]
%6 = mul %4, %5
%7 = const 0.5
%8 = add %6, %7
output \"y\", %8
end
";

fn written(tables: &Tables) -> Vec<u8> {
    let mut bytes = Vec::new();
    tables.write(&mut bytes).unwrap();
    bytes
}

fn example() -> (Program, String, Vec<u8>) {
    let program = parse(TEXT).unwrap();
    let (outline, tables) = (Outline(&program).to_string(), written(&Tables::of(&program)));
    (program, outline, tables)
}

/// The digest as the format states it: of the kind, then the numbers.
fn digest(kind: u8, numbers: &[f64]) -> String {
    let bytes: Vec<u8> = std::iter::once(kind).chain(numbers.iter().flat_map(|x| x.to_le_bytes())).collect();
    blake3::hash(&bytes).to_hex().to_string()
}

#[test]
fn a_program_comes_back_with_its_tables() {
    let (program, outline, bytes) = example();
    let tables = Tables::read(bytes.as_slice()).unwrap();
    // Equal vectors are one table.
    assert_eq!(tables.len(), 2);
    assert_eq!(parse_with_tables(&outline, &tables).unwrap(), program);
    assert_eq!(Outline(&parse_with_tables(&outline, &tables).unwrap()).to_string(), outline);
    let [real, complex] =
        [digest(0, &[0.25, -1.5, 0.0, 1e-7]), digest(1, &[0.5, 1.0, 0.0, -0.0, 1.0, 2.0, 3.0, 4.0])];
    let expected = TEXT
        .replace("real [0.25, -1.5, 0.0, 1e-7]", &format!("table \"{real}\""))
        .replace("[0.25, -1.5, 0.0, 1e-7]", &format!("table \"{real}\""))
        .replace("[(0.5, 1.0), (0.0, -0.0), (1.0, 2.0), (3.0, 4.0)]", &format!("table \"{complex}\""));
    // Values that had numbers for names are numbered from the first one on.
    assert_eq!(outline, parse_with_tables(&expected, &tables).map(|p| Outline(&p).to_string()).unwrap());
    assert_eq!(outline.matches(&real).count(), 2);
    assert_eq!(outline.matches(&complex).count(), 1);
    assert!(outline.contains("= const 0.5"), "{outline}");
}

#[test]
fn tables_of_another_program_are_refused_by_digest() {
    let (_, outline, bytes) = example();
    let missing = parse(&outline).unwrap_err();
    let real = digest(0, &[0.25, -1.5, 0.0, 1e-7]);
    assert_eq!(
        missing.to_string(),
        format!(
            "line 2: table {real} is missing; give the file of tables that was written with this program"
        )
    );
    // A table of another length, under its own digest.
    let mut tables = Tables::default();
    tables.insert(Arc::new(Numbers::Real(vec![1.0, 2.0])));
    let short = digest(0, &[1.0, 2.0]);
    let long = outline.replace(&real, &short);
    assert_eq!(
        parse_with_tables(&long, &tables).unwrap_err().to_string(),
        format!("line 2: table {short} has 2 numbers; it must have exactly one for each of the 4 slots")
    );
    // Other numbers under a digest: the last byte of the last number.
    let mut other = bytes.clone();
    *other.last_mut().unwrap() ^= 1;
    let refused = Tables::read(other.as_slice()).unwrap_err();
    assert!(matches!(&refused, TablesError::Digest { .. }), "{refused}");
    let last = other.len() - 1;
    other[last] ^= 1;
    assert_eq!(Tables::read(other.as_slice()).unwrap(), Tables::read(bytes.as_slice()).unwrap());
}

#[test]
fn what_is_wrong_with_a_file_is_named() {
    let message = |bytes: &[u8]| Tables::read(bytes).unwrap_err().to_string();
    let (_, _, bytes) = example();
    assert_eq!(
        message(b"he @example"),
        "this is no file of tables; it begins with `RMTABLE` and the version"
    );
    assert_eq!(message(b"RMTA"), "this is no file of tables; it begins with `RMTABLE` and the version");
    let mut newer = bytes.clone();
    newer[7] = 2;
    assert_eq!(message(&newer), "this file of tables has version 2, and this build reads version 1");
    let cut = &bytes[..bytes.len() - 1];
    assert_eq!(message(cut), "the file of tables ends after 1 whole tables of 2; it was cut");
    assert_eq!(message(&[&*bytes, &[0]].concat()), "there are bytes behind the last table");
    // A count of which nothing follows takes no memory.
    let many = [b"RMTABLE\x01".as_slice(), &[0xff; 8]].concat();
    assert!(message(&many).starts_with("the file of tables ends after 0 whole tables"));
    // Of 4 reals or 4 complex numbers: whichever comes first, exchanged they do not ascend.
    let sizes = [37 + 32, 37 + 64];
    let first = if bytes[16 + 32] == 0 { &bytes[16..16 + sizes[0]] } else { &bytes[16..16 + sizes[1]] };
    let second = &bytes[16 + first.len()..];
    let exchanged = [&bytes[..16], second, first].concat();
    assert!(matches!(Tables::read(exchanged.as_slice()), Err(TablesError::Order { .. })));
    // Numbers that are not finite, under the digest that they have.
    let mut tables = Tables::default();
    tables.insert(Arc::new(Numbers::Real(vec![1.0, f64::NAN])));
    assert!(matches!(
        Tables::read(written(&tables).as_slice()),
        Err(TablesError::NotFinite { index: 1, .. })
    ));
    for digest in ["00", &"g".repeat(64), &"A".repeat(64)] {
        let text = TEXT.replace("real [0.25, -1.5, 0.0, 1e-7]", &format!("table \"{digest}\""));
        let refused = parse(&text).unwrap_err().to_string();
        assert!(refused.contains("64 hexadecimal digits"), "{refused}");
    }
}

/// Vectors of a program of 8 slots: of every kind, with numbers of every size.
fn vectors() -> impl Strategy<Value = Vec<(bool, Vec<(f64, f64)>)>> {
    let number = || prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL;
    prop::collection::vec((any::<bool>(), prop::collection::vec((number(), number()), 8)), 0..6)
}

proptest! {
    #[test]
    fn vectors_keep_every_bit(vectors in vectors()) {
        let mut text = "he @p traced slots 8\n%x = input \"x\"\n".to_owned();
        for (i, (complex, numbers)) in vectors.iter().enumerate() {
            let each: Vec<String> = numbers.iter().map(|(re, im)| {
                if *complex { format!("({re:?}, {im:?})") } else { format!("{re:?}") }
            }).collect();
            text += &format!("%c{i} = const [{}]\n%s{i} = add %x, %c{i}\noutput \"y{i}\", %s{i}\n", each.join(", "));
        }
        text += "output \"z\", %x\nend\n";
        let program = parse(&text).unwrap();
        let bytes = written(&Tables::of(&program));
        let tables = Tables::read(bytes.as_slice()).unwrap();
        let again = parse_with_tables(&Outline(&program).to_string(), &tables).unwrap();
        prop_assert_eq!(again.to_string(), program.to_string());
        prop_assert_eq!(written(&Tables::of(&again)), bytes);
    }

    #[test]
    fn a_changed_file_is_refused(at: prop::sample::Index, to: u8, cut: prop::sample::Index) {
        let (_, _, bytes) = example();
        let (at, cut) = (at.index(bytes.len()), cut.index(bytes.len()));
        let mut other = bytes.clone();
        other[at] = to;
        prop_assert_eq!(Tables::read(other.as_slice()).is_ok(), other == bytes);
        prop_assert!(Tables::read(&bytes[..cut]).is_err());
    }

    #[test]
    fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Tables::read(bytes.as_slice()).is_err());
        let after_the_head = [b"RMTABLE\x01".as_slice(), &bytes].concat();
        // Nothing but no tables at all.
        prop_assert_eq!(Tables::read(after_the_head.as_slice()).is_ok(), bytes == [0; 8]);
    }
}
