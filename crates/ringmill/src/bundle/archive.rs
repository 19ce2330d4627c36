//! The ZIP records that a bundle consists of: those that Python's `zipfile` writes for stored entries of a fixed date.
//!
//! There is one form of each record, so reading compares instead of interpreting.

/// Above this, an offset or a size stands in an extra field.
const LARGE: u64 = (1 << 31) - 1;

/// The most bytes of a part: larger ones get another form of record, which differs between versions of Python.
/// 2^31 / 1.05, rounded down.
pub(super) const MAX_PART: u64 = 2_045_222_520;

/// Signature of the record before an entry, and of the first record after the last entry.
pub(super) const ENTRY: [u8; 4] = *b"PK\x03\x04";
pub(super) const DIRECTORY: [u8; 4] = *b"PK\x01\x02";

/// Bytes of the record before an entry, without its name.
pub(super) const ENTRY_BYTES: usize = 30;

/// 1 January 1980.
const DATE: u16 = 1 << 5 | 1;

/// Names that are not ASCII are marked.
const UTF8: u16 = 1 << 11;

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) crc: u32,
    pub(super) size: u64,
    pub(super) offset: u64,
}

fn put(out: &mut Vec<u8>, words: &[u16]) {
    out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

impl Entry {
    /// What stands before the bytes of the entry.
    pub(super) fn local(&self) -> Vec<u8> {
        let mut out = ENTRY.to_vec();
        put(&mut out, &[20]);
        self.common(&mut out, 0);
        out.extend(self.name.as_bytes());
        out
    }

    /// What both records of an entry have: from the flags to the lengths of name and extra field.
    fn common(&self, out: &mut Vec<u8>, extra: u16) {
        let size = (self.size as u32).to_le_bytes();
        put(out, &[if self.name.is_ascii() { 0 } else { UTF8 }, 0, 0, DATE]);
        out.extend(self.crc.to_le_bytes());
        out.extend(size);
        out.extend(size);
        put(out, &[self.name.len() as u16, extra]);
    }

    /// The entry's record in the directory.
    fn listed(&self, out: &mut Vec<u8>) {
        let far = self.offset > LARGE;
        let version = if far { 45 } else { 20 };
        out.extend(DIRECTORY);
        // Made on Unix; needs; then what the entry says itself.
        put(out, &[version | 3 << 8, version]);
        self.common(out, if far { 12 } else { 0 });
        // No comment, disk 0, no attributes but that of a file that its owner reads and writes.
        put(out, &[0, 0, 0]);
        out.extend((0o600u32 << 16).to_le_bytes());
        out.extend(if far { u32::MAX } else { self.offset as u32 }.to_le_bytes());
        out.extend(self.name.as_bytes());
        if far {
            put(out, &[1, 8]);
            out.extend(self.offset.to_le_bytes());
        }
    }
}

/// What follows the last entry, which ends at `offset`.
pub(super) fn directory(entries: &[Entry], offset: u64) -> Vec<u8> {
    let mut out = Vec::new();
    for entry in entries {
        entry.listed(&mut out);
    }
    let (size, count) = (out.len() as u64, entries.len() as u64);
    if offset > LARGE {
        let end = offset + size;
        out.extend(b"PK\x06\x06");
        out.extend(44u64.to_le_bytes());
        put(&mut out, &[45, 45, 0, 0, 0, 0]);
        for field in [count, count, size, offset] {
            out.extend(field.to_le_bytes());
        }
        out.extend(b"PK\x06\x07");
        out.extend(0u32.to_le_bytes());
        out.extend(end.to_le_bytes());
        out.extend(1u32.to_le_bytes());
    }
    out.extend(b"PK\x05\x06");
    put(&mut out, &[0, 0, count as u16, count as u16]);
    out.extend((size as u32).to_le_bytes());
    out.extend(u32::try_from(offset).unwrap_or(u32::MAX).to_le_bytes());
    put(&mut out, &[0]);
    out
}
