//! Sealed files, written: at once, or in pieces with the process ended between any two of them.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use super::{CHUNK, Ciphers, HEADER, Key, MAGIC, SALT, SEALED, Salt, chunks, damaged, place};

/// A sealed file that grows. The chunk that grows is in memory; [`keep`](Self::keep) writes it.
pub(crate) struct Sealer {
    file: File,
    ciphers: Ciphers,
    salt: Salt,
    /// Of the chunk that grows.
    index: u64,
    tail: Vec<u8>,
}

impl Sealer {
    /// Begins an empty file, which is there already.
    pub(crate) fn begin(file: File, salt: Salt, key: &Key) -> io::Result<Self> {
        file.set_len(0)?;
        file.write_all_at(&[&MAGIC[..], &salt].concat(), 0)?;
        file.set_len(HEADER as u64)?;
        Ok(Self { file, ciphers: Ciphers::of(key), salt, index: 0, tail: Vec::with_capacity(CHUNK) })
    }

    /// Goes on with a file, which was opened to read and write. A last chunk that is not whole, as a loss of power leaves it, is taken
    /// away.
    pub(crate) fn resume(file: File, key: &Key) -> io::Result<Self> {
        let salt = super::salt(&file)?.ok_or_else(damaged)?;
        let (whole, rest) = chunks(file.metadata()?.len());
        let index = if rest > 0 { whole } else { whole.saturating_sub(1) };
        let mut sealer =
            Self { file, ciphers: Ciphers::of(key), salt, index, tail: Vec::with_capacity(CHUNK) };
        if whole + rest > 0 {
            let size = if rest > 0 { rest as usize } else { SEALED };
            match sealer.chunk(index, size)? {
                Some(tail) => sealer.tail = tail,
                None => sealer.file.set_len(place(index))?,
            }
        }
        Ok(sealer)
    }

    /// A chunk of a file that grows: one that ended the file may have been written as the last.
    fn chunk(&self, index: u64, size: usize) -> io::Result<Option<Vec<u8>>> {
        let mut sealed = vec![0; size];
        self.file.read_exact_at(&mut sealed, place(index))?;
        let opened = [false, true].into_iter().find_map(|last| self.ciphers.open(index, last, &sealed));
        Ok(opened)
    }

    /// Plain bytes that the file has.
    pub(crate) fn size(&self) -> u64 {
        self.index * CHUNK as u64 + self.tail.len() as u64
    }

    fn store(&self, last: bool) -> io::Result<()> {
        let sealed = self.ciphers.seal(self.index, last, &self.tail)?;
        self.file.write_all_at(&sealed, place(self.index))
    }

    /// Writes the chunk that grows, which others follow.
    pub(crate) fn keep(&self) -> io::Result<()> {
        if self.tail.is_empty() { Ok(()) } else { self.store(false) }
    }

    /// Writes the last chunk.
    pub(crate) fn finish(&self) -> io::Result<()> {
        self.store(true)
    }

    /// Takes back what follows `size` plain bytes.
    pub(crate) fn cut(&mut self, size: u64) -> io::Result<()> {
        if size >= self.size() {
            return Ok(());
        }
        let (index, kept) = (size / CHUNK as u64, (size % CHUNK as u64) as usize);
        if index != self.index {
            let tail = if kept > 0 { self.chunk(index, SEALED)?.ok_or_else(damaged)? } else { Vec::new() };
            (self.index, self.tail) = (index, tail);
        }
        self.tail.truncate(kept);
        self.file.set_len(place(index))?;
        self.keep()
    }

    /// The first plain bytes, `most` at most.
    pub(crate) fn head(&self, most: usize) -> io::Result<Vec<u8>> {
        let mut first = match self.index {
            0 => self.tail.clone(),
            _ => self.chunk(0, SEALED)?.ok_or_else(damaged)?,
        };
        first.truncate(most);
        Ok(first)
    }

    /// Ties the file, which is complete, to the hash and the number of its plain bytes.
    pub(crate) fn name(&self, hash: &str, size: u64) -> io::Result<()> {
        let hash = blake3::Hash::from_hex(hash).map_err(io::Error::other)?;
        let mut fields = [&MAGIC[..], &self.salt, hash.as_bytes(), &size.to_le_bytes()].concat();
        let mac = self.ciphers.mac(&fields);
        fields.extend(mac.as_bytes());
        self.file.write_all_at(&fields[MAGIC.len() + SALT..], (MAGIC.len() + SALT) as u64)
    }
}

impl Write for Sealer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.tail.len() == CHUNK && !bytes.is_empty() {
            // Now it is known not to be the last.
            self.store(false)?;
            self.index += 1;
            self.tail.clear();
        }
        let count = bytes.len().min(CHUNK - self.tail.len());
        self.tail.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
