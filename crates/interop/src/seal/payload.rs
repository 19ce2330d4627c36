//! Streams of payloads: what is read is counted, so that an object ends where its header says.

use std::io::{ErrorKind, Read, Write};

use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use ringmill_ring::{Domain, Poly};
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use zeroize::Zeroizing;

use super::SealError;
use super::header::{Compression, HEADER, Header, Style, Version};

/// Words that are converted at a time.
const BLOCK: usize = 1 << 13;

/// A payload that is being read.
pub struct Input<'a> {
    reader: &'a mut dyn Read,
    compressed: bool,
    /// Bytes read so far.
    at: u64,
    /// Where the innermost object ends, if its size is known.
    end: Option<u64>,
}

/// Reads one object of any compression and checks that it ends where it should.
pub(super) fn open<T>(
    what: &'static str,
    input: &mut dyn Read,
    take: impl FnOnce(&mut Input<'_>) -> Result<T, SealError>,
) -> Result<T, SealError> {
    let mut bytes = [0; HEADER as usize];
    fill(what, input, &mut bytes, false)?;
    let header = Header::from_bytes(0, bytes)?;
    let stored = header.size - HEADER;
    let mut stored_bytes = input.take(stored);
    let through = |reader: &mut dyn Read, end: Option<u64>| {
        let mut payload = Input { reader, compressed: end.is_none(), at: 0, end };
        let object = take(&mut payload)?;
        payload.finish(what)?;
        Ok(object)
    };
    let object = match header.compression {
        Compression::None => through(&mut stored_bytes, Some(stored))?,
        Compression::Zlib => through(&mut ZlibDecoder::new(&mut stored_bytes), None)?,
        Compression::Zstd => {
            let decoder = StreamingDecoder::new(&mut stored_bytes);
            let refused = |e: ruzstd::decoding::errors::FrameDecoderError| SealError::Decompress {
                what,
                why: e.to_string(),
            };
            through(&mut decoder.map_err(refused)?, None)?
        }
    };
    match stored_bytes.limit() {
        0 => Ok(object),
        left => Err(SealError::Length { what, found: stored, expected: stored - left }),
    }
}

fn fill(
    what: &'static str,
    reader: &mut dyn Read,
    out: &mut [u8],
    compressed: bool,
) -> Result<(), SealError> {
    reader.read_exact(out).map_err(|source| match source.kind() {
        ErrorKind::UnexpectedEof => SealError::Truncated { what },
        _ if compressed => SealError::Decompress { what, why: source.to_string() },
        _ => SealError::Io { action: "reading", source },
    })
}

impl Input<'_> {
    /// The next bytes.
    pub(super) fn bytes(&mut self, what: &'static str, out: &mut [u8]) -> Result<(), SealError> {
        let next = self.at.saturating_add(out.len() as u64);
        if self.end.is_some_and(|end| next > end) {
            return Err(SealError::Truncated { what });
        }
        fill(what, self.reader, out, self.compressed)?;
        self.at = next;
        Ok(())
    }

    pub(super) fn byte(&mut self, what: &'static str) -> Result<u8, SealError> {
        let mut byte = [0];
        self.bytes(what, &mut byte)?;
        Ok(byte[0])
    }

    pub(super) fn word(&mut self, what: &'static str) -> Result<u64, SealError> {
        let mut bytes = [0; 8];
        self.bytes(what, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    pub(super) fn float(&mut self, what: &'static str) -> Result<f64, SealError> {
        Ok(f64::from_bits(self.word(what)?))
    }

    /// A positive finite scale.
    pub(super) fn scale(&mut self, what: &'static str) -> Result<f64, SealError> {
        let found = self.float(what)?;
        if found.is_finite() && found > 0.0 { Ok(found) } else { Err(SealError::Scale { what, found }) }
    }

    /// An object within this one.
    pub(super) fn object<T>(
        &mut self,
        what: &'static str,
        take: impl FnOnce(&mut Self) -> Result<T, SealError>,
    ) -> Result<T, SealError> {
        let (at, outer) = (self.at, self.end);
        let mut bytes = [0; HEADER as usize];
        self.bytes(what, &mut bytes)?;
        let header = Header::from_bytes(at, bytes)?;
        if header.compression != Compression::None {
            return Err(SealError::InnerCompression { at });
        }
        let payload = header.size - HEADER;
        let end = self.at.saturating_add(payload);
        if outer.is_some_and(|outer| end > outer) {
            return Err(SealError::Truncated { what });
        }
        self.end = Some(end);
        let begin = self.at;
        let object = take(self)?;
        if self.at != end {
            return Err(SealError::Length { what, found: payload, expected: self.at - begin });
        }
        self.end = outer;
        Ok(object)
    }

    /// `count` words as a polynomial over `moduli`, each below its modulus.
    pub(super) fn poly(&mut self, what: &'static str, n: usize, moduli: &[u64]) -> Result<Poly, SealError> {
        let mut poly = Poly::zeros(n, moduli.len(), Domain::Evaluation);
        let mut bytes = vec![0; 8 * n.min(BLOCK)];
        for (limb, (words, &modulus)) in poly.limbs_mut().zip(moduli).enumerate() {
            for words in words.chunks_mut(BLOCK) {
                let bytes = &mut bytes[..8 * words.len()];
                self.bytes(what, bytes)?;
                for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
                    *word = u64::from_le_bytes(*bytes);
                }
                if let Some(&value) = words.iter().find(|&&word| word >= modulus) {
                    return Err(SealError::NotCanonical { what, limb, value, modulus });
                }
            }
        }
        Ok(poly)
    }

    fn finish(&mut self, what: &'static str) -> Result<(), SealError> {
        match self.end {
            Some(end) if end != self.at => Err(SealError::Length { what, found: end, expected: self.at }),
            Some(_) => Ok(()),
            None => {
                // Reading to the end also compares the checksum of the compressed stream.
                let mut more = [0];
                let count = self.reader.read(&mut more);
                match count.map_err(|e| SealError::Decompress { what, why: e.to_string() })? {
                    0 => Ok(()),
                    _ => Err(SealError::Trailing { what, more: 1 }),
                }
            }
        }
    }
}

/// A payload that is being written.
pub struct Output<'a> {
    writer: &'a mut dyn Write,
    version: Version,
}

/// Writes an object whose payload has `len` bytes before compression.
pub(super) fn seal(
    out: &mut dyn Write,
    style: Style,
    len: u64,
    put: impl FnOnce(&mut Output<'_>) -> Result<(), SealError>,
) -> Result<(), SealError> {
    let Style { version, compression } = style;
    let io = |source| SealError::Io { action: "writing", source };
    let header = |size: u64| Header { version, compression, size: HEADER + size }.to_bytes();
    let packed = match compression {
        Compression::None => {
            out.write_all(&header(len)).map_err(io)?;
            return put(&mut Output { writer: out, version });
        }
        Compression::Zlib => {
            let mut encoder = ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
            put(&mut Output { writer: &mut encoder, version })?;
            encoder.finish().map_err(io)?
        }
        Compression::Zstd => {
            let mut plain = Zeroizing::new(Vec::with_capacity(len as usize));
            put(&mut Output { writer: &mut *plain, version })?;
            compress_to_vec(&plain[..], CompressionLevel::Fastest)
        }
    };
    out.write_all(&header(packed.len() as u64)).map_err(io)?;
    out.write_all(&packed).map_err(io)
}

impl Output<'_> {
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<(), SealError> {
        self.writer.write_all(bytes).map_err(|source| SealError::Io { action: "writing", source })
    }

    pub(super) fn word(&mut self, word: u64) -> Result<(), SealError> {
        self.bytes(&word.to_le_bytes())
    }

    pub(super) fn float(&mut self, number: f64) -> Result<(), SealError> {
        self.word(number.to_bits())
    }

    pub(super) fn words(&mut self, words: &[u64]) -> Result<(), SealError> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(8 * words.len().min(BLOCK)));
        for words in words.chunks(BLOCK) {
            bytes.clear();
            words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
            self.bytes(&bytes)?;
        }
        Ok(())
    }

    /// An object within this one, whose payload has `len` bytes.
    pub(super) fn object(
        &mut self,
        len: u64,
        put: impl FnOnce(&mut Self) -> Result<(), SealError>,
    ) -> Result<(), SealError> {
        let header = Header { version: self.version, compression: Compression::None, size: HEADER + len };
        self.bytes(&header.to_bytes())?;
        put(self)
    }
}
