//! A machine as a value: which one, and what it is to be like.
//!
//! Its text is `NAME` or `NAME:OPTION=VALUE,OPTION=VALUE`, as `cpu:threads=4` or `compact:butterflies=8,word=54`. A value in double
//! quotes may hold anything; in them `\"` stands for a quote and `\\` for a backslash. A machine may have one option whose name
//! can be left out. The registry ([`crate::registry`]) lists machines and options.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use ringmill_errors::StructuredError;
use ringmill_program::limb::LimbProgram;

use crate::parameter::{Refused, Value};
use crate::registry::{self, Entry, Setting};
use crate::{Machine, MachineError, Timing};

/// A machine of the registry with values for some of its options.
#[derive(Clone)]
pub struct MachineSpec {
    entry: &'static Entry,
    /// In the order of the entry's options, none left out that was given.
    values: Vec<(&'static Setting, Value)>,
}

/// What is wrong with a machine that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // The message is the documentation of each variant and names all its fields.
pub enum SpecError {
    #[error("machine {name:?} does not exist; machines are {known}")]
    UnknownMachine { name: String, known: String },
    #[error("machine {machine} has no option {option:?}; it has {known}")]
    UnknownOption { machine: &'static str, option: String, known: String },
    #[error("machine {machine} cannot read {option}={value:?}; give {allowed}")]
    BadValue { machine: &'static str, option: &'static str, value: String, allowed: String },
    #[error("machine {machine} cannot have {option}={value}; give {allowed}")]
    OutOfRange { machine: &'static str, option: &'static str, value: String, allowed: String },
    #[error("machine {machine} is given {option} twice; give it once")]
    Twice { machine: &'static str, option: &'static str },
    #[error("the machine {text:?} cannot be read: {what}; write it as {example}")]
    Syntax { text: String, what: &'static str, example: &'static str },
}

/// An example in messages.
const EXAMPLE: &str = "cpu, or with options as compact:butterflies=8,word=54";

/// Characters of a wrong text that messages show.
const SHOWN: usize = 60;

impl MachineSpec {
    /// A machine with all options left out.
    pub const fn new(entry: &'static Entry) -> Self {
        Self { entry, values: Vec::new() }
    }

    /// The machine of a name in the registry, with all options left out.
    ///
    /// # Errors
    /// [`SpecError::UnknownMachine`].
    pub fn named(name: &str) -> Result<Self, SpecError> {
        Self::named_in(&registry::MACHINES, name)
    }

    /// Reads a text with the machines of the registry.
    ///
    /// # Errors
    /// [`SpecError`], naming what is wrong and what would be right.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        Self::parse_in(&registry::MACHINES, text)
    }

    /// Reads a text with other machines.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_in(machines: &[&'static Entry], text: &str) -> Result<Self, SpecError> {
        let wrong = |what| SpecError::Syntax { text: shown(text), what, example: EXAMPLE };
        let (name, options) = match text.split_once(':') {
            Some((name, options)) => (name, Some(options)),
            None => (text, None),
        };
        if name.trim().is_empty() {
            return Err(wrong("it has no name"));
        }
        let mut spec = Self::named_in(machines, name.trim())?;
        let mut rest = options;
        while let Some(items) = rest {
            let item = Item::take(items).map_err(wrong)?;
            let setting = match item.option {
                Some(option) => spec.setting(option)?,
                None => {
                    spec.entry.options.iter().find(|s| s.unnamed).ok_or_else(|| SpecError::UnknownOption {
                        machine: spec.entry.name,
                        option: shown(&item.value),
                        known: spec.entry.known(),
                    })?
                }
            };
            if spec.values.iter().any(|(given, _)| std::ptr::eq(*given, setting)) {
                return Err(SpecError::Twice { machine: spec.entry.name, option: setting.parameter.name });
            }
            let value = setting.parameter.allowed.read(&item.value);
            let value = value.map_err(|why| spec.refused(setting, why, &item.value))?;
            spec.put(setting, value);
            rest = item.rest;
        }
        Ok(spec)
    }

    fn named_in(machines: &[&'static Entry], name: &str) -> Result<Self, SpecError> {
        let found = machines.iter().find(|entry| entry.name == name);
        found.map(|entry| Self::new(entry)).ok_or_else(|| SpecError::UnknownMachine {
            name: shown(name),
            known: machines.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", "),
        })
    }

    /// The same machine with one option set, or set anew.
    ///
    /// # Errors
    /// [`SpecError::UnknownOption`], [`SpecError::BadValue`], [`SpecError::OutOfRange`].
    pub fn with(mut self, option: &str, value: impl Into<Value>) -> Result<Self, SpecError> {
        let (setting, value) = (self.setting(option)?, value.into());
        let refused = |why| self.refused(setting, why, &value.to_string());
        setting.parameter.allowed.check(&value).map_err(refused)?;
        self.put(setting, value);
        Ok(self)
    }

    /// Its name.
    pub const fn name(&self) -> &'static str {
        self.entry.name
    }

    /// Its entry in the registry.
    pub const fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// The options that were given, in the order of the registry.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.values.iter().map(|(setting, value)| (setting.parameter.name, value))
    }

    /// What was given for an option; none if it was left out.
    pub fn get(&self, option: &str) -> Option<&Value> {
        self.given().find(|(name, _)| *name == option).map(|(_, value)| value)
    }

    /// The number that was given for an option.
    pub fn whole(&self, option: &str) -> Option<u64> {
        match self.get(option) {
            Some(Value::Whole(n)) => Some(*n),
            _ => None,
        }
    }

    /// The name or path that was given for an option.
    pub fn text(&self, option: &str) -> Option<&str> {
        match self.get(option) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The machine. Nothing starts and no library but a named one is loaded before it prepares a program.
    ///
    /// # Errors
    /// What prevents it from being there.
    pub fn open(&self) -> Result<Arc<dyn Machine>, MachineError> {
        (self.entry.open)(self)
    }

    /// Estimates the time of a program on it without running it.
    ///
    /// # Errors
    /// [`MachineError::NoEstimate`] of a machine without an estimate; why it cannot run the program.
    pub fn estimate(&self, program: &LimbProgram) -> Result<Timing, MachineError> {
        let outcome = self.open()?.estimate(program)?;
        let others = registry::that_estimate;
        outcome.ok_or_else(|| MachineError::NoEstimate { machine: self.name(), others: others() })
    }

    fn setting(&self, option: &str) -> Result<&'static Setting, SpecError> {
        let found = self.entry.options.iter().find(|setting| setting.parameter.name == option);
        found.ok_or_else(|| SpecError::UnknownOption {
            machine: self.entry.name,
            option: shown(option),
            known: self.entry.known(),
        })
    }

    fn put(&mut self, setting: &'static Setting, value: Value) {
        let place = |of: &'static Setting| self.entry.options.iter().position(|s| std::ptr::eq(s, of));
        let at = place(setting);
        match self.values.iter().position(|(given, _)| place(given) >= at) {
            Some(i) if std::ptr::eq(self.values[i].0, setting) => self.values[i].1 = value,
            Some(i) => self.values.insert(i, (setting, value)),
            None => self.values.push((setting, value)),
        }
    }

    fn refused(&self, setting: &Setting, why: Refused, value: &str) -> SpecError {
        let (machine, option) = (self.entry.name, setting.parameter.name);
        let (value, allowed) = (shown(value), setting.parameter.allowed.to_string());
        match why {
            Refused::Kind => SpecError::BadValue { machine, option, value, allowed },
            Refused::Range => SpecError::OutOfRange { machine, option, value, allowed },
        }
    }
}

/// What was given, cut where it is long.
fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// An option and its value, and what follows the comma behind them.
struct Item<'t> {
    option: Option<&'t str>,
    value: String,
    rest: Option<&'t str>,
}

impl<'t> Item<'t> {
    fn take(text: &'t str) -> Result<Self, &'static str> {
        let text = text.trim_start();
        let (option, text) = match text.find(['=', ',', '"']) {
            Some(at) if text.as_bytes()[at] == b'=' => {
                (Some(text[..at].trim_end()), text[at + 1..].trim_start())
            }
            _ => (None, text),
        };
        if option == Some("") {
            return Err("an option has no name");
        }
        let (value, rest) = match text.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => {
                let end = text.find(',').unwrap_or(text.len());
                (text[..end].trim_end().to_owned(), &text[end..])
            }
        };
        if value.contains('"') && !text.starts_with('"') {
            return Err("a quote stands inside of a value; quote all of it, as \"a\\\"b\"");
        }
        if value.is_empty() && !text.starts_with('"') {
            return Err("a value is missing");
        }
        let rest = rest.trim_start();
        match rest.strip_prefix(',') {
            Some(more) => Ok(Self { option, value, rest: Some(more) }),
            None if rest.is_empty() => Ok(Self { option, value, rest: None }),
            None => Err("a comma is missing behind a quoted value"),
        }
    }
}

/// What stands before the closing quote, and what behind it.
fn unquoted(text: &str) -> Result<(String, &str), &'static str> {
    let (mut value, mut characters) = (String::new(), text.char_indices());
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Ok((value, &text[at + 1..])),
            '\\' => match characters.next() {
                Some((_, escaped @ ('"' | '\\'))) => value.push(escaped),
                _ => return Err("a backslash in quotes stands before a quote or a backslash alone"),
            },
            _ => value.push(c),
        }
    }
    Err("a quote is not closed")
}

impl FromStr for MachineSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Self::parse(text)
    }
}

/// The text that reads back as the same machine.
impl fmt::Display for MachineSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry.name)?;
        for (i, (option, value)) in self.given().enumerate() {
            write!(f, "{}{option}=", if i == 0 { ':' } else { ',' })?;
            let value = value.to_string();
            if value.trim() != value || value.contains([',', '"']) || value.is_empty() {
                write!(f, "\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))?;
            } else {
                f.write_str(&value)?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for MachineSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MachineSpec({self})")
    }
}

impl PartialEq for MachineSpec {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.given().eq(other.given())
    }
}

impl Eq for MachineSpec {}

impl Hash for MachineSpec {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
        self.given().for_each(|given| given.hash(state));
    }
}
