//! The binary form: values alone, little-endian, after a byte that says so.

use std::io::{ErrorKind, Read, Write};

use super::OpenFheError;
use super::archive::{Archive, Met, Result};

/// Words that are converted at a time.
const BLOCK: usize = 1 << 13;
/// The longest text: names of classes and tags of keys.
const MAX_TEXT: u64 = 256;

pub(super) struct BinaryReader<'a> {
    what: &'static str,
    input: &'a mut dyn Read,
    met: Met,
}

impl<'a> BinaryReader<'a> {
    pub(super) fn new(what: &'static str, input: &'a mut dyn Read) -> Self {
        Self { what, input, met: Met::default() }
    }

    fn bytes<const K: usize>(&mut self) -> Result<[u8; K]> {
        let mut bytes = [0; K];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.input.read_exact(bytes).map_err(|source| match source.kind() {
            ErrorKind::UnexpectedEof => OpenFheError::Truncated { what: self.what },
            _ => OpenFheError::Io { action: "reading", source },
        })
    }

    fn count(&mut self, field: &'static str, most: u64) -> Result<u64> {
        let found = u64::from_le_bytes(self.bytes()?);
        if found <= most {
            return Ok(found);
        }
        Err(OpenFheError::Count { what: self.what, field, found, expected: format!("at most {most} occur") })
    }
}

impl Archive for BinaryReader<'_> {
    const READS: bool = true;

    fn what(&self) -> &'static str {
        self.what
    }
    fn met(&mut self) -> &mut Met {
        &mut self.met
    }
    fn open(&mut self, _: &'static str) -> Result<()> {
        Ok(())
    }
    fn close(&mut self) -> Result<()> {
        Ok(())
    }
    fn list(&mut self, _: &'static str, field: &'static str, len: &mut usize, most: usize) -> Result<()> {
        *len = self.count(field, most as u64)? as usize;
        Ok(())
    }
    fn class_version(&mut self, value: &mut u32) -> Result<()> {
        self.u32("", value)
    }
    fn u8(&mut self, _: &'static str, value: &mut u8) -> Result<()> {
        [*value] = self.bytes()?;
        Ok(())
    }
    fn u32(&mut self, _: &'static str, value: &mut u32) -> Result<()> {
        *value = u32::from_le_bytes(self.bytes()?);
        Ok(())
    }
    fn u64(&mut self, _: &'static str, value: &mut u64) -> Result<()> {
        *value = u64::from_le_bytes(self.bytes()?);
        Ok(())
    }
    fn f32(&mut self, _: &'static str, value: &mut f32) -> Result<()> {
        *value = f32::from_le_bytes(self.bytes()?);
        Ok(())
    }
    fn f64(&mut self, _: &'static str, value: &mut f64) -> Result<()> {
        *value = f64::from_le_bytes(self.bytes()?);
        Ok(())
    }
    fn text(&mut self, name: &'static str, value: &mut String) -> Result<()> {
        let len = self.count("characters in a name", MAX_TEXT)?;
        let mut bytes = vec![0; len as usize];
        self.fill(&mut bytes)?;
        let refused =
            |_| OpenFheError::Field { what: self.what, field: name.into(), wanted: "text in UTF-8" };
        *value = String::from_utf8(bytes).map_err(refused)?;
        Ok(())
    }
    fn words(&mut self, _: &'static str, words: &mut [u64]) -> Result<()> {
        let found = u64::from_le_bytes(self.bytes()?);
        if found != words.len() as u64 {
            let expected = format!("{} is the ring's", words.len());
            return Err(OpenFheError::Count { what: self.what, field: "words in a tower", found, expected });
        }
        let mut bytes = zeroize::Zeroizing::new(vec![0; 8 * words.len().min(BLOCK)]);
        for words in words.chunks_mut(BLOCK) {
            let bytes = &mut bytes[..8 * words.len()];
            self.fill(bytes)?;
            for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
                *word = u64::from_le_bytes(*bytes);
            }
        }
        Ok(())
    }
    fn few_words(&mut self, _: &'static str, words: &mut Vec<u64>, most: usize) -> Result<()> {
        let len = self.count("words in a number", most as u64)?;
        *words = (0..len).map(|_| Ok(u64::from_le_bytes(self.bytes()?))).collect::<Result<_>>()?;
        Ok(())
    }
}

pub(super) struct BinaryWriter<'a> {
    what: &'static str,
    out: &'a mut dyn Write,
    met: Met,
}

impl<'a> BinaryWriter<'a> {
    pub(super) fn new(what: &'static str, out: &'a mut dyn Write) -> Self {
        Self { what, out, met: Met::default() }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(|source| OpenFheError::Io { action: "writing", source })
    }
}

impl Archive for BinaryWriter<'_> {
    const READS: bool = false;

    fn what(&self) -> &'static str {
        self.what
    }
    fn met(&mut self) -> &mut Met {
        &mut self.met
    }
    fn open(&mut self, _: &'static str) -> Result<()> {
        Ok(())
    }
    fn close(&mut self) -> Result<()> {
        Ok(())
    }
    fn list(&mut self, _: &'static str, _: &'static str, len: &mut usize, _: usize) -> Result<()> {
        self.bytes(&(*len as u64).to_le_bytes())
    }
    fn class_version(&mut self, value: &mut u32) -> Result<()> {
        self.bytes(&value.to_le_bytes())
    }
    fn u8(&mut self, _: &'static str, value: &mut u8) -> Result<()> {
        self.bytes(&[*value])
    }
    fn u32(&mut self, _: &'static str, value: &mut u32) -> Result<()> {
        self.bytes(&value.to_le_bytes())
    }
    fn u64(&mut self, _: &'static str, value: &mut u64) -> Result<()> {
        self.bytes(&value.to_le_bytes())
    }
    fn f32(&mut self, _: &'static str, value: &mut f32) -> Result<()> {
        self.bytes(&value.to_le_bytes())
    }
    fn f64(&mut self, _: &'static str, value: &mut f64) -> Result<()> {
        self.bytes(&value.to_le_bytes())
    }
    fn text(&mut self, _: &'static str, value: &mut String) -> Result<()> {
        self.bytes(&(value.len() as u64).to_le_bytes())?;
        self.bytes(value.as_bytes())
    }
    fn words(&mut self, _: &'static str, words: &mut [u64]) -> Result<()> {
        self.bytes(&(words.len() as u64).to_le_bytes())?;
        let mut bytes = zeroize::Zeroizing::new(Vec::with_capacity(8 * words.len().min(BLOCK)));
        for words in words.chunks(BLOCK) {
            bytes.clear();
            words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
            self.bytes(&bytes)?;
        }
        Ok(())
    }
    fn few_words(&mut self, name: &'static str, words: &mut Vec<u64>, _: usize) -> Result<()> {
        self.words(name, words)
    }
}
