//! Missing or damaged databases: clients get status 500, the operator is told which, where and why.
//!
//! Failed files are opened again for the next request, so a database that comes back needs no
//! restart.

use crate::reply::report;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex as AsyncMutex;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;
use trinim::database::{Database, DatabaseError, Evaluation, Probe};
use trinim::game::{Board, Rule, Value};
use trinim::play::answers::{AnswerError, Answers, known};

/// Interval between checks of the databases.
const MOMENT: Duration = Duration::from_secs(1);

/// A database in a folder, with the last position that could not be read.
pub struct WatchedDatabase {
    database: Arc<Database>,
    failed: Mutex<Option<u64>>,
}

impl WatchedDatabase {
    /// Watches a database.
    pub fn new(database: Arc<Database>) -> Arc<WatchedDatabase> {
        Arc::new(WatchedDatabase { database, failed: Mutex::default() })
    }

    /// Returns the limit of its cache.
    #[cfg(test)]
    pub fn cache_bytes(&self) -> u64 {
        self.database.cache_bytes()
    }

    fn noted<T>(&self, position: u64, found: Result<T, DatabaseError>) -> Result<T, AnswerError> {
        found.map_err(AnswerError::from).inspect_err(|error| {
            if matches!(error, AnswerError::Database(_)) {
                *self.failed.lock() = Some(position);
            }
        })
    }

    /// Reads the manifest again, and the position that could not be read.
    ///
    /// # Errors
    /// Those of the database.
    fn check(&self) -> Result<(), DatabaseError> {
        let failed = *self.failed.lock();
        if let Some(position) = failed {
            match self.database.probe(position) {
                Ok(_) | Err(DatabaseError::NotKept { .. }) => *self.failed.lock() = None,
                Err(error) => return Err(error),
            }
        }
        self.database.check_manifest()
    }
}

impl Answers for WatchedDatabase {
    fn board(&self) -> &Board {
        self.database.board()
    }

    fn rule(&self) -> Rule {
        self.database.rule()
    }

    fn value(&self, position: u64) -> Result<Value, AnswerError> {
        self.noted(position, self.database.value(position))
    }

    fn evaluate(&self, _: u64, parts: &[u64]) -> Result<Vec<Option<Evaluation>>, AnswerError> {
        let found = parts.iter().map(|part| known(self.noted(*part, self.database.evaluate(*part))));
        found.collect()
    }

    fn probe(&self, position: u64) -> Result<Probe, AnswerError> {
        self.noted(position, self.database.probe(position))
    }
}

/// The result of the last check of the databases.
#[derive(Default)]
pub struct Health(AsyncMutex<Look>);

#[derive(Default)]
struct Look {
    at: Option<Instant>,
    /// Boards whose database cannot be read.
    broken: Vec<String>,
    running: Option<JoinHandle<Vec<String>>>,
}

impl Health {
    /// Returns the names of the unreadable databases. A disk that does not answer holds up no
    /// request.
    pub async fn broken(&self, databases: Vec<(String, Arc<WatchedDatabase>)>) -> Vec<String> {
        let mut look = self.0.lock().await;
        if look.at.is_none_or(|at| at.elapsed() >= MOMENT) {
            let names = databases.iter().map(|(name, _)| name.clone()).collect();
            let broken = move || {
                let found = databases.into_iter().filter(|(_, watched)| watched.check().map_err(report).is_err());
                found.map(|(name, _)| name).collect()
            };
            let mut running = look.running.take().unwrap_or_else(|| spawn_blocking(broken));
            look.broken = match timeout(MOMENT, &mut running).await {
                Ok(found) => found.unwrap_or(names),
                Err(_) => {
                    look.running = Some(running);
                    names
                }
            };
            look.at = Some(Instant::now());
        }
        look.broken.clone()
    }
}
