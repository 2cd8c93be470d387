//! The Python package `trinim`: solves games and answers arrays of positions.
//!
//! The library computes; this converts arguments, releases the GIL, and turns errors into
//! exceptions. `trinim.pyi` has the types.

mod board;
mod database;
mod error;
mod wait;

use board::{Board, Position, rule};
use database::Database;
use error::{of_answer, of_database, of_job, refused, wrong};
use numpy::PyArray1;
use pipeline::storage::ScratchFolder;
use pipeline::{Event, Options};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use trinim::database::{BuiltIn, Values};
use trinim::job::{KeepChoice, Monitor, USUAL_BYTES, modest_bytes};
use trinim::kernel::Kernel;
use trinim::play::{Answers, OnTheSpot};
use trinim::solve::{PartSolver, parts};
use trinim::{Game, Solve, Value, plan};

/// Threads: those asked for, or one for each processor.
fn threads(given: usize) -> usize {
    if given == 0 { std::thread::available_parallelism().map_or(1, usize::from) } else { given }
}

/// Solves a board into a folder, or continues a solve there, and opens the database. From nine
/// layers on the solve is audited.
///
/// `progress(finished_blocks, blocks)` is called as blocks become durable. KeyboardInterrupt, and
/// any exception of `progress`, stops after a checkpoint: the same call continues.
#[pyfunction]
#[pyo3(signature = (board, folder, *, rule = "misere", values = "outcomes", keep = None, memory = None, threads = 0,
                    block_bits = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
fn solve(
    py: Python<'_>,
    board: &Board,
    folder: PathBuf,
    rule: &str,
    values: &str,
    keep: Option<&str>,
    memory: Option<u64>,
    threads: usize,
    block_bits: Option<u32>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Database> {
    let rule = self::rule(rule)?;
    let values =
        values.parse::<Values>().map_err(|error| refused(error, "say \"outcomes\", \"nimbers\" or \"remoteness\""))?;
    let keep = keep.map(|keep| keep.parse().map(KeepChoice::Exactly)).transpose();
    let keep = keep.map_err(|error| refused(error, "leave keep out to use the default"))?;
    if block_bits.is_some_and(|bits| !(1..=40).contains(&bits)) {
        return Err(wrong("block_bits is from 1 to 40"));
    }
    let memory = memory.unwrap_or_else(|| modest_bytes(USUAL_BYTES));
    let solve =
        Solve::new(&board.0, rule).values(values).keep(keep).memory_bytes(memory).threads(self::threads(threads));
    let solve = block_bits.into_iter().fold(solve, Solve::block_bits);
    let (finished, all) = (AtomicU32::new(0), AtomicU32::new(0));
    let monitor = Monitor::default();
    let work = || {
        let observe = |event: &Event| match event {
            Event::Opened { finished_blocks, blocks, .. } => {
                finished.store(*finished_blocks, Ordering::Relaxed);
                all.store(*blocks, Ordering::Release);
            }
            Event::Committed { finished_blocks } => finished.store(*finished_blocks, Ordering::Relaxed),
        };
        solve.run_with(&folder, &monitor, &observe).map_err(of_job)?;
        trinim::Database::open(&folder).map_err(of_database)
    };
    let mut told = None;
    let mut tell = |py: Python<'_>| {
        let Some(progress) = &progress else { return Ok(()) };
        let blocks = all.load(Ordering::Acquire);
        let now = (finished.load(Ordering::Relaxed), blocks);
        if blocks > 0 && told.replace(now) != Some(now) {
            progress.call1(py, now)?;
        }
        Ok(())
    };
    let solved = wait::waiting(py, &monitor.stop, &mut tell, work)??;
    tell(py)?;
    Ok(Database(Arc::new(solved)))
}

/// Whether the player to move at a position wins: without a database, solved on the spot.
///
/// Positions of up to 36 pieces are solved, from about 32 on in a folder for temporary files; for
/// nine layers, the built-in book has those of 37 pieces or more.
#[pyfunction]
#[pyo3(signature = (board, position, *, rule = "misere", memory = None, threads = 0))]
fn value(
    py: Python<'_>,
    board: &Board,
    position: Position,
    rule: &str,
    memory: Option<u64>,
    threads: usize,
) -> PyResult<bool> {
    let memory = memory.unwrap_or_else(|| modest_bytes(USUAL_BYTES));
    let (board, rule) = (&board.0, self::rule(rule)?);
    let position = position.on(board)?;
    let (threads, memory_bytes) = (self::threads(threads), plan::engine_bytes(memory));
    let options = Options { threads, memory_bytes, ..Options::default() };
    let stop = options.stop.clone();
    let work = || {
        let built_in = BuiltIn::for_board(board, rule).map(trinim::Database::open_built_in);
        let source = built_in.transpose().map_err(of_database)?.map(|source| Arc::new(source) as Arc<dyn Answers>);
        // Most positions need no folder.
        let runner = Box::new(|game: &Game, solve: &parts::InFolder<'_>| {
            let scratch = ScratchFolder::new(&std::env::temp_dir(), "trinim-parts.")?;
            parts::run_in(scratch.path())(game, solve)
        });
        let solver = PartSolver::new(board.clone(), rule, Kernel::detect(), options, runner);
        OnTheSpot::new(source, solver).value(position).map_err(of_answer)
    };
    let found = wait::waiting(py, &stop, |_| Ok(()), work)??;
    Ok(found == Value::Win)
}

/// Solves Triangular Nim and other removal games, and answers arrays of positions.
#[pymodule(name = "trinim")]
fn package(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    // Loads NumPy's interface: later, a signal that arrives meanwhile would be a panic.
    PyArray1::<u64>::zeros(py, 0, false);
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Board>()?;
    module.add_class::<Database>()?;
    module.add_class::<database::Move>()?;
    module.add_function(wrap_pyfunction!(solve, module)?)?;
    module.add_function(wrap_pyfunction!(value, module)?)?;
    module.add("TrinimError", py.get_type::<error::TrinimError>())?;
    module.add("RefusedError", py.get_type::<error::RefusedError>())?;
    module.add("NotKeptError", py.get_type::<error::NotKeptError>())?;
    module.add("FolderError", py.get_type::<error::FolderError>())?;
    module.add("DamagedError", py.get_type::<error::DamagedError>())?;
    module.add("ResourceError", py.get_type::<error::ResourceError>())
}
