//! The form in JSON: fields by name, lists as arrays.

use std::io::Write;

use super::OpenFheError;
use super::archive::{Archive, Met, Result};
use super::tree::Node;

pub(super) struct JsonReader<'t> {
    what: &'static str,
    /// Open structures and lists, innermost last, with the next entry of a list.
    open: Vec<(&'t Node, usize)>,
    met: Met,
}

impl<'t> JsonReader<'t> {
    pub(super) fn new(what: &'static str, root: &'t Node) -> Self {
        Self { what, open: vec![(root, 0)], met: Met::default() }
    }

    fn wrong(&self, name: &str, wanted: &'static str) -> OpenFheError {
        let field = if name.is_empty() { "an entry of a list".to_owned() } else { format!("{name:?}") };
        OpenFheError::Field { what: self.what, field, wanted }
    }

    /// The value at a field of the innermost structure, or the next entry of the innermost list.
    fn next(&mut self, name: &'static str, wanted: &'static str) -> Result<&'t Node> {
        let found = self.open.last_mut().and_then(|(node, at)| match node {
            Node::List(entries) => {
                *at += 1;
                entries.get(*at - 1)
            }
            other => other.field(name),
        });
        found.ok_or_else(|| self.wrong(name, wanted))
    }

    fn whole(&mut self, name: &'static str) -> Result<u64> {
        match self.next(name, "whole number")? {
            Node::Whole(value) => Ok(*value),
            Node::Bool(value) => Ok(u64::from(*value)),
            _ => Err(self.wrong(name, "whole number")),
        }
    }

    fn real(&mut self, name: &'static str) -> Result<f64> {
        match self.next(name, "number")? {
            Node::Whole(value) => Ok(*value as f64),
            Node::Real(value) => Ok(*value),
            _ => Err(self.wrong(name, "number")),
        }
    }
}

impl Archive for JsonReader<'_> {
    const READS: bool = true;

    fn what(&self) -> &'static str {
        self.what
    }
    fn met(&mut self) -> &mut Met {
        &mut self.met
    }
    fn open(&mut self, name: &'static str) -> Result<()> {
        let node = self.next(name, "structure")?;
        match node {
            Node::Map(_) => self.open.push((node, 0)),
            _ => return Err(self.wrong(name, "structure")),
        }
        Ok(())
    }
    fn close(&mut self) -> Result<()> {
        self.open.pop();
        Ok(())
    }
    fn list(&mut self, name: &'static str, field: &'static str, len: &mut usize, most: usize) -> Result<()> {
        let node = self.next(name, "list")?;
        let Node::List(entries) = node else { return Err(self.wrong(name, "list")) };
        if entries.len() > most {
            let (found, expected) = (entries.len() as u64, format!("at most {most} occur"));
            return Err(OpenFheError::Count { what: self.what, field, found, expected });
        }
        *len = entries.len();
        self.open.push((node, 0));
        Ok(())
    }
    fn class_version(&mut self, value: &mut u32) -> Result<()> {
        self.u32("cereal_class_version", value)
    }
    fn u8(&mut self, name: &'static str, value: &mut u8) -> Result<()> {
        let found = self.whole(name)?;
        *value = u8::try_from(found).map_err(|_| self.wrong(name, "number of 8 bits"))?;
        Ok(())
    }
    fn u32(&mut self, name: &'static str, value: &mut u32) -> Result<()> {
        let found = self.whole(name)?;
        *value = u32::try_from(found).map_err(|_| self.wrong(name, "number of 32 bits"))?;
        Ok(())
    }
    fn u64(&mut self, name: &'static str, value: &mut u64) -> Result<()> {
        *value = self.whole(name)?;
        Ok(())
    }
    fn f32(&mut self, name: &'static str, value: &mut f32) -> Result<()> {
        *value = self.real(name)? as f32;
        Ok(())
    }
    fn f64(&mut self, name: &'static str, value: &mut f64) -> Result<()> {
        *value = self.real(name)?;
        Ok(())
    }
    fn text(&mut self, name: &'static str, value: &mut String) -> Result<()> {
        match self.next(name, "text")? {
            Node::Text(found) => value.clone_from(found),
            _ => return Err(self.wrong(name, "text")),
        }
        Ok(())
    }
    fn words(&mut self, name: &'static str, words: &mut [u64]) -> Result<()> {
        match self.next(name, "list of words")? {
            Node::Words(found) if found.len() == words.len() => words.copy_from_slice(found),
            Node::Words(found) => {
                let (found, expected) = (found.len() as u64, format!("{} is the ring's", words.len()));
                return Err(OpenFheError::Count {
                    what: self.what,
                    field: "words in a tower",
                    found,
                    expected,
                });
            }
            _ => return Err(self.wrong(name, "list of words")),
        }
        Ok(())
    }
    fn few_words(&mut self, name: &'static str, words: &mut Vec<u64>, most: usize) -> Result<()> {
        match self.next(name, "list of words")? {
            Node::Words(found) if found.len() <= most => words.clone_from(found),
            Node::List(found) if found.is_empty() => words.clear(),
            _ => return Err(self.wrong(name, "short list of words")),
        }
        Ok(())
    }
}

pub(super) struct JsonWriter<'a> {
    what: &'static str,
    out: &'a mut dyn Write,
    /// What closes each open structure or list, and whether an entry stands in it already.
    open: Vec<(char, bool)>,
    met: Met,
}

impl<'a> JsonWriter<'a> {
    pub(super) fn new(what: &'static str, out: &'a mut dyn Write) -> Self {
        Self { what, out, open: Vec::new(), met: Met::default() }
    }

    fn put(&mut self, text: &str) -> Result<()> {
        self.out.write_all(text.as_bytes()).map_err(|source| OpenFheError::Io { action: "writing", source })
    }

    /// Begins an entry: a comma after others, and its name in a structure.
    fn entry(&mut self, name: &str) -> Result<()> {
        let (closes, more) =
            self.open.last_mut().map_or((']', false), |(c, more)| (*c, std::mem::replace(more, true)));
        if more {
            self.put(",")?;
        }
        if closes == '}' { self.put(&format!("\"{name}\":")) } else { Ok(()) }
    }

    /// Begins the outermost structure.
    pub(super) fn begin(&mut self) -> Result<()> {
        self.open.push(('}', false));
        self.put("{")
    }

    fn value(&mut self, name: &'static str, text: &str) -> Result<()> {
        self.entry(name)?;
        self.put(text)
    }
}

impl Archive for JsonWriter<'_> {
    const READS: bool = false;

    fn what(&self) -> &'static str {
        self.what
    }
    fn met(&mut self) -> &mut Met {
        &mut self.met
    }
    fn open(&mut self, name: &'static str) -> Result<()> {
        self.entry(name)?;
        self.begin()
    }
    fn close(&mut self) -> Result<()> {
        match self.open.pop() {
            Some((closes, _)) => self.put(&closes.to_string()),
            None => Ok(()),
        }
    }
    fn list(&mut self, name: &'static str, _: &'static str, _: &mut usize, _: usize) -> Result<()> {
        self.entry(name)?;
        self.open.push((']', false));
        self.put("[")
    }
    fn class_version(&mut self, value: &mut u32) -> Result<()> {
        self.u32("cereal_class_version", value)
    }
    fn u8(&mut self, name: &'static str, value: &mut u8) -> Result<()> {
        self.value(name, &value.to_string())
    }
    fn u32(&mut self, name: &'static str, value: &mut u32) -> Result<()> {
        self.value(name, &value.to_string())
    }
    fn u64(&mut self, name: &'static str, value: &mut u64) -> Result<()> {
        self.value(name, &value.to_string())
    }
    fn f32(&mut self, name: &'static str, value: &mut f32) -> Result<()> {
        // With a point, as cereal reads numbers of that kind.
        self.value(name, &format!("{value:?}"))
    }
    fn f64(&mut self, name: &'static str, value: &mut f64) -> Result<()> {
        self.value(name, &format!("{value:?}"))
    }
    fn text(&mut self, name: &'static str, value: &mut String) -> Result<()> {
        let quoted = serde_json::Value::from(value.as_str()).to_string();
        self.value(name, &quoted)
    }
    fn words(&mut self, name: &'static str, words: &mut [u64]) -> Result<()> {
        let mut text = zeroize::Zeroizing::new(String::with_capacity(20 * words.len()));
        for (i, word) in words.iter().enumerate() {
            if i > 0 {
                text.push(',');
            }
            text.push_str(&word.to_string());
        }
        self.value(name, "[")?;
        self.put(&text)?;
        self.put("]")
    }
    fn few_words(&mut self, name: &'static str, words: &mut Vec<u64>, _: usize) -> Result<()> {
        self.words(name, words)
    }
}
