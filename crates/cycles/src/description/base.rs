//! Descriptions that change another one: tables of the base with some fields replaced.

use std::path::Path;

use toml::{Table, Value};

use super::shipped;
use super::table::SOURCES;
use crate::error::DescriptionError;

/// Bases of bases.
const MOST: usize = 8;

/// Tables of tables.
const NESTED: [&str; 3] = ["unit", "memory", "offchip"];

/// The tables of a text, completed by those of its base.
pub(super) fn merged(file: &str, text: &str) -> Result<Table, DescriptionError> {
    let mut table = parsed(file, text)?;
    let mut at = file.to_owned();
    for _ in 0..MOST {
        let machine = table.get_mut("machine").and_then(Value::as_table_mut);
        let Some((machine, base)) = machine.and_then(|m| m.remove("base").map(|base| (m, base))) else {
            return Ok(table);
        };
        // A base of a base has no source to keep.
        if let Some(Value::Table(sources)) = machine.get_mut(SOURCES[1]) {
            sources.remove("base");
        }
        let Value::String(base) = base else {
            return Err(DescriptionError::Value {
                file: at.into(),
                table: "machine".into(),
                field: "base".into(),
                found: base.to_string().into(),
                expected: "the name of a machine that comes with the program, or a path that ends in .toml"
                    .into(),
            });
        };
        let below = if base.ends_with(".toml") {
            let path = Path::new(&at).parent().unwrap_or(Path::new("")).join(&base);
            at = path.display().to_string();
            parsed(&at, &shipped::file(&path, &at)?)?
        } else {
            at = base;
            parsed(&at, shipped::text(&at)?)?
        };
        table = over(below, table);
    }
    Err(DescriptionError::Bases { file: file.into(), most: MOST })
}

fn parsed(file: &str, text: &str) -> Result<Table, DescriptionError> {
    text.parse().map_err(|e: toml::de::Error| DescriptionError::Syntax {
        file: file.into(),
        why: e.to_string().trim_end().into(),
    })
}

/// `new` over `old`, table by table.
fn over(mut old: Table, new: Table) -> Table {
    for (name, value) in new {
        match (old.get_mut(&name), value) {
            (Some(Value::Table(below)), Value::Table(above)) if NESTED.contains(&name.as_str()) => {
                for (inner, value) in above {
                    match (below.get_mut(&inner), value) {
                        (Some(Value::Table(below)), Value::Table(above)) => lay(below, above),
                        (_, value) => _ = below.insert(inner, value),
                    }
                }
            }
            (Some(Value::Table(below)), Value::Table(above)) => lay(below, above),
            (_, value) => _ = old.insert(name, value),
        }
    }
    old
}

/// One table over another. What stays keeps its source, what is new has the new one: the old source says nothing of new numbers.
fn lay(below: &mut Table, above: Table) {
    let source = below.remove("source");
    let mut sources = match below.remove("sources") {
        Some(Value::Table(sources)) => sources,
        _ => Table::new(),
    };
    if let Some(source) = source {
        for field in below.keys() {
            sources.entry(field).or_insert_with(|| source.clone());
        }
    }
    for field in above.keys().filter(|field| !SOURCES.contains(&field.as_str())) {
        sources.remove(field);
    }
    for (field, value) in above {
        match (field.as_str(), value) {
            ("sources", Value::Table(new)) => sources.extend(new),
            (_, value) => _ = below.insert(field, value),
        }
    }
    if !sources.is_empty() {
        below.insert("sources".into(), Value::Table(sources));
    }
}
