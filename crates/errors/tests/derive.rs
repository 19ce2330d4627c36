//! The derive on everything that an error can be.

use std::fmt;
use std::path::PathBuf;

use ringmill_errors::{Field, StructuredError, ToField};

/// A type of another crate, as far as the derive can see.
#[derive(Debug)]
struct Level(u32);

impl ToField for Level {
    fn to_field(&self) -> Field {
        Field::Integer(self.0.into())
    }
}

#[derive(Debug)]
struct Shape(u8, u8);

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {}", self.0, self.1)
    }
}

#[derive(Debug, thiserror::Error, StructuredError)]
enum Refused {
    #[error("plain")]
    Plain,
    #[error("named")]
    Named { level: Level, word: &'static str, text: String, exact: f64, big: u64, negative: i64, sure: bool },
    #[error("shaped")]
    Shaped {
        #[field(display)]
        shape: Shape,
        #[field(skip)]
        #[allow(dead_code, reason = "that it is left out is what is tested")]
        secret: Vec<u8>,
        some: Option<u32>,
        none: Option<u32>,
        list: Vec<String>,
        bytes: [u8; 2],
        path: PathBuf,
        boxed: Box<str>,
    },
    #[error("because {source}")]
    Because {
        #[field(code)]
        source: Inner,
    },
    #[error(transparent)]
    Other(#[from] Inner),
}

#[derive(Debug, thiserror::Error, StructuredError)]
#[error("inner {at:?}")]
struct Inner {
    at: Option<usize>,
}

fn text(s: &str) -> Field {
    Field::Text(s.into())
}

#[test]
fn codes_are_names_and_fields_are_named_ones() {
    let level = Level(3);
    let named = Refused::Named {
        level,
        word: "w",
        text: "t \"quoted\", {braced}".into(),
        exact: 0.5,
        big: u64::MAX,
        negative: -4,
        sure: true,
    };
    assert_eq!(named.code(), "Named");
    let expected = [
        ("level", Field::Integer(3)),
        ("word", text("w")),
        ("text", text("t \"quoted\", {braced}")),
        ("exact", Field::Float(0.5)),
        ("big", Field::Integer(u64::MAX.into())),
        ("negative", Field::Integer(-4)),
        ("sure", Field::Truth(true)),
    ];
    assert_eq!(named.fields(), expected);
    assert_eq!((Refused::Plain.code(), Refused::Plain.fields()), ("Plain", vec![]));
}

#[test]
fn fields_are_shown_left_out_and_gathered() {
    let shaped = Refused::Shaped {
        shape: Shape(2, 7),
        secret: vec![1],
        some: Some(1),
        none: None,
        list: vec!["a".into(), "b".into()],
        bytes: [1, 2],
        path: "some/where".into(),
        boxed: "b".into(),
    };
    let expected = [
        ("shape", text("2 by 7")),
        ("some", Field::Integer(1)),
        ("none", Field::Nothing),
        ("list", Field::Several(vec![text("a"), text("b")])),
        ("bytes", Field::Several(vec![Field::Integer(1), Field::Integer(2)])),
        ("path", text("some/where")),
        ("boxed", text("b")),
    ];
    assert_eq!(shaped.fields(), expected);
}

#[test]
fn what_holds_another_error_has_its_own_code() {
    let other = Refused::from(Inner { at: Some(4) });
    assert_eq!((other.code(), other.fields()), ("Other", vec![]));
    let because = Refused::Because { source: Inner { at: None } };
    assert_eq!((because.code(), because.fields()), ("Because", vec![("source", text("Inner"))]));
    let inner = Box::new(Inner { at: Some(4) });
    assert_eq!((inner.code(), inner.fields()), ("Inner", vec![("at", Field::Integer(4))]));
}
