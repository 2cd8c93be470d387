//! Connections over HTTP: accepted up to a limit, served, and finished when the server stops.
//!
//! A client that never reads the answer to its request would hold its connection forever. Every
//! write that makes no progress for a while fails, which ends the connection. Reads of heads are
//! bounded by the limits here, reads of bodies by the routes.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{interval, sleep, timeout};
use tokio_io_timeout::TimeoutWriter;

/// The limits for clients.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Connections that are served at a time; more wait to be accepted.
    pub connections: usize,
    /// Longest head of a request, in bytes; at least 8 KiB.
    pub head_bytes: usize,
    /// How long a client may take for the head of a request, stay idle between two, or not read an
    /// answer.
    pub patience: Duration,
}

/// How long a stop waits for requests at work.
const LAST_CALL: Duration = Duration::from_secs(5);
/// How often the request to stop is looked at.
const TICK: Duration = Duration::from_millis(50);

/// Serves until `stop` is set, then lets the requests at work finish for a while.
///
/// # Errors
/// Returns the system's, if the address can no longer be listened on.
pub async fn serve(
    listener: std::net::TcpListener,
    routes: Router,
    limits: Limits,
    stop: Arc<AtomicBool>,
    open: Arc<AtomicU64>,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(limits.connections));
    let mut tick = interval(TICK);
    let mut http = http1::Builder::new();
    // A client may close its side after its request.
    http.half_close(true);
    http.timer(TokioTimer::new()).header_read_timeout(limits.patience).max_buf_size(limits.head_bytes);
    while !stop.load(Ordering::Relaxed) {
        let accepted = tokio::select! {
            accepted = accept(&listener, &places) => accepted,
            _ = tick.tick() => continue,
        };
        let Some((stream, place)) = accepted else { continue };
        let mut stream = TimeoutWriter::new(stream);
        stream.set_timeout(Some(limits.patience));
        let client = TokioIo::new(Box::pin(stream));
        let connection = graceful.watch(http.serve_connection(client, TowerToHyperService::new(routes.clone())));
        let open = open.clone();
        open.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            // A broken connection is the client's affair.
            let _ = connection.await;
            open.fetch_sub(1, Ordering::Relaxed);
            drop(place);
        });
    }
    drop(listener);
    let _ = timeout(LAST_CALL, graceful.shutdown()).await;
    Ok(())
}

/// Accepts a connection once there is a place for it.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => {
            let _ = stream.set_nodelay(true);
            Some((stream, place))
        }
        Err(_) => {
            // No open files are left, or the client is gone already.
            sleep(TICK).await;
            None
        }
    }
}
