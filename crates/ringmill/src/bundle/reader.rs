//! A bundle from its beginning to its end.

use std::collections::HashSet;
use std::io::{ErrorKind, Read, Write};

use super::archive::{DIRECTORY, ENTRY, ENTRY_BYTES, Entry, MAX_PART, directory};
use super::{BundleError, Facts, HEADER, Json, MAX_ENTRIES, MAX_HEADER, MAX_NAME, VERSION, hasher, header};

/// Goes through a bundle part by part; memory does not depend on the size of parts.
pub struct Reader<R> {
    input: R,
    /// Bytes read so far.
    passed: u64,
    kind: String,
    version: u16,
    facts: Facts,
    /// Names and digests that the header lists.
    listed: Vec<(String, String)>,
    entries: Vec<Entry>,
    ended: bool,
}

impl<R: Read> Reader<R> {
    /// Reads up to the first part.
    ///
    /// # Errors
    /// Any [`BundleError`] but [`BundleError::Kind`] and [`BundleError::Checksum`] of a part.
    pub fn open(input: R) -> Result<Self, BundleError> {
        let mut reader = Self {
            input,
            passed: 0,
            kind: String::new(),
            version: 0,
            facts: Facts::new(),
            listed: Vec::new(),
            entries: Vec::new(),
            ended: false,
        };
        let mut signature = [0; 4];
        reader.fill("first bytes", &mut signature)?;
        if signature != ENTRY {
            return Err(BundleError::NotABundle { found: signature });
        }
        let mut bytes = Vec::new();
        let (name, _) = reader.entry(MAX_HEADER, &mut bytes)?;
        if name != HEADER {
            return Err(BundleError::Damaged { why: "its header does not come first" });
        }
        reader.understand(&bytes)?;
        Ok(reader)
    }

    /// What the bundle holds: "kernel", "arguments" or "results".
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Version of the form.
    pub fn version(&self) -> u16 {
        self.version
    }

    /// Facts that the header states.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The facts, when the parts were read.
    pub fn into_facts(self) -> Facts {
        self.facts
    }

    /// Names of the parts, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.listed.iter().map(|(name, _)| &name[..])
    }

    /// Goes on if the bundle is of a kind.
    ///
    /// # Errors
    /// [`BundleError::Kind`].
    pub fn expect(&self, kind: &str) -> Result<(), BundleError> {
        match self.kind == kind {
            true => Ok(()),
            false => Err(BundleError::Kind { found: self.kind.clone(), expected: kind.to_owned() }),
        }
    }

    /// Copies the next part and gives its name; none after the last, when the file's end was checked too. What was copied is
    /// damaged if this fails.
    ///
    /// # Errors
    /// Any [`BundleError`] but [`BundleError::Kind`].
    pub fn next(&mut self, out: &mut impl Write) -> Result<Option<String>, BundleError> {
        if self.ended {
            return Ok(None);
        }
        let at = self.entries.len() - 1;
        let mut signature = [0; 4];
        self.fill("list of parts", &mut signature)?;
        if signature == DIRECTORY && at == self.listed.len() {
            self.end()?;
            return Ok(None);
        }
        if signature != ENTRY || at >= self.listed.len() {
            return Err(BundleError::Damaged { why: "its parts are not the ones that its header lists" });
        }
        let (name, found) = self.entry(MAX_PART, out)?;
        let (listed, digest) = &self.listed[at];
        if *listed != name {
            return Err(BundleError::Damaged { why: "its parts are not the ones that its header lists" });
        }
        if *digest != found {
            return Err(BundleError::Checksum { part: name });
        }
        Ok(Some(name))
    }

    /// What the header says.
    fn understand(&mut self, bytes: &[u8]) -> Result<(), BundleError> {
        let damaged = |why| BundleError::Damaged { why };
        let not_ours = damaged("its header is not in the one form");
        let read = Json::parse(bytes).map_err(|source| BundleError::Header { source })?;
        let Json::Object(mut members) = read else {
            return Err(damaged("its header is not a list of facts"));
        };
        let Some((_, Json::Text(format))) = members.first().filter(|(name, _)| name == "format") else {
            return Err(not_ours);
        };
        let Some(kind) = format.strip_prefix("ringmill-").map(str::to_owned) else {
            return Err(BundleError::Kind {
                found: format.clone(),
                expected: "a bundle of Ringmill".to_owned(),
            });
        };
        let Some(("version", version)) = members.get(1).map(|(name, value)| (&name[..], value)) else {
            return Err(not_ours);
        };
        self.version = match version {
            Json::Whole(v) if (1..=i128::from(VERSION)).contains(v) => *v as u16,
            other => return Err(BundleError::Version { found: other.to_string(), newest: VERSION }),
        };
        let Some((_, Json::Object(digests))) = members.pop().filter(|(name, _)| name == "parts") else {
            return Err(not_ours);
        };
        self.kind = kind;
        self.facts = members.split_off(2.min(members.len()));
        if digests.len() >= MAX_ENTRIES {
            return Err(BundleError::Parts { found: digests.len(), most: MAX_ENTRIES - 1 });
        }
        let mut names = HashSet::from([HEADER]);
        let mut facts = HashSet::from(["format", "version", "parts"]);
        let repeated = self.facts.iter().any(|(name, _)| !facts.insert(name))
            || digests.iter().any(|(name, _)| !names.insert(name));
        // Written again, it must be the same bytes.
        if repeated || header(&self.kind, self.version, &self.facts, &digests).as_bytes() != bytes {
            return Err(not_ours);
        }
        let listed = |(name, digest): &(String, Json)| Some((name.clone(), digest.as_text()?.to_owned()));
        self.listed =
            digests.iter().map(listed).collect::<Option<_>>().ok_or(damaged("a part of it has no digest"))?;
        Ok(())
    }

    /// Reads the rest of an entry whose signature was read: its name and digest.
    fn entry(&mut self, most: u64, out: &mut impl Write) -> Result<(String, String), BundleError> {
        let offset = self.passed - 4;
        let mut fixed = [0; ENTRY_BYTES];
        fixed[..4].copy_from_slice(&ENTRY);
        self.fill("list of parts", &mut fixed[4..])?;
        let word = |at: usize| u32::from_le_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
        let (crc, size, length) =
            (word(14), u64::from(word(18)), usize::from(fixed[26]) | usize::from(fixed[27]) << 8);
        if length > MAX_NAME {
            return Err(BundleError::Name { part: format!("({length} bytes)") });
        }
        let mut name = vec![0; length];
        self.fill("list of parts", &mut name)?;
        let name =
            String::from_utf8(name).map_err(|_| BundleError::Damaged { why: "a name in it is no text" })?;
        if name.contains('\0') {
            return Err(BundleError::Name { part: name });
        }
        let entry = Entry { name, crc, size, offset };
        if entry.local()[..ENTRY_BYTES] != fixed {
            return Err(BundleError::Damaged { why: "it is not packed as Ringmill packs bundles" });
        }
        if size > most {
            return Err(BundleError::Size { part: entry.name, found: size, most });
        }
        let (mut digest, mut check, mut left) = (hasher(), crc32fast::Hasher::new(), size);
        let mut block = vec![0; left.min(1 << 16) as usize];
        while left > 0 {
            let block = &mut block[..left.min(1 << 16) as usize];
            self.fill("parts", block)?;
            digest.update(block);
            check.update(block);
            out.write_all(block).map_err(BundleError::io("copying a part"))?;
            left -= block.len() as u64;
        }
        let name = entry.name.clone();
        self.entries.push(entry);
        if check.finalize() != crc {
            return Err(BundleError::Checksum { part: name });
        }
        Ok((name, digest.finalize().to_hex().to_string()))
    }

    /// The directory follows from the entries; nothing follows it.
    fn end(&mut self) -> Result<(), BundleError> {
        self.ended = true;
        let expected = directory(&self.entries, self.passed - 4);
        let mut found = vec![0; expected.len() - 4];
        self.fill("list of parts", &mut found)?;
        let mut beyond = [0];
        let more = self.read(&mut beyond)?;
        match expected[4..] == found && more == 0 {
            true => Ok(()),
            false => Err(BundleError::Damaged {
                why: "it holds more than its parts, or they are not packed as Ringmill packs them",
            }),
        }
    }

    fn read(&mut self, out: &mut [u8]) -> Result<usize, BundleError> {
        loop {
            match self.input.read(out) {
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                other => return other.map_err(BundleError::io("reading")),
            }
        }
    }

    fn fill(&mut self, part: &'static str, out: &mut [u8]) -> Result<(), BundleError> {
        let mut filled = 0;
        while filled < out.len() {
            match self.read(&mut out[filled..])? {
                0 => return Err(BundleError::Truncated { part, got: self.passed + filled as u64 }),
                count => filled += count,
            }
        }
        self.passed += filled as u64;
        Ok(())
    }
}
