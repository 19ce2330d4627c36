//! Typed reading of the tables of a description; each fault names file, table, field, and what would be right.

use toml::{Table, Value};

use crate::error::DescriptionError;
use crate::expression::Expression;

/// A table of a file while it is read.
#[derive(Clone, Copy)]
pub(super) struct Reader<'t> {
    pub(super) file: &'t str,
    pub(super) name: &'t str,
    table: &'t Table,
}

/// The names under which a table says where its numbers come from.
pub(super) const SOURCES: [&str; 2] = ["source", "sources"];

/// How much of a wrong value a message shows.
const SHOWN: usize = 60;

/// Whole numbers that a field may have.
pub(super) struct Whole {
    pub(super) least: u64,
    pub(super) most: u64,
    pub(super) unit: &'static str,
}

impl<'t> Reader<'t> {
    /// A table that must hold no other fields than these and its sources.
    pub(super) fn new(
        file: &'t str,
        name: &'t str,
        table: &'t Table,
        fields: &[&str],
    ) -> Result<Self, DescriptionError> {
        let reader = Self { file, name, table };
        reader.fields_are(fields).map(|()| reader)
    }

    /// Whether it holds no other fields than these and its sources.
    pub(super) fn fields_are(&self, fields: &[&str]) -> Result<(), DescriptionError> {
        let known = || fields.iter().copied().chain(SOURCES);
        match self.table.keys().find(|key| !known().any(|k| k == *key)) {
            None => Ok(()),
            Some(field) => Err(DescriptionError::UnknownField {
                file: self.file.into(),
                table: self.name.into(),
                field: field.as_str().into(),
                hint: hint(field, known()).into(),
                known: fields.join(", ").into(),
            }),
        }
    }

    /// A table whose fields are names that the caller checks.
    pub(super) const fn any(file: &'t str, name: &'t str, table: &'t Table) -> Self {
        Self { file, name, table }
    }

    /// Its fields but for the sources.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&'t str, &'t Value)> {
        self.table.iter().map(|(key, value)| (key.as_str(), value)).filter(|(key, _)| !SOURCES.contains(key))
    }

    pub(super) fn has(&self, field: &str) -> bool {
        self.table.contains_key(field)
    }

    pub(super) fn missing(&self, field: &str, expected: impl Into<Box<str>>) -> DescriptionError {
        DescriptionError::MissingField {
            file: self.file.into(),
            table: self.name.into(),
            field: field.into(),
            expected: expected.into(),
        }
    }

    pub(super) fn wrong(
        &self,
        field: &str,
        found: &Value,
        expected: impl Into<Box<str>>,
    ) -> DescriptionError {
        DescriptionError::Value {
            file: self.file.into(),
            table: self.name.into(),
            field: field.into(),
            found: shown(&found.to_string()).into(),
            expected: expected.into(),
        }
    }

    pub(super) fn contradiction(&self, why: impl Into<Box<str>>) -> DescriptionError {
        DescriptionError::Contradiction { file: self.file.into(), table: self.name.into(), why: why.into() }
    }

    pub(super) fn unknown<'k>(
        &self,
        field: &str,
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'k str>,
    ) -> DescriptionError {
        let known: Vec<_> = known.into_iter().collect();
        DescriptionError::UnknownName {
            file: self.file.into(),
            table: self.name.into(),
            field: field.into(),
            what,
            name: shown(name).into(),
            hint: hint(name, known.iter().copied()).into(),
            known: known.join(", ").into(),
        }
    }

    /// Where the number of a field comes from.
    fn source(&self, field: &str) -> Result<&'t str, DescriptionError> {
        let own = self.table.get("sources").and_then(Value::as_table).and_then(|t| t.get(field));
        let text = own.or_else(|| self.table.get("source")).and_then(Value::as_str).map(str::trim);
        text.filter(|text| !text.is_empty()).ok_or_else(|| DescriptionError::NoSource {
            file: self.file.into(),
            table: self.name.into(),
            field: field.into(),
        })
    }

    /// All fields and where they come from; those of `sources` must be fields.
    pub(super) fn sources(&self) -> Result<Vec<(String, String)>, DescriptionError> {
        match self.table.get("sources") {
            None => {}
            Some(Value::Table(of)) => {
                for (field, value) in of {
                    if !self.has(field) || SOURCES.contains(&field.as_str()) {
                        return Err(self.unknown("sources", "field", field, self.fields().map(|f| f.0)));
                    }
                    if !value.is_str() {
                        return Err(self.wrong("sources", value, "a text for each field"));
                    }
                }
            }
            Some(other) => {
                return Err(self.wrong("sources", other, "a table, as { first = \"assumed: …\" }"));
            }
        }
        self.fields().map(|(field, _)| Ok((field.to_owned(), self.source(field)?.to_owned()))).collect()
    }

    pub(super) fn text(&self, field: &str, expected: &str) -> Result<Option<&'t str>, DescriptionError> {
        match self.table.get(field) {
            None => Ok(None),
            Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text.trim())),
            Some(other) => Err(self.wrong(field, other, expected)),
        }
    }

    pub(super) fn flag(&self, field: &str) -> Result<Option<bool>, DescriptionError> {
        match self.table.get(field) {
            None => Ok(None),
            Some(Value::Boolean(flag)) => Ok(Some(*flag)),
            Some(other) => Err(self.wrong(field, other, "true or false")),
        }
    }

    pub(super) fn whole(&self, field: &str, of: &Whole) -> Result<Option<u64>, DescriptionError> {
        let Some(value) = self.table.get(field) else { return Ok(None) };
        let number = value.as_integer().and_then(|n| u64::try_from(n).ok());
        let inside = number.filter(|n| (of.least..=of.most).contains(n));
        inside.map(Some).ok_or_else(|| self.wrong(field, value, of.to_string()))
    }

    /// A number that is not below `least`.
    pub(super) fn number(
        &self,
        field: &str,
        least: f64,
        most: f64,
        unit: &str,
    ) -> Result<Option<f64>, DescriptionError> {
        let Some(value) = self.table.get(field) else { return Ok(None) };
        let number = value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
        let inside = number.filter(|x| *x >= least && *x <= most);
        let expected = || format!("{least} to {most} {unit}").trim_end().to_owned();
        inside.map(Some).ok_or_else(|| self.wrong(field, value, expected()))
    }

    /// A number of cycles, as a text or as a whole number.
    pub(super) fn expression(&self, field: &str) -> Result<Option<Expression>, DescriptionError> {
        let expected = "cycles, as 64 or \"n/1024 + 256\"";
        match self.table.get(field) {
            None => Ok(None),
            Some(Value::Integer(n)) if *n >= 0 => Ok(Some(Expression::fixed(*n as u64))),
            Some(Value::String(text)) => {
                Expression::parse(text).map(Some).map_err(|why| DescriptionError::Expression {
                    file: self.file.into(),
                    table: self.name.into(),
                    field: field.into(),
                    text: shown(text).into(),
                    why: why.into(),
                })
            }
            Some(other) => Err(self.wrong(field, other, expected)),
        }
    }

    /// A list of some of these words.
    pub(super) fn words(
        &self,
        field: &str,
        known: &[&'static str],
    ) -> Result<Option<Vec<&'static str>>, DescriptionError> {
        let Some(value) = self.table.get(field) else { return Ok(None) };
        let expected = || format!("a list of {}", known.join(", "));
        let list = value.as_array().ok_or_else(|| self.wrong(field, value, expected()))?;
        let one = |item: &Value| known.iter().copied().find(|k| item.as_str() == Some(k));
        let all = list.iter().map(|item| one(item).ok_or_else(|| self.wrong(field, item, expected())));
        all.collect::<Result<_, _>>().map(Some)
    }
}

impl std::fmt::Display for Whole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a whole number, {} to {}", self.least, self.most)?;
        if self.unit.is_empty() { Ok(()) } else { write!(f, " {}", self.unit) }
    }
}

/// What was found, cut where it is long.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// " (did you mean …?)", or nothing.
pub(super) fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    /// Below this two words have little in common (Jaro and Winkler's measure, 0 to 1).
    const RESEMBLES: f64 = 0.7;
    let scored = known.into_iter().map(|k| (strsim::jaro_winkler(word, k), k));
    let nearest = scored.filter(|&(score, _)| score >= RESEMBLES).max_by(|a, b| a.0.total_cmp(&b.0));
    nearest.map(|(_, k)| format!(" (did you mean {k:?}?)")).unwrap_or_default()
}
