//! Connections: as many as are allowed, each with patience, and an end that lets requests finish.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::app::App;

/// The most bytes of the head of a request.
const HEAD: usize = 1 << 15;

/// A pause after the system refused a connection, for want of descriptors for example.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers requests of one connection until it ends.
async fn speak<S>(stream: S, router: Router, watcher: Watcher, patience: Duration)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    // A client that goes away is no event.
    let _ = watcher.watch(connection).await;
}

/// Serves until the service goes down, and then until requests have ended or the time for that is over.
pub(crate) async fn serve(app: Arc<App>, listener: TcpListener, router: Router) {
    let connections = Arc::new(Semaphore::new(app.config.max_connections));
    let graceful = GracefulShutdown::new();
    let patience = Duration::from_secs(app.config.patience);
    loop {
        let Ok(permit) = connections.clone().acquire_owned().await else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = app.going_down() => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection was refused");
                sleep(PAUSE).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let (router, watcher) = (router.clone(), graceful.watcher());
        let tls = app.tls.as_ref().map(|tls| TlsAcceptor::from(tls.current()));
        tokio::spawn(async move {
            match tls {
                None => speak(stream, router, watcher, patience).await,
                // Who speaks no TLS, or has no certificate that is wanted, goes.
                Some(tls) => {
                    if let Ok(Ok(stream)) = timeout(patience, tls.accept(stream)).await {
                        speak(stream, router, watcher, patience).await;
                    }
                }
            }
            drop(permit);
        });
    }
    drop(listener);
    let _ = timeout(Duration::from_secs(app.config.drain), graceful.shutdown()).await;
}
