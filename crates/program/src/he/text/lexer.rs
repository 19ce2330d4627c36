//! One line of text to tokens.

use crate::he::Rule;

/// A token; slices point into the line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token<'a> {
    /// `[A-Za-z_][A-Za-z0-9_.]*`.
    Word(&'a str),
    /// `%` and a number or identifier, without the `%`.
    Value(&'a str),
    /// `@` and an identifier, without the `@`.
    Name(&'a str),
    /// Digits, sign, point, exponent.
    Number(&'a str),
    /// A string, unescaped.
    Text(String),
    /// Punctuation, among it a lone `@`.
    Punct(char),
}

impl Token<'_> {
    pub(super) fn show(&self) -> String {
        match self {
            Self::Word(s) | Self::Number(s) => format!("'{s}'"),
            Self::Value(s) => format!("'%{s}'"),
            Self::Name(s) => format!("'@{s}'"),
            Self::Text(s) => format!("{s:?}"),
            Self::Punct(c) => format!("'{c}'"),
        }
    }
}

fn syntax(expected: &str, found: impl Into<String>) -> Rule {
    Rule::Syntax { expected: expected.into(), found: found.into() }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

/// Splits off the longest prefix whose characters satisfy `keep`.
fn take(s: &str, keep: impl Fn(char) -> bool) -> (&str, &str) {
    s.split_at(s.find(|c| !keep(c)).unwrap_or(s.len()))
}

/// The tokens of a line, up to a comment.
pub(super) fn tokens(line: &str) -> Result<Vec<Token<'_>>, Rule> {
    let mut out = Vec::new();
    let mut rest = line.trim_start();
    while let Some(c) = rest.chars().next() {
        let (token, after) = match c {
            '#' => break,
            '"' => {
                let (text, after) = string(&rest[1..])?;
                (Token::Text(text), after)
            }
            '%' => {
                let (name, after) = take(&rest[1..], is_word);
                if name.is_empty() {
                    return Err(syntax("a value such as %3 or %score", "'%'"));
                }
                (Token::Value(name), after)
            }
            '@' if rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => {
                let (name, after) = take(&rest[1..], is_word);
                (Token::Name(name), after)
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let (word, after) = take(rest, is_word);
                (Token::Word(word), after)
            }
            c if c.is_ascii_digit() || c == '-' || c == '+' || c == '.' => {
                let (number, after) = number(rest);
                (Token::Number(number), after)
            }
            '=' | ',' | '(' | ')' | '[' | ']' | ':' | '*' | '^' | '@' => (Token::Punct(c), &rest[1..]),
            c => return Err(syntax("an item of a program line", format!("'{c}'"))),
        };
        out.push(token);
        rest = after.trim_start();
    }
    Ok(out)
}

/// A number: sign, then digits, letters and points, with a sign allowed after an exponent's e.
fn number(s: &str) -> (&str, &str) {
    let bytes = s.as_bytes();
    let mut i = 1;
    while i < bytes.len() {
        let sign_of_exponent = matches!(bytes[i], b'+' | b'-') && matches!(bytes[i - 1], b'e' | b'E');
        if !(bytes[i].is_ascii_alphanumeric() || bytes[i] == b'.' || sign_of_exponent) {
            break;
        }
        i += 1;
    }
    s.split_at(i)
}

/// A string after its opening quote, and what follows its closing quote.
fn string(s: &str) -> Result<(String, &str), Rule> {
    let mut out = String::new();
    let mut chars = s.char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            '"' => return Ok((out, &s[i + 1..])),
            '\\' => out.push(escape(&mut chars)?),
            c => out.push(c),
        }
    }
    Err(syntax("a closing quote", "the end of the line"))
}

fn escape(chars: &mut std::str::CharIndices<'_>) -> Result<char, Rule> {
    let bad = || syntax("an escape \\\" \\\\ \\n \\t or \\u{hex}", "something else");
    match chars.next().map(|(_, c)| c) {
        Some(c @ ('"' | '\\' | '\'')) => Ok(c),
        Some('n') => Ok('\n'),
        Some('t') => Ok('\t'),
        Some('r') => Ok('\r'),
        Some('0') => Ok('\0'),
        Some('u') => {
            let body: String = chars.by_ref().map(|(_, c)| c).take_while(|&c| c != '}').take(8).collect();
            let hex = body.strip_prefix('{').ok_or_else(bad)?;
            u32::from_str_radix(hex, 16).ok().and_then(char::from_u32).ok_or_else(bad)
        }
        _ => Err(bad()),
    }
}
