//! TLS to PostgreSQL: what of the server's certificate is checked, as `sslmode` of the address says.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::config::Encryption;
use crate::error::ServeError;
use crate::tls::authorities;

/// Checks what an address asks for: nothing, the authority, or the authority and the name.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    authority: Option<Arc<WebPkiServerVerifier>>,
    name: bool,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        status: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(authority) = &self.authority else { return Ok(ServerCertVerified::assertion()) };
        let made = authority.verify_server_cert(end, between, name, status, now);
        match made {
            // It looks at the name after the authority.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.name => Ok(ServerCertVerified::assertion()),
            made => made,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// What makes connections that are encrypted as is asked; `file` has the authorities.
pub(crate) fn connector(asked: Encryption, file: Option<&Path>) -> Result<MakeRustlsConnect, ServeError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let wrong = |error: &dyn std::fmt::Display| ServeError::Start(error.to_string());
    let checked = matches!(asked, Encryption::Authority | Encryption::Full);
    let authority = match file.filter(|_| checked) {
        None => None,
        Some(file) => {
            let mut roots = RootCertStore::empty();
            authorities(&mut roots, file)?;
            let builder = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone());
            Some(builder.build().map_err(|error| wrong(&error))?)
        }
    };
    if checked && authority.is_none() {
        // Never less than is asked for.
        return Err(wrong(
            &"the authorities of the database are missing; name their file with --database-ca",
        ));
    }
    let verifier = Verifier { provider: provider.clone(), authority, name: asked == Encryption::Full };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(&error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// Why a certificate was refused, if that ended a connection.
pub(crate) fn refused(error: &tokio_postgres::Error) -> Option<String> {
    let system = std::error::Error::source(error)?.downcast_ref::<std::io::Error>()?;
    match system.get_ref()?.downcast_ref::<Error>()? {
        Error::InvalidCertificate(why) => Some(why.to_string()),
        _ => None,
    }
}
