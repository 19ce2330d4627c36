//! Bodies that are read with patience, and no more of them than is allowed.

use std::path::PathBuf;
use std::time::Duration;

use axum::body::Body;
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use sha1::{Digest, Sha1};
use tokio::time::timeout;

use crate::app::App;
use crate::blobs::{Growing, HEAD, refuse_secret};
use crate::error::ServeError;
use crate::store::spawned;

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

/// Does what blocks with a file that grows.
async fn with<T: Send + 'static>(
    mut file: Growing,
    action: &'static str,
    work: impl FnOnce(&mut Growing) -> std::io::Result<T> + Send + 'static,
) -> Result<(Growing, T), ServeError> {
    spawned(move || {
        let made = work(&mut file).map_err(ServeError::io(action))?;
        Ok((file, made))
    })
    .await
}

/// Where a body goes.
pub(crate) struct Place {
    pub(crate) tenant: i64,
    pub(crate) path: PathBuf,
    /// Where the body begins in the file; without it the file is new.
    pub(crate) offset: Option<u64>,
    /// The most bytes of the body.
    pub(crate) most: u64,
    /// Whether the body ends the file, whatever its length; otherwise it does with `most` bytes.
    pub(crate) whole: bool,
}

/// Appends a body to a file; a secret key is refused as soon as it shows. Gives the bytes that were appended. What arrived before an
/// error stays in the file, but for what fails its checksum.
pub(crate) async fn append(
    app: &App,
    place: Place,
    body: Body,
    checksum: Option<&Checksum>,
) -> Result<u64, ServeError> {
    let Place { tenant, path, offset, most, whole } = place;
    let blobs = app.blobs.clone();
    let opened = spawned(move || match offset {
        None => blobs.begin(tenant, &path),
        Some(_) => blobs.resume(tenant, &path),
    });
    let offset = offset.unwrap_or(0);
    let (mut file, mut head) = (opened.await?, vec![0; HEAD]);
    if offset < HEAD as u64 {
        (file, head) = with(file, "reading an upload", Growing::head).await?;
    }
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
                with(file, "removing a secret key", |file| file.cut(0)).await?;
                return Err(secret);
            }
        }
        match &mut summing {
            Some(Summing::Sha1(sum)) => sum.update(&piece),
            Some(Summing::Blake3(sum)) => drop(sum.update(&piece)),
            None => {}
        }
        // What was written of a piece is in the file, whatever follows.
        let (kept, written) = with(file, "writing an upload", move |file| Ok(file.write(&piece))).await?;
        file = kept;
        if let Err(error) = written {
            break Err(ServeError::io("writing an upload")(error));
        }
        got += size;
    };
    app.metrics.bytes.with_label_values(&["in"]).inc_by(got);
    if let (Some(checksum), Some(summing)) = (checksum, summing)
        && !(ended.is_ok() && checksum.is(summing))
    {
        with(file, "shortening an upload", move |file| file.cut(offset)).await?;
        ended?;
        return Err(ServeError::Checksum);
    }
    let last = ended.is_ok() && (whole || got == most);
    let kept = with(file, "writing an upload", move |file| file.keep(last)).await;
    ended?;
    kept?;
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
