//! What all requests share.

use super::metrics::Metrics;
use super::offer::Offers;
use super::problem::Problem;
use axum::http::StatusCode;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// How long a request waits until others have been answered.
const WAIT: Duration = Duration::from_secs(5);

/// What every request sees.
pub struct App {
    /// The boards.
    pub offers: Offers,
    /// The counts.
    pub metrics: Metrics,
    /// Requests that look values up at a time.
    places: Arc<Semaphore>,
}

impl App {
    /// Answers for these boards, on all processors at a time.
    pub fn new(offers: Offers) -> Arc<App> {
        // Two for each: one may wait for the disk.
        let places = 2 * available_parallelism().map_or(1, usize::from);
        Arc::new(App { offers, metrics: Metrics::default(), places: Arc::new(Semaphore::new(places)) })
    }

    /// Runs a job that computes or reads files, beside the threads of the connections.
    ///
    /// # Errors
    /// [`Problem`] with status 503 if too many are at work, and those of the job.
    pub async fn work<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let busy = || Problem::with(StatusCode::SERVICE_UNAVAILABLE, "too many requests at work: try again");
        let place = timeout(WAIT, self.places.clone().acquire_owned()).await.map_err(|_| busy())?;
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
