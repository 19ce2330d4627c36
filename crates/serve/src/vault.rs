//! The keys that files at rest are encrypted under.
//!
//! The master key comes from outside: a file, a variable, or a command that asks a service of keys. It encrypts one data key a tenant,
//! which the database keeps so. A file has a key that follows from that of its tenant and its own salt ([`sealed`](crate::sealed)).
//! Who destroys the data key of a tenant makes all of its files noise, wherever copies of them are.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zeroize::Zeroizing;

use crate::config::{Config, MASTER, Master};
use crate::error::ServeError;
use crate::sealed::{Key, cipher, decrypt, encrypt};
use crate::store::data_keys::{self, Wrapped};
use crate::store::{Store, Transaction, hexadecimal, settings};

/// The setting that says whether files are encrypted.
const SETTING: &str = "encryption";
const ON: &str = "on";
const OFF: &str = "off";

/// A master key, and the name that shows which it is.
pub(crate) struct MasterKey {
    key: Key,
    name: String,
}

impl MasterKey {
    fn new(key: Key) -> Self {
        let name = key.derived("ringmill name of a master key", &[]);
        let name = hexadecimal(&name.bytes()[..8]);
        Self { key, name }
    }

    fn about(tenant: i64) -> Vec<u8> {
        [b"ringmill data key of tenant ", &tenant.to_le_bytes()[..]].concat()
    }

    fn wrap(&self, tenant: i64, key: &Key) -> Result<Wrapped, ServeError> {
        let bytes = encrypt(&cipher(&self.key), &Self::about(tenant), key.bytes());
        let bytes = bytes.map_err(ServeError::io("encrypting a key"))?;
        Ok(Wrapped { bytes, master: self.name.clone() })
    }

    fn unwrap(&self, tenant: i64, wrapped: &Wrapped) -> Option<Key> {
        let plain = Zeroizing::new(decrypt(&cipher(&self.key), &Self::about(tenant), &wrapped.bytes)?);
        Some(Key::from(<[u8; 32]>::try_from(&plain[..]).ok()?))
    }
}

/// Reads a master key. What it says of a wrong one does not repeat it.
fn master(from: &Master) -> Result<MasterKey, ServeError> {
    let wrong = |place: String| {
        ServeError::Start(format!(
            "{place} holds no master key: 64 hexadecimal digits, as \"openssl rand -hex 32\" makes them"
        ))
    };
    let (text, place) = match from {
        Master::File(path) => {
            let read = fs::read_to_string(path).map_err(ServeError::io("reading the master key"));
            if path.metadata().is_ok_and(|about| about.mode() & 0o077 != 0) {
                tracing::warn!("others on this machine may read the file of the master key");
            }
            (Zeroizing::new(read?), path.display().to_string())
        }
        Master::Command(command) => {
            let mut asking = Command::new("sh");
            asking.arg("-c").arg(command).stdin(Stdio::null()).stderr(Stdio::inherit());
            let ran = asking.output().map_err(ServeError::io("asking for the master key"))?;
            let said = Zeroizing::new(ran.stdout);
            if !ran.status.success() {
                let why = format!("the command that gives the master key ended with {}", ran.status);
                return Err(ServeError::Start(why));
            }
            (Zeroizing::new(String::from_utf8_lossy(&said).into_owned()), "what the command printed".into())
        }
        Master::Variable => {
            (Zeroizing::new(std::env::var(MASTER).unwrap_or_default()), format!("the variable {MASTER}"))
        }
    };
    Ok(MasterKey::new(Key::parse(text.trim()).ok_or_else(|| wrong(place))?))
}

/// The keys of a service whose files are encrypted.
pub(crate) struct Vault {
    /// New keys are encrypted under it.
    current: MasterKey,
    /// The one before, while keys are still encrypted under it.
    old: Option<MasterKey>,
    store: Store,
    held: Mutex<HashMap<i64, Key>>,
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vault")
    }
}

impl Vault {
    /// The keys of a service, if it has a master key. Refused is one that is not the one of its tenants' keys, one where files are not
    /// encrypted, and none where they are. `anyway` takes it for files that are to be encrypted.
    pub(crate) fn open(
        config: &Config,
        store: &Store,
        anyway: bool,
    ) -> Result<Option<Arc<Self>>, ServeError> {
        let current = config.master.as_ref().map(master).transpose()?;
        let asked = if current.is_some() { ON } else { OFF };
        let found = store.now(|t| {
            let empty = t.one("SELECT count(*) FROM objects", &[], |row| row.count(0))? == 0;
            let keys = data_keys::all(t)?;
            // A service that was made before there was this setting.
            let proposed = if empty { asked } else { OFF };
            Ok((settings::agreed(t, SETTING, proposed)?, keys))
        });
        let (found, keys) = found?;
        let Some(current) = current else {
            return match &found[..] {
                ON => Err(ServeError::Start(
                    "the objects of this service are encrypted; give its master key with --master-key-file"
                        .into(),
                )),
                _ => Ok(None),
            };
        };
        if found == OFF && !anyway {
            let why = "the objects of this service are not encrypted; end all of its nodes and run \"ringmill-serve encrypt\" first";
            return Err(ServeError::Start(why.into()));
        }
        let old = config.old_master.clone().map(|path| master(&Master::File(path))).transpose()?;
        let vault = Self { current, old, store: store.clone(), held: Mutex::default() };
        // Said at the start, and not when a tenant needs its key.
        for (tenant, wrapped) in &keys {
            vault.unwrapped(*tenant, wrapped)?;
        }
        Ok(Some(Arc::new(vault)))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<i64, Key>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unwrapped(&self, tenant: i64, wrapped: &Wrapped) -> Result<Key, ServeError> {
        let known = [Some(&self.current), self.old.as_ref()];
        let master = known.into_iter().flatten().find(|master| master.name == wrapped.master);
        let key = master.and_then(|master| master.unwrap(tenant, wrapped));
        key.ok_or_else(|| match master {
            None => {
                ServeError::MasterKey { found: self.current.name.clone(), needed: wrapped.master.clone() }
            }
            Some(_) => ServeError::DataKey { tenant },
        })
    }

    /// The data key of a tenant; it is made on first use. Not within a transaction.
    pub(crate) fn key(&self, tenant: i64) -> Result<Key, ServeError> {
        if let Some(key) = self.lock().get(&tenant) {
            return Ok(key.clone());
        }
        let mut wrapped = self.store.now(|t| data_keys::agreed(t, tenant, None))?;
        if wrapped.is_none() {
            let key = Key::random().map_err(ServeError::io("making a key"))?;
            let proposed = self.current.wrap(tenant, &key)?;
            wrapped = self.store.now(|t| data_keys::agreed(t, tenant, Some(&proposed)))?;
        }
        let wrapped = wrapped.ok_or(ServeError::NotFound { what: "tenant any more" })?;
        let key = self.unwrapped(tenant, &wrapped)?;
        self.lock().insert(tenant, key.clone());
        Ok(key)
    }

    /// Forgets keys that were destroyed, here or at another node.
    pub(crate) fn forget(&self) -> Result<(), ServeError> {
        if self.lock().is_empty() {
            return Ok(());
        }
        let there: HashSet<_> =
            self.store.now(data_keys::all)?.into_iter().map(|(tenant, _)| tenant).collect();
        self.lock().retain(|tenant, _| there.contains(tenant));
        Ok(())
    }

    /// Encrypts all data keys under the current master key; gives the number of those that were under the one before.
    pub(crate) fn rewrap(&self) -> Result<usize, ServeError> {
        self.store.now(|t| {
            let mut changed = 0;
            for (tenant, wrapped) in data_keys::all(t)? {
                if wrapped.master != self.current.name {
                    let key = self.unwrapped(tenant, &wrapped)?;
                    data_keys::replace(t, tenant, &self.current.wrap(tenant, &key)?)?;
                    changed += 1;
                }
            }
            crate::store::audit::note(t, None, "master.rewrap", &self.current.name)?;
            Ok(changed)
        })
    }
}

/// Notes that all files are encrypted from now on.
pub(crate) fn switched_on(t: &Transaction<'_>) -> Result<(), ServeError> {
    settings::set(t, SETTING, ON)?;
    crate::store::audit::note(t, None, "encryption.on", "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::database::values;
    use crate::store::tenants;
    use crate::store::testing::each;

    fn config(dir: &std::path::Path, digit: &str, old: Option<&str>) -> Config {
        let file = |digit: &str| {
            let path = dir.join(format!("master-{digit}"));
            fs::write(&path, digit.repeat(64)).unwrap();
            path
        };
        Config { master: Some(Master::File(file(digit))), old_master: old.map(file), ..Config::new(dir) }
    }

    #[test]
    fn data_keys_are_one_a_tenant_whatever_the_master_key() {
        let dir = tempfile::tempdir().unwrap();
        each(|store| {
            let add = |name: &str| store.now(|t| tenants::add(t, name, (1, 1))).unwrap();
            let (a, b) = (add("a"), add("b"));
            let open = |digit, old| Vault::open(&config(dir.path(), digit, old), &store, false);
            let vault = open("1", None).unwrap().unwrap();
            let key = vault.key(a).unwrap();
            assert_eq!(vault.key(a).unwrap().bytes(), key.bytes());
            assert_ne!(vault.key(b).unwrap().bytes(), key.bytes());
            assert!(matches!(vault.key(999), Err(ServeError::NotFound { .. })));
            // Another process has the same.
            assert_eq!(open("1", None).unwrap().unwrap().key(a).unwrap().bytes(), key.bytes());
            // The key is nowhere in the database, and the master key neither.
            let kept = store.now(data_keys::all).unwrap();
            assert!(kept.iter().all(|(_, wrapped)| !wrapped.bytes.windows(32).any(|w| w == key.bytes())));
            // Another master key opens nothing, and says which is needed.
            let Err(ServeError::MasterKey { found, needed }) = open("2", None) else { panic!() };
            assert_eq!((needed, found.len()), (kept[0].1.master.clone(), 16));
            let none = Config { master: None, ..config(dir.path(), "1", None) };
            let refused = Vault::open(&none, &store, false).unwrap_err().to_string();
            assert!(refused.contains("--master-key-file"), "{refused}");
            // A new one takes over while the old one is there, and then alone.
            let both = open("2", Some("1")).unwrap().unwrap();
            assert_eq!(both.key(a).unwrap().bytes(), key.bytes());
            assert_eq!((both.rewrap().unwrap(), both.rewrap().unwrap()), (2, 0));
            assert_eq!(open("2", None).unwrap().unwrap().key(a).unwrap().bytes(), key.bytes());
            assert!(matches!(open("1", None), Err(ServeError::MasterKey { .. })));
            // One tenant's key in the place of another's, and one with an edited byte, are no keys.
            let kept = store.now(data_keys::all).unwrap();
            store.now(|t| data_keys::replace(t, a, &kept[1].1)).unwrap();
            assert!(matches!(open("2", None), Err(ServeError::DataKey { tenant }) if tenant == a));
            let mut edited = kept[0].1.clone();
            edited.bytes[40] ^= 1;
            store.now(|t| data_keys::replace(t, a, &edited)).unwrap();
            assert!(matches!(open("2", None), Err(ServeError::DataKey { .. })));
            // Destroyed, it is forgotten, and never made again for a tenant that is gone.
            let gone =
                ["DELETE FROM data_keys WHERE tenant = ?1", "UPDATE tenants SET deleted = 1 WHERE id = ?1"];
            store.now(|t| gone.iter().try_for_each(|sql| t.execute(sql, values![a]).map(drop))).unwrap();
            both.forget().unwrap();
            assert!(matches!(both.key(a), Err(ServeError::NotFound { .. })));
            assert!(both.key(b).is_ok());
        });
    }

    #[test]
    fn master_keys_come_from_files_and_commands() {
        let dir = tempfile::tempdir().unwrap();
        let secret = "0f".repeat(32);
        let path = dir.path().join("key");
        fs::write(&path, format!("{secret}\n")).unwrap();
        let file = master(&Master::File(path.clone())).unwrap();
        let command = master(&Master::Command(format!("cat {}", path.display()))).unwrap();
        assert_eq!(file.name, command.name);
        assert!(!secret.contains(&file.name));
        for wrong in ["", "0f", &format!("{secret}00"), &"g".repeat(64)] {
            fs::write(&path, wrong).unwrap();
            let refused = master(&Master::File(path.clone())).err().unwrap().to_string();
            assert!(refused.contains("64 hexadecimal digits"), "{refused}");
            assert!(wrong.is_empty() || wrong.len() < 10 || !refused.contains(wrong));
        }
        let failed = master(&Master::Command("echo secret; exit 3".into())).err().unwrap().to_string();
        assert!(failed.contains("exit status: 3") && !failed.contains("secret"), "{failed}");
        assert!(master(&Master::File(dir.path().join("none"))).is_err());
    }
}
