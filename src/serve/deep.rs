//! Positions that take long to solve: one at a time for all clients, in a folder, with progress.
//!
//! A client gets the progress of the solve, and asks again. A solve that no client asks about any
//! more is abandoned. The result waits as long for its client before another solve begins, and then
//! answers for all subsets of its pieces, even to clients that are not allowed to begin a solve
//! (`origin.rs`).

use crate::offer::{AT_ONCE, Offer};
use crate::reply::Problem;
use axum::http::StatusCode;
use parking_lot::Mutex;
use pipeline::{Error, Metrics, Options, Stopwatch};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use trinim::cli::answers::{planned, temporary};
use trinim::cli::pace;
use trinim::job::{free_bytes, modest_bytes};
use trinim::kernel::Kernel;
use trinim::plan::Resources;
use trinim::plan::work::SessionWork;
use trinim::play::{AnswerError, Answers, OnTheSpot};
use trinim::solve::{PartError, PartSolver};

/// Memory of a solve, unless the process can use less than twice that.
const MEMORY_BYTES: u64 = 512 << 20;
/// The time after which a solve without a request is abandoned.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// Interval between looks at a solve.
const LOOK: Duration = Duration::from_millis(50);
/// Time limit for a solve to end when the server stops.
const GRACE: Duration = Duration::from_secs(2);

/// The solve at work, and the last finished one.
pub struct DeepSolver {
    solves: Mutex<Solves>,
    /// See [`PATIENCE`].
    patience: Duration,
}

#[derive(Default)]
struct Solves {
    running: Option<RunningSolve>,
    solved: Option<FinishedSolve>,
}

struct RunningSolve {
    offer: Arc<Offer>,
    position: u64,
    /// Share of the work that is done.
    done: f64,
    asked: Instant,
    stop: Arc<AtomicBool>,
    worker: JoinHandle<()>,
}

struct FinishedSolve {
    offer: Arc<Offer>,
    position: u64,
    /// An error is reported once: the next request begins again.
    answers: Result<Arc<OnTheSpot>, PartError>,
    /// When a client last asked for it; `None` once a client has it.
    waits: Option<Instant>,
}

impl DeepSolver {
    /// Creates a solver that abandons a solve after this time without a request.
    pub fn with_patience(patience: Duration) -> DeepSolver {
        DeepSolver { solves: Mutex::default(), patience }
    }

    /// Returns the source of values for a position and its moves, as far as they can be known here.
    ///
    /// # Errors
    /// [`Problem`] with status 202 while it is solved, or 403 without `may_solve`; those of a solve
    /// and of the offer.
    pub fn answers(
        self: &Arc<DeepSolver>,
        offer: &Arc<Offer>,
        position: u64,
        may_solve: bool,
    ) -> Result<Arc<dyn Answers>, Problem> {
        let pieces = position.count_ones();
        let most = offer.spot_pieces.filter(|most| (AT_ONCE + 1..=*most).contains(&pieces));
        let Some(most) = most else { return Ok(offer.answers.clone()) };
        match offer.answers.probe(position) {
            Ok(probe) if probe.moves_not_kept == 0 => return Ok(offer.answers.clone()),
            Ok(_) | Err(AnswerError::Unknown { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let mut state = self.solves.lock();
        let answers_this = |other: &Arc<Offer>, solved: u64| Arc::ptr_eq(other, offer) && position & !solved == 0;
        // An error is kept for a client that is allowed to begin the solve again.
        let is_for_this = |solved: &FinishedSolve| {
            answers_this(&solved.offer, solved.position) && (may_solve || solved.answers.is_ok())
        };
        if let Some(found) = state.solved.take_if(|solved| is_for_this(solved)) {
            let answers = found.answers.map_err(AnswerError::Solve)?;
            state.solved = Some(FinishedSolve { answers: Ok(answers.clone()), waits: None, ..found });
            return Ok(answers);
        }
        if !may_solve {
            let detail = format!(
                "positions of more than {AT_ONCE} pieces are solved only for the server's own page and for \
                 --allow-origin (* allows all clients); smaller and stored positions are answered for all clients"
            );
            return Err(Problem::with(StatusCode::FORBIDDEN, detail));
        }
        // The worker removes its entry when it ends, unless it panics.
        if state.running.take_if(|running| running.worker.is_finished()).is_some() {
            return Err(Problem::with(StatusCode::INTERNAL_SERVER_ERROR, "the position cannot be solved"));
        }
        if let Some(running) = &mut state.running {
            if !answers_this(&running.offer, running.position) {
                return Err(Problem::solving(None));
            }
            running.asked = Instant::now();
            return Err(Problem::solving(Some(running.done)));
        }
        // Its client is between two questions.
        if state.solved.as_ref().and_then(|solved| solved.waits).is_some_and(|at| at.elapsed() < self.patience) {
            return Err(Problem::solving(None));
        }
        // Frees its folder and memory before the next solve takes as much.
        state.solved = None;
        let stop = Arc::new(AtomicBool::new(false));
        let worker = {
            let (deep, offer, stop) = (self.clone(), offer.clone(), stop.clone());
            std::thread::Builder::new().spawn(move || deep.solve(&offer, position, most, stop))
        };
        let worker = worker.map_err(|source| AnswerError::Solve(Error::Thread { source }.into()))?;
        let (offer, asked) = (offer.clone(), Instant::now());
        state.running = Some(RunningSolve { offer, position, done: 0.0, asked, stop, worker });
        Err(Problem::solving(Some(0.0)))
    }

    /// Solves a position and stores the result.
    fn solve(self: &Arc<DeepSolver>, offer: &Arc<Offer>, position: u64, most: u32, stop: Arc<AtomicBool>) {
        let resources = Resources { memory_bytes: modest_bytes(MEMORY_BYTES), ..Resources::default() };
        let options = Options { stop: stop.clone(), ..resources.options() };
        let deep = self.clone();
        let solved = temporary(None).map_err(PartError::from).and_then(|folder| {
            let runner = Box::new(move |game: &_, solve: &trinim::solve::parts::InFolder<'_>| {
                let plan = planned(game, resources, free_bytes(folder.path()))?;
                let work = SessionWork::new(&game.layout, &plan.shape, plan.memory.held_streams, &BTreeSet::new());
                let (metrics, is_over) = (Metrics::default(), AtomicBool::new(false));
                std::thread::scope(|scope| {
                    let watch = || deep.watch(&metrics, &work, &is_over);
                    let begun = std::thread::Builder::new().spawn_scoped(scope, watch);
                    begun.map_err(|source| Error::Thread { source })?;
                    let result = solve(folder.path(), &metrics);
                    is_over.store(true, Ordering::Relaxed);
                    result
                })
            });
            let (board, rule) = (offer.answers.board().clone(), offer.rule);
            let mut solver = PartSolver::new(board, rule, Kernel::detect(), options, runner).with_pieces_max(most);
            solver.solve(position)?;
            Ok(Arc::new(OnTheSpot::new(Some(offer.answers.clone()), solver)))
        });
        let mut state = self.solves.lock();
        let waits = state.running.take().map(|running| running.asked);
        // The next request begins an abandoned solve again.
        if !stop.load(Ordering::Relaxed) {
            state.solved = Some(FinishedSolve { offer: offer.clone(), position, answers: solved, waits });
        }
    }

    /// Records the progress of a solve until it ends; stops it when no client asks any more.
    fn watch(&self, metrics: &Metrics, work: &SessionWork, is_over: &AtomicBool) {
        let clock = Stopwatch::start();
        while !is_over.load(Ordering::Relaxed) {
            let share = pace::of_solve(metrics, work, clock.elapsed().as_secs_f64()).share;
            if let Some(running) = &mut self.solves.lock().running {
                running.done = share;
                if running.asked.elapsed() > self.patience {
                    running.stop.store(true, Ordering::Relaxed);
                }
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Ends a running solve and removes its folder.
    pub fn close(&self) {
        let begin = Instant::now();
        loop {
            let mut state = self.solves.lock();
            state.solved = None;
            match &state.running {
                Some(running) if begin.elapsed() < GRACE => running.stop.store(true, Ordering::Relaxed),
                _ => return,
            }
            drop(state);
            std::thread::sleep(LOOK);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offer::Offers;
    use axum::response::IntoResponse;
    use std::sync::mpsc::channel;
    use terminal::output::{ColorChoice, Out};
    use trinim::cli::answers::in_memory;
    use trinim::game::Rule;

    /// Such clients neither begin nor prolong a solve, and an error is kept for the waiting client.
    #[test]
    fn clients_that_may_not_solve_get_what_is_solved_and_change_nothing() {
        let out = Out::new(ColorChoice::Never, true);
        let offers = Offers::open(&[], &[], 1 << 20, 36, &out).expect("what is built in");
        let offer = offers.find("triangle:9", Rule::Misere).expect("nine layers").clone();
        let deep = Arc::new(DeepSolver::with_patience(PATIENCE));
        let position = (1 << 36) - 1;
        let status = |position: u64, may_solve: bool| {
            let found = deep.answers(&offer, position, may_solve);
            found.map_or_else(|problem| problem.into_response().status().as_u16(), |_| 200)
        };
        assert_eq!((status(position, false), status(position >> 8, false)), (403, 200));
        assert!(deep.solves.lock().running.is_none());
        let detail = deep.answers(&offer, position, false).err().expect("a problem").detail().to_owned();
        assert!(detail.contains("--allow-origin") && detail.contains("smaller and stored positions"), "{detail}");
        let (end, ends) = channel::<()>();
        let asked = Instant::now();
        let running = RunningSolve {
            offer: offer.clone(),
            position,
            done: 0.5,
            asked,
            stop: Arc::default(),
            worker: std::thread::spawn(move || ends.recv().unwrap_or_default()),
        };
        deep.solves.lock().running = Some(running);
        let last = || deep.solves.lock().running.as_ref().map(|running| running.asked);
        assert_eq!((status(position, false), last()), (403, Some(asked)));
        assert_eq!((status(position, true), last() > Some(asked)), (202, true));
        // A solve that ends without a result is an error for one request, and so is one that fails.
        drop(end);
        while !deep.solves.lock().running.as_ref().is_none_or(|running| running.worker.is_finished()) {
            std::thread::sleep(LOOK);
        }
        assert_eq!((status(position, false), last().is_some()), (403, true));
        assert_eq!((status(position, true), last()), (500, None));
        let finish = |answers| {
            deep.solves.lock().solved = Some(FinishedSolve { offer: offer.clone(), position, answers, waits: None });
        };
        finish(Err(PartError::TooMany { pieces: 36, limit: 0, component_limit: 0 }));
        assert_eq!([false, true].map(|may_solve| status(position, may_solve)), [403, 500]);
        let solver = in_memory(offer.answers.board(), offer.rule, AT_ONCE);
        finish(Ok(Arc::new(OnTheSpot::new(Some(offer.answers.clone()), solver))));
        assert_eq!([position, position >> 4, position << 1].map(|position| status(position, false)), [200, 200, 403]);
    }

    /// Clients that ask in turn do not lose their results to each other.
    #[test]
    fn a_result_waits_for_its_client_before_another_solve_begins() {
        let out = Out::new(ColorChoice::Never, true);
        let offers = Offers::open(&[], &[], 1 << 20, 36, &out).expect("what is built in");
        let offer = offers.find("triangle:9", Rule::Misere).expect("nine layers").clone();
        let [one, other] = [(1 << 29) - 1, ((1 << 29) - 1) << 9];
        // The status for a client, and whether the first result is there then.
        let ask = |deep: &Arc<DeepSolver>, position: u64| {
            let found = deep.answers(&offer, position, true);
            let status = found.map_or_else(|problem| problem.into_response().status().as_u16(), |_| 200);
            (status, deep.solves.lock().solved.as_ref().is_some_and(|solved| solved.position == one))
        };
        let failed = || {
            let answers = Err(PartError::TooMany { pieces: 36, limit: 0, component_limit: 0 });
            Some(FinishedSolve { offer: offer.clone(), position: one, answers, waits: Some(Instant::now()) })
        };
        let deep = Arc::new(DeepSolver::with_patience(Duration::MAX));
        deep.solves.lock().solved = failed();
        assert_eq!([other, one, one].map(|position| ask(&deep, position)), [(202, true), (500, false), (202, false)]);
        while deep.solves.lock().solved.is_none() {
            std::thread::sleep(LOOK);
        }
        assert_eq!([other, one, other].map(|position| ask(&deep, position)), [(202, true), (200, true), (202, false)]);
        deep.close();
        // Its client is gone.
        let deep = Arc::new(DeepSolver::with_patience(Duration::ZERO));
        deep.solves.lock().solved = failed();
        assert_eq!(ask(&deep, other), (202, false));
        deep.close();
    }
}
