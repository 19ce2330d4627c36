//! Receipts: what a service says it computed, signed, so that who fetched results can show it to others.
//!
//! A receipt proves who said so. Whether it is true is shown by computing again: results are the same bits.

use ring::signature::{Ed25519KeyPair, KeyPair};
use serde::Serialize;

use crate::error::ServeError;
use crate::store::hexadecimal;
use crate::store::jobs::Job;
use crate::token::TokenKey;

/// The key of a service that signs, Ed25519 (RFC 8032).
pub(crate) struct Signer(Ed25519KeyPair);

/// What is signed, as JSON without spaces in this order. Hashes are BLAKE3 of files, as everywhere in the service.
#[derive(Serialize)]
struct Statement<'a> {
    ringmill: &'static str,
    engine: Option<&'a str>,
    job: &'a str,
    program: &'a str,
    keys: &'a str,
    arguments: &'a str,
    result: &'a str,
    ended: Option<i64>,
}

/// The public part of the key that signs receipts.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct SigningKey {
    /// Ed25519.
    algorithm: &'static str,
    /// 32 bytes, hexadecimal.
    public_key: String,
}

/// A signed statement on the results of a job.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Receipt {
    #[serde(flatten)]
    key: SigningKey,
    /// The text that is signed: JSON with the hashes of program, keys, arguments and results, the job, and the version of the engine.
    statement: String,
    /// 64 bytes, hexadecimal.
    signature: String,
}

impl Signer {
    /// The key of a service.
    pub(crate) fn new(key: &TokenKey) -> Result<Self, ServeError> {
        let pair = Ed25519KeyPair::from_seed_unchecked(&*key.signing_seed());
        pair.map(Self).map_err(|_| ServeError::Start("the key of receipts cannot be made".into()))
    }

    /// Its public part.
    pub(crate) fn public(&self) -> SigningKey {
        SigningKey { algorithm: "Ed25519", public_key: hexadecimal(self.0.public_key().as_ref()) }
    }

    /// The receipt of a job; none before it is done.
    pub(crate) fn receipt(&self, job: &Job) -> Option<Receipt> {
        let statement = Statement {
            ringmill: "receipt",
            engine: job.engine.as_deref(),
            job: &job.id,
            program: &job.program,
            keys: &job.keys,
            arguments: &job.arguments,
            result: job.result.as_deref().filter(|_| job.state == "done")?,
            ended: job.ended,
        };
        let statement = serde_json::to_string(&statement).ok()?;
        let signature = hexadecimal(self.0.sign(statement.as_bytes()).as_ref());
        Some(Receipt { key: self.public(), statement, signature })
    }
}
