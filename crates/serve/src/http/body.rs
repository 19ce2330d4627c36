//! Bodies that are read with patience, and no more of them than is allowed.

use std::path::Path;
use std::time::Duration;

use axum::body::Body;
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use sha1::{Digest, Sha1};
use tokio::fs::OpenOptions;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use crate::app::App;
use crate::blobs::{HEAD, refuse_secret};
use crate::error::ServeError;

/// A checksum that a piece must have.
pub(crate) enum Checksum {
    Sha1(Vec<u8>),
    Blake3(Vec<u8>),
}

enum Summing {
    Sha1(Sha1),
    Blake3(Box<blake3::Hasher>),
}

impl Checksum {
    fn begin(&self) -> Summing {
        match self {
            Self::Sha1(_) => Summing::Sha1(Sha1::new()),
            Self::Blake3(_) => Summing::Blake3(Box::new(blake3::Hasher::new())),
        }
    }

    fn is(&self, found: Summing) -> bool {
        match (self, found) {
            (Self::Sha1(expected), Summing::Sha1(found)) => expected[..] == found.finalize()[..],
            (Self::Blake3(expected), Summing::Blake3(found)) => {
                expected[..] == found.finalize().as_bytes()[..]
            }
            _ => false,
        }
    }
}

/// Appends a body to a file: `most` bytes at most; a secret key is refused as soon as it shows. Gives the bytes that were
/// appended. What arrived before an error stays in the file, but for what fails its checksum.
pub(crate) async fn append(
    app: &App,
    path: &Path,
    offset: u64,
    most: u64,
    body: Body,
    checksum: Option<&Checksum>,
) -> Result<u64, ServeError> {
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .await
        .map_err(ServeError::io("opening an upload"))?;
    let mut head = if offset < HEAD as u64 { crate::blobs::head(path)? } else { vec![0; HEAD] };
    let mut summing = checksum.map(Checksum::begin);
    let (mut stream, mut got) = (body.into_data_stream(), 0u64);
    let patience = Duration::from_secs(app.config.patience);
    let ended = loop {
        let piece = match timeout(patience, stream.next()).await {
            Err(_) => break Err(ServeError::TooSlow),
            Ok(None) => break Ok(()),
            Ok(Some(Err(_))) => break Err(ServeError::CutOff),
            Ok(Some(Ok(piece))) => piece,
        };
        let size = piece.len() as u64;
        if got + size > most {
            break Err(ServeError::TooLarge {
                what: "the body",
                found: offset + got + size,
                most: offset + most,
            });
        }
        if head.len() < HEAD {
            head.extend(piece.iter().take(HEAD - head.len()));
            if let Err(secret) = refuse_secret(&head) {
                app.metrics.secret_keys.inc();
                // Nothing of it stays.
                file.set_len(0).await.map_err(ServeError::io("removing a secret key"))?;
                return Err(secret);
            }
        }
        match &mut summing {
            Some(Summing::Sha1(sum)) => sum.update(&piece),
            Some(Summing::Blake3(sum)) => drop(sum.update(&piece)),
            None => {}
        }
        if let Err(error) = file.write_all(&piece).await {
            break Err(ServeError::io("writing an upload")(error));
        }
        got += size;
    };
    let flushed = file.flush().await.map_err(ServeError::io("writing an upload"));
    app.metrics.bytes.with_label_values(&["in"]).inc_by(got);
    if let (Some(checksum), Some(summing)) = (checksum, summing) {
        let right = ended.is_ok() && flushed.is_ok() && checksum.is(summing);
        if !right {
            file.set_len(offset).await.map_err(ServeError::io("shortening an upload"))?;
            ended?;
            flushed?;
            return Err(ServeError::Checksum);
        }
    }
    ended?;
    flushed?;
    Ok(got)
}

/// Reads a small body of JSON.
pub(crate) async fn json<T: DeserializeOwned>(app: &App, body: Body) -> Result<T, ServeError> {
    let patience = Duration::from_secs(app.config.patience);
    let read = timeout(patience, axum::body::to_bytes(body, super::SMALL)).await;
    let bytes = read.map_err(|_| ServeError::TooSlow)?;
    let bytes = bytes
        .map_err(|_| ServeError::bad("Body", "the body was cut off, or is too large for a description"))?;
    serde_json::from_slice(&bytes)
        .map_err(|e| ServeError::bad("Body", format!("the body is not what is wanted here: {e}")))
}
