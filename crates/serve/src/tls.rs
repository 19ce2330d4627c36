//! TLS by rustls: certificates from files that are read again when they change, and certificates of clients.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

use crate::config::Tls as Settings;
use crate::error::ServeError;

/// What connections are made with, as the files had it last.
pub(crate) struct Tls {
    settings: Settings,
    held: Mutex<(Arc<ServerConfig>, Vec<Option<SystemTime>>)>,
}

impl Tls {
    pub(crate) fn open(settings: &Settings) -> Result<Self, ServeError> {
        let held = (read(settings)?, stamps(settings));
        Ok(Self { settings: settings.clone(), held: Mutex::new(held) })
    }

    /// What the next connection is made with.
    pub(crate) fn current(&self) -> Arc<ServerConfig> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// Reads the files again, if one has changed or `always`; what is wrong is logged, and the service goes on as it was.
    pub(crate) fn look(&self, always: bool) {
        let stamps = stamps(&self.settings);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if !always && held.1 == stamps {
            return;
        }
        // Of files that are changed one after the other the last one settles it.
        held.1 = stamps;
        match read(&self.settings) {
            Ok(config) => {
                held.0 = config;
                tracing::info!("certificates were read again");
            }
            Err(error) => {
                tracing::error!(%error, "certificates were not taken; the service keeps those it has")
            }
        }
    }
}

/// When files were changed.
fn stamps(settings: &Settings) -> Vec<Option<SystemTime>> {
    let files = [Some(&settings.cert), Some(&settings.key), settings.client_ca.as_ref()];
    files.into_iter().flatten().map(|file| fs::metadata(file).ok()?.modified().ok()).collect()
}

fn wrong(file: &Path, what: &str, why: impl std::fmt::Display) -> ServeError {
    ServeError::Start(format!("{} is not {what}: {why}", file.display()))
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, ServeError> {
    let what = "a file of certificates (PEM)";
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(found) if found.is_empty() => Err(wrong(file, what, "it holds none")),
        Ok(found) => Ok(found),
        Err(error) => Err(wrong(file, what, error)),
    }
}

/// Takes the certificates of a file as those of authorities.
pub(crate) fn authorities(roots: &mut RootCertStore, file: &Path) -> Result<(), ServeError> {
    for certificate in certificates(file)? {
        roots.add(certificate).map_err(|error| wrong(file, "a file of authorities", error))?;
    }
    Ok(())
}

fn read(settings: &Settings) -> Result<Arc<ServerConfig>, ServeError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let chain = certificates(&settings.cert)?;
    let key = PrivateKeyDer::from_pem_file(&settings.key);
    let key = key.map_err(|error| wrong(&settings.key, "the file of a private key (PEM)", error))?;
    let builder = ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| ServeError::Start(error.to_string()))?;
    let builder = match &settings.client_ca {
        None => builder.with_no_client_auth(),
        Some(file) => {
            let mut roots = RootCertStore::empty();
            authorities(&mut roots, file)?;
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            let verifier = verifier.map_err(|error| wrong(file, "a file of authorities", error))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let mut config = builder
        .with_single_cert(chain, key)
        .map_err(|error| wrong(&settings.cert, "a certificate of the private key", error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
