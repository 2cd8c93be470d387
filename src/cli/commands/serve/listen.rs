//! Connections: accepted up to a limit, served, and finished when the server stops.

use super::patient::Patient;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioTimer;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{interval, sleep, timeout};

/// Connections that are served at a time; more wait to be accepted.
pub const CONNECTIONS: usize = 512;
/// How long a client may take for the head of a request, or stay idle between two.
pub const HEAD: Duration = Duration::from_secs(20);
/// How long a client may not read an answer.
pub const STALL: Duration = Duration::from_secs(20);
/// Longest head of a request, in bytes.
const HEAD_BYTES: usize = 64 << 10;
/// How long a stop waits for requests at work.
const LAST_CALL: Duration = Duration::from_secs(5);
/// How often the request to stop is looked at.
const TICK: Duration = Duration::from_millis(50);

/// Serves until `stop` is set, then lets the requests at work finish for a while.
pub async fn serve(listener: TcpListener, app: Router, stop: Arc<AtomicBool>, open: Arc<AtomicU64>) {
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut tick = interval(TICK);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(HEAD_BYTES);
    while !stop.load(Ordering::Relaxed) {
        let accepted = tokio::select! {
            accepted = accept(&listener, &places) => accepted,
            _ = tick.tick() => continue,
        };
        let Some((stream, place)) = accepted else { continue };
        let connection = http.serve_connection(Patient::new(stream, STALL), TowerToHyperService::new(app.clone()));
        let connection = graceful.watch(connection);
        let open = open.clone();
        open.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            // A connection that breaks is the client's affair.
            let _ = connection.await;
            open.fetch_sub(1, Ordering::Relaxed);
            drop(place);
        });
    }
    drop(listener);
    let _ = timeout(LAST_CALL, graceful.shutdown()).await;
}

/// Accepts a connection once there is a place for it.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(tokio::net::TcpStream, tokio::sync::OwnedSemaphorePermit)> {
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
