//! Sealed files, read.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use super::{CHUNK, Ciphers, HASH, HEADER, Key, MAGIC, SALT, SEALED, chunks, damaged, place};

/// The plain bytes of a sealed file, each checked before it is given.
pub(crate) struct Unsealed {
    file: File,
    ciphers: Ciphers,
    /// Chunks of the file.
    count: u64,
    /// The next one.
    index: u64,
    sealed: Vec<u8>,
    plain: Vec<u8>,
    /// How much of `plain` was given.
    given: usize,
}

impl Unsealed {
    /// A file whose last chunk is written. One that is an object has the hash `named`.
    pub(crate) fn open(file: File, key: &Key, named: Option<&str>) -> io::Result<Self> {
        let ciphers = Ciphers::of(key);
        let size = file.metadata()?.len();
        if let Some(named) = named {
            let mut header = [0; HEADER];
            file.read_exact_at(&mut header, 0).map_err(|_| damaged())?;
            let (fields, mac) = header.split_at(HEADER - 32);
            let mac: [u8; 32] = mac.try_into().map_err(|_| damaged())?;
            // In constant time, and before a field is believed.
            if ciphers.mac(fields) != mac {
                return Err(damaged());
            }
            let (hash, plain) = fields[MAGIC.len() + SALT..].split_at(HASH);
            let plain = u64::from_le_bytes(plain.try_into().map_err(|_| damaged())?);
            let is_named = blake3::Hash::from_hex(named).is_ok_and(|named| named.as_bytes()[..] == *hash);
            if super::sealed_size(plain) != size || !is_named {
                return Err(damaged());
            }
        }
        let (whole, rest) = chunks(size);
        let count = whole + u64::from(rest > 0);
        if count == 0 {
            return Err(damaged());
        }
        Ok(Self { file, ciphers, count, index: 0, sealed: Vec::new(), plain: Vec::new(), given: 0 })
    }

    fn next(&mut self) -> io::Result<()> {
        let from = place(self.index);
        let size = (self.file.metadata()?.len().saturating_sub(from)).min(SEALED as u64) as usize;
        self.sealed.resize(size, 0);
        self.file.read_exact_at(&mut self.sealed, from).map_err(|_| damaged())?;
        let last = self.index + 1 == self.count;
        self.plain = self.ciphers.open(self.index, last, &self.sealed).ok_or_else(damaged)?;
        if !last && self.plain.len() != CHUNK {
            return Err(damaged());
        }
        self.index += 1;
        self.given = 0;
        Ok(())
    }
}

impl Read for Unsealed {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.given == self.plain.len() {
            if self.index == self.count {
                return Ok(0);
            }
            self.next()?;
        }
        let count = out.len().min(self.plain.len() - self.given);
        out[..count].copy_from_slice(&self.plain[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}
