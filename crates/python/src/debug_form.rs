//! Reads what `#[derive(Debug)]` prints of an enum variant: its name and its named fields.
//!
//! This spares a hand-written list of every field of every error variant, which would go stale. What it does
//! not understand it leaves out: the message of an exception never depends on it.

/// A field's value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Integer(i128),
    Float(f64),
    Text(String),
}

/// `Variant { a: 1, b: "x" }` as ("Variant", [("a", 1), ("b", "x")]).
pub(crate) fn read(form: &str) -> Option<(String, Vec<(String, Value)>)> {
    let name: String = form.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let rest = form[name.len()..].trim();
    if name.is_empty() {
        return None;
    }
    let inner = rest.strip_prefix('{').and_then(|r| r.strip_suffix('}')).unwrap_or("");
    let fields = split(inner).into_iter().filter_map(|part| {
        let (field, value) = part.split_once(": ")?;
        Some((field.trim().to_owned(), value_of(value.trim())))
    });
    Some((name, fields.collect()))
}

/// Pieces between the commas that stand outside of strings and brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut escaped, mut start) = (0usize, false, false, 0);
    let mut pieces = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '{' | '(' | '[' if !quoted => depth += 1,
            '}' | ')' | ']' if !quoted => depth = depth.saturating_sub(1),
            ',' if !quoted && depth == 0 => {
                pieces.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(&text[start..]);
    pieces
}

fn value_of(text: &str) -> Value {
    // Newtypes such as Level(3), and Some(3), stand for what they hold.
    let bare = match (text.find('('), text.strip_suffix(')')) {
        (Some(open), Some(body)) if text[..open].chars().all(char::is_alphanumeric) => &body[open + 1..],
        _ => text,
    };
    if let Some(body) = bare.strip_prefix('"').and_then(|b| b.strip_suffix('"')) {
        return Value::Text(body.replace("\\\"", "\"").replace("\\\\", "\\"));
    }
    if let Ok(integer) = bare.parse() {
        return Value::Integer(integer);
    }
    bare.parse().map_or_else(|_| Value::Text(text.to_owned()), Value::Float)
}
