//! Every field of a frame has a row in `docs/reference/fields.md`, with its source.

use std::collections::BTreeSet;

const TABLE: &str = include_str!("../../../../docs/reference/fields.md");
const SOURCES: [&str; 6] = ["public", "declared", "random", "encrypted", "checked", "secret"];

/// (kind, field, source) of every row of the table of frames.
fn rows() -> BTreeSet<(String, String, String)> {
    let frames =
        TABLE.split("## Frames").nth(1).and_then(|rest| rest.split("## Bundles").next()).unwrap_or("");
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect();
    let lines = frames.lines().filter(|line| line.starts_with('|')).skip(2);
    let mut rows = BTreeSet::new();
    for cells in lines.map(cells) {
        let cells: Vec<String> = cells;
        for (kind, field) in cells[1].split(", ").flat_map(|k| cells[2].split(", ").map(move |f| (k, f))) {
            rows.insert((kind.to_owned(), field.trim_matches('`').to_owned(), cells[3].clone()));
        }
    }
    rows
}

/// The names of the fields of a structure, by what it prints: every field once, in the order of the structure.
fn fields(source: &str, structure: &str) -> Vec<String> {
    let body =
        source.split(&format!("struct {structure} {{")).nth(1).and_then(|rest| rest.split("\n}").next());
    let field = |line: &str| {
        let line = line.trim().trim_start_matches("pub(super) ").trim_start_matches("pub ");
        let (name, _) = line.split_once(':')?;
        name.chars().all(|c| c.is_ascii_lowercase() || c == '_').then(|| name.to_owned())
    };
    body.unwrap_or("").lines().filter_map(field).collect()
}

#[test]
fn every_field_of_a_frame_has_a_source() {
    let rows = rows();
    assert!(rows.len() > 40, "{}", rows.len());
    for (kind, field, source) in &rows {
        assert!(SOURCES.contains(&&source[..]), "{kind} {field}: {source}");
    }
    let has = |kind: &str, field: &str| rows.iter().any(|row| row.0 == kind && row.1 == field);
    let (header, frame) = (include_str!("header.rs"), include_str!("frame.rs"));
    let literal = include_str!("../params/literal.rs");
    // What is written of each structure; the names in the table are those of the code.
    for (kind, structure, skipped) in [
        ("ciphertext", "MetaHeader", ""),
        ("half-size ciphertext", "MetaHeader", ""),
        ("plaintext", "MetaHeader", ""),
        ("ciphertext", "CipherHeader", "meta"),
        ("half-size ciphertext", "SeededHeader", "meta"),
        ("evaluation keys", "KeysHeader", ""),
        ("parameters", "ParamsLiteral", ""),
    ] {
        let found = fields(if kind == "parameters" { literal } else { header }, structure);
        assert!(!found.is_empty(), "{structure}");
        for field in found.iter().filter(|field| *field != skipped) {
            assert!(
                has(kind, field),
                "{kind}: {field} of {structure} has no row in docs/reference/fields.md"
            );
        }
    }
    for field in fields(frame, "Front").iter().filter(|field| !["payload", "header"].contains(&&field[..])) {
        assert!(has("every", field), "{field} of the front has no row in docs/reference/fields.md");
    }
}
