//! What the walk over an object is made of.

use std::collections::HashMap;

use super::OpenFheError;

pub(super) type Result<T> = std::result::Result<T, OpenFheError>;

/// A reader or writer of one form. Each call names a field; a reader puts into `value` what stands there, a writer writes it.
pub(super) trait Archive {
    /// Whether values are read.
    const READS: bool;

    /// What is read or written, for messages.
    fn what(&self) -> &'static str;
    /// The pointers and classes that were met so far.
    fn met(&mut self) -> &mut Met;

    /// A structure begins at a field.
    fn open(&mut self, name: &'static str) -> Result<()>;
    /// The structure ends.
    fn close(&mut self) -> Result<()>;
    /// A list begins at a field; its entries are fields without names. At most `most` entries.
    fn list(&mut self, name: &'static str, field: &'static str, len: &mut usize, most: usize) -> Result<()>;

    /// The version of a class, where its first object stands.
    fn class_version(&mut self, value: &mut u32) -> Result<()>;
    fn u8(&mut self, name: &'static str, value: &mut u8) -> Result<()>;
    fn u32(&mut self, name: &'static str, value: &mut u32) -> Result<()>;
    fn u64(&mut self, name: &'static str, value: &mut u64) -> Result<()>;
    fn f32(&mut self, name: &'static str, value: &mut f32) -> Result<()>;
    fn f64(&mut self, name: &'static str, value: &mut f64) -> Result<()>;
    fn text(&mut self, name: &'static str, value: &mut String) -> Result<()>;
    /// A list of words, as many as `words` has.
    fn words(&mut self, name: &'static str, words: &mut [u64]) -> Result<()>;
    /// A list of at most `most` words.
    fn few_words(&mut self, name: &'static str, words: &mut Vec<u64>, most: usize) -> Result<()>;
}

/// cereal numbers the objects that pointers share, and the classes behind pointers to a base class, and states the version
/// of each class once.
#[derive(Default)]
pub(super) struct Met {
    versions: HashMap<&'static str, ()>,
    classes: Vec<String>,
    pointers: u32,
}

/// A number of an object or class that stands here for the first time.
const FIRST: u32 = 1 << 31;
/// The class of a pointer is the one that it is declared with.
const DECLARED: u32 = 1 << 30;

/// The version of a class is read or written where it is met first.
pub(super) fn version(a: &mut impl Archive, class: &'static str, known: u32) -> Result<()> {
    if a.met().versions.insert(class, ()).is_some() {
        return Ok(());
    }
    let mut found = known;
    a.class_version(&mut found)?;
    if found == known { Ok(()) } else { Err(OpenFheError::Version { what: a.what(), class, found, known }) }
}

/// The class behind a pointer to its base.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Class {
    /// The declared one.
    Declared,
    /// Another one, by name.
    Named(&'static str),
}

/// The number of a class, with its name where it is new; fails for another class. Gives false for no object.
pub(super) fn class(a: &mut impl Archive, class: Class) -> Result<bool> {
    let what = a.what();
    let mut id = match class {
        Class::Declared => DECLARED,
        Class::Named(name) => match a.met().classes.iter().position(|known| known == name) {
            Some(at) => at as u32 + 1,
            None => FIRST | (a.met().classes.len() as u32 + 1),
        },
    };
    a.u32("polymorphic_id", &mut id)?;
    let found = match id {
        0 => return Ok(false),
        DECLARED => None,
        new if new & FIRST != 0 => {
            let mut name = match class {
                Class::Named(name) => name.to_owned(),
                Class::Declared => String::new(),
            };
            a.text("polymorphic_name", &mut name)?;
            a.met().classes.push(name.clone());
            Some(name)
        }
        old => {
            let known = a.met().classes.get(old as usize - 1).cloned();
            Some(known.ok_or(OpenFheError::Pointer { what, found: old })?)
        }
    };
    match (class, found) {
        (Class::Declared, None) => Ok(true),
        (Class::Named(wanted), Some(found)) if found == wanted => Ok(true),
        (Class::Named(wanted), found) => {
            Err(OpenFheError::Class { what, found: found.unwrap_or_default(), wanted })
        }
        (Class::Declared, Some(found)) => {
            Err(OpenFheError::Class { what, found, wanted: "the class itself" })
        }
    }
}

/// A structure behind a shared pointer: where it stands for the first time `walk` goes through it, later on its number stands
/// alone. Gives the number; a writer says by `at` which one stands there already.
pub(super) fn shared<A: Archive>(
    a: &mut A,
    at: Option<u32>,
    walk: impl FnOnce(&mut A, u32) -> Result<()>,
) -> Result<u32> {
    shared_list(a, at, |a, number| {
        a.open("data")?;
        walk(a, number)?;
        a.close()
    })
}

/// The same of a list, which `walk` opens at the field `data`.
pub(super) fn shared_list<A: Archive>(
    a: &mut A,
    at: Option<u32>,
    walk: impl FnOnce(&mut A, u32) -> Result<()>,
) -> Result<u32> {
    a.open("ptr_wrapper")?;
    let mut id = at.unwrap_or(FIRST | (a.met().pointers + 1));
    a.u32("id", &mut id)?;
    let number = id & !FIRST;
    if id & FIRST != 0 {
        // Numbers go up by one; a file that skips some names objects that nothing refers to.
        if number != a.met().pointers + 1 {
            return Err(OpenFheError::Pointer { what: a.what(), found: number });
        }
        a.met().pointers += 1;
        walk(a, number)?;
    } else if number == 0 || number > a.met().pointers {
        return Err(OpenFheError::Pointer { what: a.what(), found: number });
    }
    a.close()?;
    Ok(number)
}
