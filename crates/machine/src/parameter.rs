//! Parameters of machines: what each is called, what it may be, what it means.

use std::fmt;

/// A parameter of a machine, declared once: texts of machines, files, configurations, help and pages read it here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name as an option in the text of a machine, as `word`.
    pub name: &'static str,
    /// Its name in files, in Rust and in Python, as `word_bits`.
    pub field: &'static str,
    /// Its name in the top module of the hardware; none if the hardware does not depend on it.
    pub rtl: Option<&'static str>,
    /// What it may be.
    pub allowed: Allowed,
    /// What it is unless something else is said; none where that depends on the machine or the program.
    pub default: Option<Preset>,
    /// Its unit; empty for a number of things and for a name.
    pub unit: &'static str,
    /// What it means, in a few words.
    pub about: &'static str,
}

/// What a parameter may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// Whole numbers, both ends among them.
    Range(u64, u64),
    /// Some whole numbers, ascending.
    Numbers(&'static [u32]),
    /// Some names.
    Names(&'static [&'static str]),
    /// The path of a file or a device.
    Path,
    /// A host and a port of it.
    HostPort,
}

/// A value that stands in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// A whole number.
    Whole(u64),
    /// A name.
    Name(&'static str),
}

/// A value that was given.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    /// A whole number.
    Whole(u64),
    /// A name or a path.
    Text(String),
}

/// Why a value is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// It is not of the kind: no number, no name of the list, no path.
    Kind,
    /// It is a number that lies outside.
    Range,
}

impl Allowed {
    /// The value that a text stands for.
    ///
    /// # Errors
    /// Why it stands for none.
    pub fn read(&self, text: &str) -> Result<Value, Refused> {
        let value = match self {
            Self::Range(..) | Self::Numbers(_) => {
                if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
                    return Err(Refused::Kind);
                }
                // What is too long for 64 bits is a number all the same.
                Value::Whole(text.parse().map_err(|_| Refused::Range)?)
            }
            Self::Names(_) | Self::Path | Self::HostPort => Value::Text(text.to_owned()),
        };
        self.check(&value).map(|()| value)
    }

    /// Whether a value is allowed.
    ///
    /// # Errors
    /// Why it is not.
    pub fn check(&self, value: &Value) -> Result<(), Refused> {
        match (self, value) {
            (Self::Range(least, most), Value::Whole(n)) if (least..=most).contains(&n) => Ok(()),
            (Self::Numbers(all), Value::Whole(n)) if all.iter().any(|one| u64::from(*one) == *n) => Ok(()),
            (Self::Range(..) | Self::Numbers(_), Value::Whole(_)) => Err(Refused::Range),
            (Self::Names(all), Value::Text(name)) if all.contains(&&**name) => Ok(()),
            (Self::HostPort, Value::Text(text)) if is_host_and_port(text) => Ok(()),
            (Self::Path, Value::Text(path)) if !path.is_empty() && !path.contains('\0') => Ok(()),
            _ => Err(Refused::Kind),
        }
    }

    /// The greatest number that is allowed; none where names are.
    pub fn most(&self) -> Option<u64> {
        match self {
            Self::Range(_, most) => Some(*most),
            Self::Numbers(all) => all.last().copied().map(u64::from),
            Self::Names(_) | Self::Path | Self::HostPort => None,
        }
    }
}

/// As messages and pages say it: "1 to 256", "1, 2, 4, 8 or 16", "a path".
impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range(least, most) => write!(f, "{least} to {most}"),
            Self::Numbers(all) => choice(f, all),
            Self::Names(all) => choice(f, all),
            Self::Path => f.write_str("a path"),
            Self::HostPort => f.write_str("HOST:PORT"),
        }
    }
}

/// As `localhost:1234` or `[::1]:1234`; a host's own colons stand in brackets.
fn is_host_and_port(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let bracketed = host.starts_with('[') && host.ends_with(']');
    let plain = !host.is_empty() && !host.contains(|c: char| c == ':' || c.is_whitespace() || c.is_control());
    let digits = port.bytes().all(|b| b.is_ascii_digit());
    (plain || bracketed) && digits && port.parse::<u16>().is_ok_and(|port| port != 0)
}

fn choice<T: fmt::Display>(f: &mut fmt::Formatter<'_>, all: &[T]) -> fmt::Result {
    for (i, one) in all.iter().enumerate() {
        let before = match i {
            0 => "",
            _ if i + 1 == all.len() => " or ",
            _ => ", ",
        };
        write!(f, "{before}{one}")?;
    }
    Ok(())
}

impl From<Preset> for Value {
    fn from(preset: Preset) -> Self {
        match preset {
            Preset::Whole(n) => Self::Whole(n),
            Preset::Name(name) => Self::Text(name.to_owned()),
        }
    }
}

impl From<u64> for Value {
    fn from(n: u64) -> Self {
        Self::Whole(n)
    }
}

impl From<u32> for Value {
    fn from(n: u32) -> Self {
        Self::Whole(n.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(n) => n.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(n) => n.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allowed_is_read_and_the_rest_is_refused_for_a_reason() {
        const SIZES: Allowed = Allowed::Numbers(&[1, 2, 4]);
        assert_eq!(SIZES.read("4"), Ok(Value::Whole(4)));
        assert_eq!(SIZES.read("3"), Err(Refused::Range));
        for text in ["", "-1", "+1", "1.0", "four", "０"] {
            assert_eq!(SIZES.read(text), Err(Refused::Kind), "{text}");
        }
        assert_eq!(Allowed::Range(1, 9).read("99999999999999999999999"), Err(Refused::Range));
        assert_eq!(Allowed::Range(1, 9).read("9"), Ok(Value::Whole(9)));
        assert_eq!(Allowed::Names(&["a", "b"]).read("b"), Ok(Value::Text("b".into())));
        assert_eq!(Allowed::Names(&["a", "b"]).read("c"), Err(Refused::Kind));
        assert_eq!(Allowed::Path.read("a b"), Ok(Value::Text("a b".into())));
        assert_eq!(
            (Allowed::Path.read(""), Allowed::Path.read("a\0b")),
            (Err(Refused::Kind), Err(Refused::Kind))
        );
        assert_eq!(SIZES.check(&Value::Text("4".into())), Err(Refused::Kind));
    }

    #[test]
    fn what_is_allowed_is_said_in_words() {
        let said = |allowed: Allowed| allowed.to_string();
        assert_eq!(said(Allowed::Range(1, 256)), "1 to 256");
        assert_eq!(said(Allowed::Numbers(&[1, 2, 4])), "1, 2 or 4");
        assert_eq!(said(Allowed::Names(&["one"])), "one");
    }
}
