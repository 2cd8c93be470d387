//! The state that all requests share: the boards, a limit on work, and counts in the text format of
//! Prometheus.

use crate::deep::{DeepSolver, PATIENCE};
use crate::health::Health;
use crate::offer::Offers;
use crate::origin::Origins;
use crate::reply::Problem;
use axum::http::StatusCode;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::available_parallelism;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// How long a request waits for others to finish.
const WAIT: Duration = Duration::from_secs(5);

/// The state of the server, which all requests share.
pub struct App {
    /// The boards.
    pub offers: Offers,
    /// The names and pages whose requests are answered.
    pub origins: Origins,
    /// Positions that take long to solve.
    pub deep: Arc<DeepSolver>,
    /// Databases that cannot be read.
    pub health: Health,
    /// The counts.
    pub metrics: Metrics,
    /// Permits for requests that look up values at the same time.
    pub places: Arc<Semaphore>,
    /// How long a request waits for a permit.
    pub wait: Duration,
}

impl App {
    /// Answers for these boards, on all processors at once.
    pub fn new(offers: Offers, origins: Origins) -> Arc<App> {
        // Two for each processor, because one may wait for the disk.
        let places = 2 * available_parallelism().map_or(1, usize::from);
        Arc::new(App {
            offers,
            origins,
            deep: Arc::new(DeepSolver::with_patience(PATIENCE)),
            health: Health::default(),
            metrics: Metrics::default(),
            places: Arc::new(Semaphore::new(places)),
            wait: WAIT,
        })
    }

    /// Runs a job that computes or reads files, outside the threads of the connections.
    ///
    /// # Errors
    /// [`Problem`] with status 503 if too many requests are running, and those of the job.
    pub async fn work<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let busy = || Problem::with(StatusCode::SERVICE_UNAVAILABLE, "too many requests: try again later");
        let place = timeout(self.wait, self.places.clone().acquire_owned()).await.map_err(|_| busy())?;
        let place = place.map_err(|_| busy())?;
        let done = tokio::task::spawn_blocking(move || {
            let result = job();
            drop(place);
            result
        });
        let broken = |_| Problem::with(StatusCode::INTERNAL_SERVER_ERROR, "the answer could not be computed");
        done.await.map_err(broken)?
    }
}

/// Upper bounds of the times that are counted, in seconds.
const BOUNDS: [f64; 7] = [0.0005, 0.001, 0.005, 0.025, 0.1, 1.0, 10.0];

/// Counts since the start.
#[derive(Default)]
pub struct Metrics {
    /// Open connections.
    pub connections: Arc<AtomicU64>,
    /// Positions looked up on request, without their moves.
    pub positions: AtomicU64,
    requests: parking_lot::Mutex<BTreeMap<(String, u16), u64>>,
    times: [AtomicU64; BOUNDS.len()],
    answered: AtomicU64,
    micros: AtomicU64,
}

impl Metrics {
    /// Counts a request to a path of the server and its time.
    pub fn request(&self, path: String, status: u16, time: Duration) {
        *self.requests.lock().entry((path, status)).or_default() += 1;
        for (bound, count) in BOUNDS.iter().zip(&self.times) {
            if time.as_secs_f64() <= *bound {
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.answered.fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(time.as_micros() as u64, Ordering::Relaxed);
    }

    /// Formats all counts.
    pub fn text(&self) -> String {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let mut text = String::new();
        let head = |text: &mut String, name: &str, kind: &str, help: &str| {
            // Writing into memory never fails, here and below.
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        };
        head(&mut text, "trinim_requests_total", "counter", "Requests by path and status.");
        for ((path, status), count) in self.requests.lock().iter() {
            let _ = writeln!(text, "trinim_requests_total{{path=\"{path}\",status=\"{status}\"}} {count}");
        }
        head(&mut text, "trinim_positions_total", "counter", "Positions asked for.");
        let _ = writeln!(text, "trinim_positions_total {}", of(&self.positions));
        head(&mut text, "trinim_connections", "gauge", "Open connections.");
        let _ = writeln!(text, "trinim_connections {}", of(&self.connections));
        let name = "trinim_request_seconds";
        head(&mut text, name, "histogram", "Time from the head of a request to the head of its answer.");
        for (bound, count) in BOUNDS.iter().zip(&self.times) {
            let _ = writeln!(text, "{name}_bucket{{le=\"{bound}\"}} {}", of(count));
        }
        let answered = of(&self.answered);
        let _ = writeln!(text, "{name}_bucket{{le=\"+Inf\"}} {answered}");
        let _ = writeln!(text, "{name}_sum {}\n{name}_count {answered}", of(&self.micros) as f64 / 1e6);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_seconds() {
        let metrics = Metrics::default();
        for milliseconds in [2, 3_000] {
            metrics.request("/x".to_owned(), 200, Duration::from_millis(milliseconds));
        }
        let text = metrics.text();
        for line in [
            "_bucket{le=\"0.001\"} 0",
            "_bucket{le=\"0.005\"} 1",
            "_bucket{le=\"1\"} 1",
            "_bucket{le=\"10\"} 2",
            "_sum 3.002",
        ] {
            assert!(text.contains(&format!("trinim_request_seconds{line}\n")), "{line}: {text}");
        }
    }
}
