//! Databases, asked an array at a time.

use crate::board::{Board, Position, positions, rule};
use crate::error::{NotKeptError, of_database, raised, refused, wrong};
use crate::wait::waiting;
use numpy::{IntoPyArray, PyArray1};
use pipeline::parallel;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use trinim::database::{BuiltIn, DatabaseError, Listing, Values, listing::drawn};
use trinim::play::Names;
use trinim::{Value, random::Random};

/// Positions that a thread looks up between two looks at a stop.
const BATCH: usize = 1 << 21;
/// Fewer positions are not worth another thread.
const POSITIONS_A_THREAD: usize = 1 << 16;
/// Fewer positions are looked up before anybody wants to stop them.
const POSITIONS_AT_ONCE: usize = 1 << 10;
/// The most positions that are drawn, as in `trinim export --sample`.
const DRAWN_AT_MOST: u64 = 10_000_000;

/// The values of a solved board.
#[pyclass(frozen, module = "trinim")]
pub(crate) struct Database(pub(crate) Arc<trinim::Database>);

/// A move of a position of a database.
#[pyclass(frozen, get_all, module = "trinim")]
pub(crate) struct Move {
    /// The move as a player writes it: "c1-c3".
    name: String,
    /// Mask of the pieces that it takes.
    taken: u64,
    /// The position after it.
    position: u64,
    /// Whether it wins: the opponent then has a lost position.
    wins: bool,
    /// Nimber of the position after it, if the database has nimbers.
    nimber: Option<u32>,
    /// Moves that are left after it, if the database has distances.
    distance: Option<u32>,
}

#[pymethods]
impl Move {
    fn __repr__(&self) -> String {
        let wins = if self.wins { "wins" } else { "loses" };
        format!("<Move {} to {:#x}: {wins}>", self.name, self.position)
    }
}

impl Database {
    /// Fills an array from the values of positions, which are divided among threads.
    fn filled<'py, T: numpy::Element + Copy + Default + Send + Sync>(
        &self,
        given: &Bound<'py, PyAny>,
        look_up: impl Fn(&[u64], &mut [T]) -> Result<(), DatabaseError> + Sync,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = given.py();
        let (flat, shape) = positions(self.0.board(), given)?;
        let flat = flat.as_slice()?;
        let stop = AtomicBool::new(false);
        let fill = |positions: &[u64], found: &mut [T]| {
            for (positions, found) in positions.chunks(BATCH).zip(found.chunks_mut(BATCH)) {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                look_up(positions, found)?;
            }
            Ok(())
        };
        let work = || {
            let mut found = vec![T::default(); flat.len()];
            let threads = thread::available_parallelism().map_or(1, usize::from);
            let share = flat.len().div_ceil(threads).max(POSITIONS_A_THREAD);
            let parts = Mutex::new(flat.chunks(share).zip(found.chunks_mut(share)));
            let next = || parts.lock().expect("nothing panics with the lock").next();
            let look = |(): &mut (), _| next().map_or(Ok(()), |(from, to)| fill(from, to));
            let ended = parallel::for_each(threads, flat.len().div_ceil(share), || Ok(()), look);
            ended.map(|()| found).map_err(|mut errors| errors.swap_remove(0))
        };
        // A thread costs more than a few look-ups.
        let found = if flat.len() < POSITIONS_AT_ONCE {
            py.detach(|| {
                let mut found = vec![T::default(); flat.len()];
                fill(flat, &mut found).map(|()| found)
            })
        } else {
            waiting(py, &stop, |_| Ok(()), work)?
        };
        let found = found.map_err(of_database)?;
        PyArray1::from_vec(py, found).call_method1("reshape", (shape,))
    }

    fn listing(&self, pieces: Option<(u32, u32)>) -> PyResult<Listing<'_>> {
        Listing::new(&self.0, self.pieces(pieces)?).map_err(of_database)
    }

    fn pieces(&self, given: Option<(u32, u32)>) -> PyResult<RangeInclusive<u32>> {
        let cells = self.0.board().cells();
        match given.unwrap_or((0, cells)) {
            (least, most) if least <= most && most <= cells => Ok(least..=most),
            _ => Err(wrong(&format!("pieces are from 0 to {cells}, the fewest first"))),
        }
    }
}

#[pymethods]
impl Database {
    /// Opens the database in the folder of a solve.
    #[staticmethod]
    fn open(py: Python<'_>, folder: PathBuf) -> PyResult<Database> {
        let opened = py.detach(|| trinim::Database::open(&folder));
        opened.map(|database| Database(Arc::new(database))).map_err(of_database)
    }

    /// Opens what is built in of a triangle: counts, first moves and a book of nine layers.
    #[staticmethod]
    #[pyo3(signature = (layers = 9, rule = "misere"))]
    fn built_in(layers: u32, rule: &str) -> PyResult<Database> {
        let found = BuiltIn::find(layers, self::rule(rule)?);
        let found = found.ok_or_else(|| refused(format!("{layers} layers are not built in"), "only nine are"))?;
        trinim::Database::open_built_in(found).map(|database| Database(Arc::new(database))).map_err(of_database)
    }

    /// The board.
    #[getter]
    fn board(&self) -> Board {
        Board(self.0.board().clone())
    }

    /// "misere" or "normal".
    #[getter]
    fn rule(&self) -> &'static str {
        self.0.rule().name()
    }

    /// What each position has: "outcomes", "nimbers" or "remoteness".
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.values().name()
    }

    /// The folder of the files.
    #[getter]
    fn folder(&self) -> PathBuf {
        self.0.folder().to_path_buf()
    }

    /// For each position, whether the player to move wins.
    fn values<'py>(&self, positions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.filled(positions, |from, to: &mut [bool]| {
            self.0.values_of(from, |number, value| to[number] = value == Value::Win)
        })
    }

    /// The nimber of each position, in a database of nimbers.
    fn nimbers<'py>(&self, positions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if self.0.manifest().by_nimber.is_none() {
            let message = format!("{} has {}, not nimbers", self.0.folder().display(), self.kind());
            return Err(raised::<NotKeptError>(message, "solve with rule=\"normal\" and values=\"nimbers\""));
        }
        self.filled(positions, |from, to: &mut [u8]| {
            // A nimber is at most the number of cells.
            self.0.numbers_of(Values::Nimbers, from, |number, nimber| to[number] = nimber as u8).map(drop)
        })
    }

    /// The distance of each position to the end, in moves, in a database of distances.
    fn distances<'py>(&self, positions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if self.0.manifest().by_distance.is_none() {
            let message = format!("{} has {}, not distances", self.0.folder().display(), self.kind());
            return Err(raised::<NotKeptError>(message, "solve with values=\"remoteness\""));
        }
        self.filled(positions, |from, to: &mut [u8]| {
            // A distance is at most the number of cells.
            self.0.numbers_of(Values::Remoteness, from, |number, distance| to[number] = distance as u8).map(drop)
        })
    }

    /// All losses, ascending, or those with `pieces = (least, most)`.
    #[pyo3(signature = (pieces = None))]
    fn losses<'py>(&self, py: Python<'py>, pieces: Option<(u32, u32)>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let (listing, stop) = (self.listing(pieces)?, AtomicBool::new(false));
        let list = || {
            let mut losses = Vec::new();
            for part in 0..listing.parts() {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                losses.extend(listing.losses_of(part)?);
            }
            if !stop.load(Ordering::Relaxed) && losses.len() as u64 != listing.losses() {
                return Err(listing.contradiction(listing.losses(), losses.len() as u64));
            }
            losses.sort_unstable();
            Ok(losses)
        };
        let losses = waiting(py, &stop, |_| Ok(()), list)?.map_err(of_database)?;
        Ok(losses.into_pyarray(py))
    }

    /// One loss of each class of images, ascending, and the sizes of the classes.
    #[pyo3(signature = (pieces = None))]
    #[expect(clippy::type_complexity, reason = "two arrays")]
    fn canonical<'py>(
        &self,
        py: Python<'py>,
        pieces: Option<(u32, u32)>,
    ) -> PyResult<(Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u32>>)> {
        let (listing, stop) = (self.listing(pieces)?, AtomicBool::new(false));
        let list = || {
            let mut classes = Vec::new();
            for part in 0..listing.parts() {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                classes.extend(listing.canonical_losses_of(part)?);
            }
            classes.sort_unstable();
            Ok(classes.into_iter().unzip::<u64, u32, Vec<u64>, Vec<u32>>())
        };
        let (losses, sizes) = waiting(py, &stop, |_| Ok(()), list)?.map_err(of_database)?;
        Ok((losses.into_pyarray(py), sizes.into_pyarray(py)))
    }

    /// The moves of a position whose values are known, winning ones first.
    fn moves(&self, py: Python<'_>, position: Position) -> PyResult<Vec<Move>> {
        let (board, position) = (self.0.board(), position.on(self.0.board())?);
        let probe = py.detach(|| self.0.probe(position)).map_err(of_database)?;
        let names = Names::new(board);
        let moves = probe.children.into_iter().map(|child| Move {
            name: names.write(board, child.taken),
            taken: child.taken,
            position: child.position,
            wins: child.value == Value::Loss,
            nimber: child.nimber,
            distance: child.distance,
        });
        Ok(moves.collect())
    }

    /// `count` different positions, drawn by `seed`, ascending; fewer if there are not that many.
    #[pyo3(signature = (count, *, seed = 0, pieces = None))]
    fn random<'py>(
        &self,
        py: Python<'py>,
        count: u64,
        seed: u64,
        pieces: Option<(u32, u32)>,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let (board, pieces) = (self.0.board(), self.pieces(pieces)?);
        if count > DRAWN_AT_MOST {
            return Err(wrong(&format!("count is at most {DRAWN_AT_MOST}")));
        }
        let mut drawn = py.detach(|| drawn(board, &pieces, count, &mut Random::new(seed)));
        drawn.sort_unstable();
        Ok(drawn.into_pyarray(py))
    }

    /// Counts of the board, as `trinim stats --json` names them; tables are arrays by column.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (manifest, board) = (self.0.manifest(), self.0.board());
        let census = &manifest.census;
        let stats = PyDict::new(py);
        stats.set_item("board", board.name())?;
        stats.set_item("layers", board.layers())?;
        stats.set_item("rule", self.rule())?;
        stats.set_item("positions", census.positions())?;
        stats.set_item("wins", census.wins())?;
        stats.set_item("losses", census.losses())?;
        stats.set_item("loss_rate", census.loss_rate())?;
        stats.set_item("start", if census.start() == Value::Win { "win" } else { "loss" })?;
        stats.set_item("digest", &manifest.digest)?;
        stats.set_item("values_digest", manifest.values_digest(self.0.game()))?;
        stats.set_item("values", self.kind())?;
        stats.set_item("keep", manifest.keep.to_string())?;
        stats.set_item("by_pieces", {
            let rows = &census.by_pieces;
            table(
                py,
                &[
                    ("pieces", rows.iter().map(|row| u64::from(row.pieces)).collect()),
                    ("positions", rows.iter().map(|row| row.positions).collect()),
                    ("losses", rows.iter().map(|row| row.losses).collect()),
                ],
            )?
        })?;
        let layers = manifest.by_layers.as_ref().map(|rows| {
            table(
                py,
                &[
                    ("layers", rows.iter().map(|row| u64::from(row.layers)).collect()),
                    ("positions", rows.iter().map(|row| row.positions).collect()),
                    ("losses", rows.iter().map(|row| row.losses).collect()),
                ],
            )
        });
        stats.set_item("by_layers", layers.transpose()?)?;
        let nimbers = manifest.by_nimber.as_ref().map(|rows| {
            table(
                py,
                &[
                    ("nimber", rows.iter().map(|row| u64::from(row.nimber)).collect()),
                    ("positions", rows.iter().map(|row| row.positions).collect()),
                ],
            )
        });
        stats.set_item("by_nimber", nimbers.transpose()?)?;
        let distances = manifest.by_distance.as_ref().map(|rows| {
            table(
                py,
                &[
                    ("distance", rows.iter().map(|row| u64::from(row.distance)).collect()),
                    ("wins", rows.iter().map(|row| row.wins).collect()),
                    ("losses", rows.iter().map(|row| row.losses).collect()),
                ],
            )
        });
        stats.set_item("by_distance", distances.transpose()?)?;
        Ok(stats)
    }

    fn __repr__(&self) -> String {
        let (board, rule) = (self.0.board().name(), self.0.rule());
        format!("<Database of {board}, {rule}, {}, keeps {}>", self.kind(), self.0.manifest().keep.limits())
    }
}

/// A table as a dictionary of columns.
fn table<'py>(py: Python<'py>, columns: &[(&str, Vec<u64>)]) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    for (name, column) in columns {
        table.set_item(name, PyArray1::from_slice(py, column))?;
    }
    Ok(table)
}
