//! The audit log: who did what, each entry bound to the one before.

use crate::error::ServeError;
use crate::store::database::{Transaction, values};
use crate::store::now;
use crate::store::postgres::AUDIT;
use crate::token::Caller;

/// Entries that are read at once.
const AT_ONCE: i64 = 1000;

/// Adds an entry, as the last thing of a transaction: no other entry is added until it ends.
pub(crate) fn note(
    t: &Transaction<'_>,
    caller: Option<&Caller>,
    action: &str,
    subject: &str,
) -> Result<(), ServeError> {
    t.lock(AUDIT)?;
    let before: Option<String> =
        t.first("SELECT chain FROM audit ORDER BY id DESC LIMIT 1", values![], |row| row.get(0))?;
    let (at, tenant, token) = (now(), caller.map(|c| c.tenant), caller.map(|c| c.token.clone()));
    let chain = chained(&before.unwrap_or_default(), at, tenant, token.as_deref(), action, subject);
    t.send(
        "INSERT INTO audit (at, tenant, token, action, subject, chain) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        values![at, tenant, token, action, subject, chain],
    )?;
    Ok(())
}

fn chained(
    before: &str,
    at: i64,
    tenant: Option<i64>,
    token: Option<&str>,
    action: &str,
    subject: &str,
) -> String {
    // As JSON the fields cannot run into each other.
    let entry = serde_json::json!([before, at, tenant, token, action, subject]).to_string();
    blake3::hash(entry.as_bytes()).to_hex().to_string()
}

/// The number of the first entry that was changed after it was written, if any.
pub(crate) fn broken(t: &Transaction<'_>) -> Result<Option<i64>, ServeError> {
    let (mut before, mut last) = (String::new(), i64::MIN);
    loop {
        // In parts: a log may be longer than memory.
        let sql = "SELECT id, at, tenant, token, action, subject, chain FROM audit WHERE id > ?1 ORDER BY id LIMIT ?2";
        let rows = t.all(sql, values![last, AT_ONCE], |row| {
            let (id, token): (i64, Option<String>) = (row.get(0)?, row.get(3)?);
            let (action, subject): (String, String) = (row.get(4)?, row.get(5)?);
            let chain: String = row.get(6)?;
            let expected = chained(&before, row.get(1)?, row.get(2)?, token.as_deref(), &action, &subject);
            let right = chain == expected;
            before = chain;
            Ok((id, right))
        })?;
        if let Some((id, _)) = rows.iter().find(|(_, right)| !right) {
            return Ok(Some(*id));
        }
        match rows.last() {
            Some((id, _)) => last = *id,
            None => return Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::each;

    #[test]
    fn an_entry_that_was_changed_is_found() {
        each(|store| {
            store.now(|t| (0..5).try_for_each(|k| note(t, None, "test", &k.to_string()))).unwrap();
            assert_eq!(store.now(broken).unwrap(), None);
            store.now(|t| t.execute("UPDATE audit SET subject = 'x' WHERE id = 3", values![])).unwrap();
            assert_eq!(store.now(broken).unwrap(), Some(3));
            store.now(|t| t.execute("DELETE FROM audit WHERE id = 1", values![])).unwrap();
            assert_eq!(store.now(broken).unwrap(), Some(2));
        });
    }
}
