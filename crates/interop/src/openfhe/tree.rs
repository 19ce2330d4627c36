//! JSON as a tree in which lists of whole numbers take eight bytes a number.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use zeroize::Zeroizing;

/// A value of JSON.
pub(super) enum Node {
    Null,
    Bool(bool),
    Whole(u64),
    /// A number with a sign or a fraction.
    Real(f64),
    Text(String),
    /// A list of whole numbers alone, not empty.
    Words(Vec<u64>),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Node {
    /// The value of a field.
    pub(super) fn field(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Map(fields) => fields.iter().find(|(known, _)| known == name).map(|(_, node)| node),
            _ => None,
        }
    }
}

/// Residues may be those of a secret key.
impl Drop for Node {
    fn drop(&mut self) {
        if let Self::Words(words) = self {
            zeroize::Zeroize::zeroize(words);
        }
    }
}

/// Appends a word. Where words move to a larger allocation, those that stay behind are wiped.
fn push(words: &mut Zeroizing<Vec<u64>>, word: u64) {
    if words.len() == words.capacity() {
        let mut more = Vec::with_capacity(2 * words.len().max(8));
        more.extend_from_slice(words);
        *words = Zeroizing::new(more);
    }
    words.push(word);
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Whole(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Real(value as f64))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Real(value))
    }
    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Text(value.to_owned()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut words = Zeroizing::new(Vec::new());
        let mut list = Vec::new();
        while let Some(node) = entries.next_element::<Node>()? {
            match node {
                Node::Whole(word) if list.is_empty() => push(&mut words, word),
                other => {
                    list.extend(words.drain(..).map(Node::Whole));
                    list.push(other);
                }
            }
        }
        Ok(if words.is_empty() { Node::List(list) } else { Node::Words(std::mem::take(&mut *words)) })
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut fields = Vec::new();
        while let Some(entry) = entries.next_entry::<String, Node>()? {
            fields.push(entry);
        }
        Ok(Node::Map(fields))
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}
