//! Answers without a database: the pieces of a position are a board of their own.
//!
//! A game from a position reaches only subsets of its pieces, so a position of `n` pieces needs
//! `2^n` values on any board. [`PartSolver`] solves the board of these pieces and keeps the result.
//! Later positions with a subset of the same pieces are looked up.
//!
//! | pieces | solved |
//! |---|---|
//! | as many as half of the memory has bits for, 32 in 1 GiB | as one block in memory |
//! | up to [`PIECES_MAX`] | by update logs in a folder, as any board |
//! | more, in normal play, if no move connects some of them | component by component |
//!
//! In normal play a position is the sum of its components, and a loss exactly if the XOR of their
//! nimbers is 0 (Sprague 1935, Grundy 1939). The nimbers of a component are found in memory: the
//! positions of value `n` are the losses among the positions without a smaller value, so each pass
//! of the solver starts with the smaller values marked.
//!
//! Distances to the end do not add up. They are counted for positions of at most
//! [`DISTANCE_PIECES_MAX`] pieces.

use super::distances::Countdown;
use super::solve;
use super::workload::settle_plane;
use crate::database::{Audit, Database, DatabaseError, Evaluation, Game, Probe, SolveSpec, Values, value_at};
use crate::plan::{self, PlanError};
use pipeline::{Bitmap, Metrics, Options, RealStorage, Storage};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use trinim_game::{Board, Part, Rule, Value};
use trinim_kernel::{ApplyPlan, Kernel, SettlePlan, bitmap_words, mark_phantoms, mark_without_moves};

/// The most pieces of a position that is solved on the spot, unless the caller sets another limit.
pub const PIECES_MAX: u32 = 36;

/// The largest such limit: 2^40 values take some 16 GiB of disk.
pub const PIECES_LIMIT: u32 = 40;

/// The most pieces of a component whose nimbers are found, in any memory: 8 MiB for each value.
const COMPONENT_PIECES_MAX: u32 = 26;

/// The most pieces of a position whose distance to the end is counted on the spot, in any memory:
/// half a MiB for each distance, and some 20 of them.
pub const DISTANCE_PIECES_MAX: u32 = 22;

/// Frames of a database of a part that stay in memory, in bytes.
const CACHE_BYTES: usize = 64 << 20;

/// A solve by update logs, in a folder that has room for it.
pub type InFolder<'a> = dyn Fn(&Path, &Metrics) -> Result<(), PartError> + 'a;

/// Runs a solve of a game. A program shows there how far it is, and may refuse it.
pub type Runner = dyn Fn(&Game, &InFolder<'_>) -> Result<(), PartError> + Send;

/// Returns what runs every solve in the same folder.
pub fn run_in(folder: &Path) -> Box<Runner> {
    let folder = folder.to_path_buf();
    Box::new(move |_, solve| solve(&folder, &Metrics::default()))
}

/// Solves positions of a board on the spot, and remembers what it solved.
pub struct PartSolver {
    board: Board,
    rule: Rule,
    kernel: Kernel,
    options: Options,
    pieces_max: u32,
    known: Vec<SolvedPart>,
    /// Parts that were solved in folders.
    in_folders: u32,
    runner: Box<Runner>,
}

/// Pieces whose subsets are known.
struct SolvedPart {
    part: Part,
    values: PartValues,
}

enum PartValues {
    Planes(Kind, Vec<Bitmap>),
    Folder(Box<OnDisk>),
}

/// What the bitmaps of a part have: the losses, or for each nimber or distance its positions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Losses,
    Nimbers,
    Distances,
}

/// A part that was solved in a folder. Dropping it removes the folder.
struct OnDisk {
    database: Database,
    folder: PathBuf,
}

impl Drop for OnDisk {
    fn drop(&mut self) {
        // If this fails, the caller still removes the folder around it.
        let _ = RealStorage::remove_folder(&self.folder);
    }
}

/// How a position is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It is known already.
    Known,
    /// In memory.
    Memory,
    /// By update logs in a folder.
    Folder,
    /// Component by component.
    Components,
}

/// An error of a [`PartSolver`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartError {
    /// Too many pieces.
    #[error(
        "{pieces} pieces are too many to solve on the spot: expected at most {limit}, or components of at most \
         {component_limit} in normal play"
    )]
    TooMany {
        /// The pieces of the position.
        pieces: u32,
        /// The most pieces that are solved.
        limit: u32,
        /// The most pieces of a component.
        component_limit: u32,
    },
    /// A solve failed or was stopped.
    #[error(transparent)]
    Run(#[from] pipeline::Error),
    /// A solved part cannot be read.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A solve needs more than there is.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl PartSolver {
    /// Creates a solver for positions of a board, with the memory and threads of `options`;
    /// `runner` chooses the folders of larger parts.
    pub fn new(board: Board, rule: Rule, kernel: Kernel, options: Options, runner: Box<Runner>) -> PartSolver {
        PartSolver { board, rule, kernel, options, pieces_max: PIECES_MAX, known: Vec::new(), in_folders: 0, runner }
    }

    /// Solves positions of up to this many pieces, at most [`PIECES_LIMIT`], not [`PIECES_MAX`].
    #[must_use]
    pub fn with_pieces_max(self, pieces: u32) -> PartSolver {
        PartSolver { pieces_max: pieces.min(PIECES_LIMIT), ..self }
    }

    /// Returns the board.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Returns the rule.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// Returns how a position is solved.
    ///
    /// # Errors
    /// [`PartError::TooMany`] if it cannot be.
    pub fn way(&self, position: u64) -> Result<Way, PartError> {
        let pieces = position.count_ones();
        if self.look_up(position)?.is_some() {
            return Ok(Way::Known);
        }
        if pieces <= self.memory_pieces().min(self.pieces_max) {
            return Ok(Way::Memory);
        }
        let components = self.board.components(position);
        let splits = components.len() > 1 && self.has_nimbers(&components);
        match pieces {
            _ if splits => Ok(Way::Components),
            _ if pieces <= self.pieces_max => Ok(Way::Folder),
            _ => Err(self.too_many(position)),
        }
    }

    /// Returns the most pieces of a position that is solved in memory: its bitmap takes half of the
    /// memory at most.
    fn memory_pieces(&self) -> u32 {
        (self.options.memory_bytes * 4).max(1 << 20).ilog2()
    }

    /// Returns the most pieces of a component: a bitmap for each of sixteen nimbers takes half of
    /// the memory. A component has at most as many pieces as a position, so answers about larger
    /// positions do not depend on what was solved before.
    fn component_pieces(&self) -> u32 {
        COMPONENT_PIECES_MAX.min(self.memory_pieces() - 4).min(self.pieces_max)
    }

    fn part(&self, position: u64) -> Result<Part, PartError> {
        self.board.part(position).map_err(|_| self.too_many(position))
    }

    /// Returns the error for a position of too many pieces.
    pub fn too_many(&self, position: u64) -> PartError {
        let (limit, component_limit) = (self.pieces_max, self.component_pieces());
        PartError::TooMany { pieces: position.count_ones(), limit, component_limit }
    }

    /// Solves a position, so that it and all positions with some of its pieces are known.
    ///
    /// # Errors
    /// [`PartError::TooMany`]; those of a solve, [`pipeline::Error::Interrupted`] after the stop
    /// flag of the options was set, and of the runner.
    pub fn solve(&mut self, position: u64) -> Result<(), PartError> {
        let way = self.way(position)?;
        if way == Way::Known {
            return Ok(());
        }
        self.make_room();
        if way == Way::Components {
            return self.solve_components(position);
        }
        let part = self.part(position)?;
        let values = match way {
            Way::Folder => PartValues::Folder(Box::new(self.in_folder(&part)?)),
            _ => PartValues::Planes(Kind::Losses, vec![self.in_memory(&part)?]),
        };
        self.remember(part, values);
        Ok(())
    }

    /// Finds the nimbers of all components of a position.
    fn solve_components(&mut self, position: u64) -> Result<(), PartError> {
        for component in self.board.components(position) {
            if self.number(Kind::Nimbers, component).is_none() {
                let part = self.part(component)?;
                let nimbers = self.nimbers(&part)?;
                self.remember(part, PartValues::Planes(Kind::Nimbers, nimbers));
            }
        }
        Ok(())
    }

    /// Returns whether no component of a position is too large for nimbers, which are of normal
    /// play.
    fn has_nimbers(&self, components: &[u64]) -> bool {
        self.rule == Rule::Normal && components.iter().all(|part| part.count_ones() <= self.component_pieces())
    }

    /// Returns the nimber of a position, if the nimbers of its components are known.
    fn sum(&self, position: u64) -> Option<u32> {
        let mut components = self.board.components(position).into_iter();
        components.try_fold(0, |sum, part| Some(sum ^ self.number(Kind::Nimbers, part)?))
    }

    /// Remembers a solved part and drops the parts that it contains.
    fn remember(&mut self, part: Part, values: PartValues) {
        let is_contained = |old: &SolvedPart| match (&old.values, &values) {
            (PartValues::Planes(Kind::Losses, _) | PartValues::Folder(_), _) => true,
            (PartValues::Planes(old, _), PartValues::Planes(kind, _)) => old == kind,
            (PartValues::Planes(..), PartValues::Folder(_)) => false,
        };
        self.known.retain(|old| old.part.pieces & !part.pieces != 0 || !is_contained(old));
        self.known.push(SolvedPart { part, values });
    }

    /// Drops the oldest parts until half of the memory is free for another one. A part in a folder
    /// counts as that half, because the disk is shared, too.
    fn make_room(&mut self) {
        let half = self.options.memory_bytes / 2;
        let bytes = |known: &SolvedPart| match &known.values {
            PartValues::Planes(_, planes) => planes.iter().map(|plane| plane.words().len() as u64 * 8).sum(),
            PartValues::Folder(_) => half,
        };
        while self.known.iter().map(bytes).sum::<u64>() > half {
            self.known.remove(0);
        }
    }

    fn in_memory(&self, part: &Part) -> Result<Bitmap, PartError> {
        let bits = part.board.cells();
        let mut bitmap = match self.rule {
            Rule::Normal => Bitmap::zeroed(bitmap_words(bits))?,
            Rule::Misere => over(part)?,
        };
        let words = bitmap.words_mut();
        mark_phantoms(bits, words);
        self.kernel.settle(&SettlePlan::new(bits, part.board.moves()), words);
        Ok(bitmap)
    }

    fn in_folder(&mut self, part: &Part) -> Result<OnDisk, PartError> {
        self.in_folders += 1;
        let name = format!("part-{}", self.in_folders);
        let layout = plan::choose_layout(&part.board, self.options.memory_bytes + plan::PROGRAM_BYTES);
        let game = Game { board: part.board.clone(), rule: self.rule, layout };
        let solved = RefCell::new(None);
        (self.runner)(&game, &|below, metrics| {
            let folder = below.join(&name);
            let storage: Arc<dyn Storage> = Arc::new(RealStorage::create(&folder)?.with_syncs(false));
            let placement = plan::default_placement(game.board.size_in_layers(), Values::Outcomes, Audit::None);
            let options = Options { placement, ..self.options.clone() };
            let spec: SolveSpec<'_> = (&game).into();
            solve(spec, self.kernel, &storage, &options, metrics, &|_| {})?;
            let database = Database::open_with(&folder, CACHE_BYTES)?;
            solved.replace(Some(OnDisk { database, folder }));
            Ok(())
        })?;
        Ok(solved.into_inner().expect("a runner runs the solve or returns an error"))
    }

    /// Finds the nimbers of all positions of a part.
    fn nimbers(&self, part: &Part) -> Result<Vec<Bitmap>, PartError> {
        let bits = part.board.cells();
        let plan = SettlePlan::new(bits, part.board.moves());
        let mut settled = Bitmap::zeroed(bitmap_words(bits))?;
        mark_phantoms(bits, settled.words_mut());
        let mut planes = Vec::new();
        while settled.words().iter().any(|word| *word != u64::MAX) {
            if self.options.stop.load(Ordering::Relaxed) {
                return Err(pipeline::Error::Interrupted.into());
            }
            let mut plane = Bitmap::zeroed(bitmap_words(bits))?;
            settle_plane(self.kernel, &plan, settled.words_mut(), plane.words_mut());
            planes.push(plane);
        }
        Ok(planes)
    }

    /// Counts the distances of all positions of a part.
    fn distances(&self, part: &Part) -> Result<Vec<Bitmap>, PartError> {
        let (losses, over) = (self.in_memory(part)?, over(part)?);
        let inner = ApplyPlan::new(part.board.cells(), part.board.moves());
        let countdown = Countdown::new(self.kernel, &inner, self.rule, part.board.cells(), losses.words());
        Ok(countdown.alone(over.words(), &self.options.stop)?)
    }

    /// Returns the nimber or the distance of a position, if it is over or a solved part has it.
    fn number(&self, kind: Kind, position: u64) -> Option<u32> {
        if self.board.is_over(position) {
            return Some(0);
        }
        self.known.iter().find_map(|known| match &known.values {
            PartValues::Planes(found, planes) if *found == kind => {
                let inside = known.part.inside(position)?;
                (0..).zip(planes).find(|(_, plane)| is_set(plane, inside)).map(|(number, _)| number)
            }
            _ => None,
        })
    }

    /// Returns the value of a position, and solves it unless it is known.
    ///
    /// # Errors
    /// Those of [`PartSolver::solve`].
    pub fn value(&mut self, position: u64) -> Result<Value, PartError> {
        self.solve(position)?;
        Ok(self.look_up(position)?.expect("a solved position is known"))
    }

    /// Returns the value of a position, if a solved part contains it.
    fn look_up(&self, position: u64) -> Result<Option<Value>, PartError> {
        if self.board.is_over(position) {
            return Ok(Some(self.rule.empty()));
        }
        for known in &self.known {
            let Some(inside) = known.part.inside(position) else { continue };
            match &known.values {
                PartValues::Planes(Kind::Distances, _) => match self.number(Kind::Distances, position) {
                    Some(distance) => return Ok(Some(value_at(distance, self.rule))),
                    None => continue,
                },
                PartValues::Planes(_, planes) => return Ok(Some(Value::from_loss(is_set(&planes[0], inside)))),
                PartValues::Folder(solved) => return Ok(Some(solved.database.value(inside)?)),
            }
        }
        if self.rule == Rule::Normal {
            return Ok(self.sum(position).map(|sum| Value::from_loss(sum == 0)));
        }
        Ok(None)
    }

    /// Solves a position unless it is known, and returns its value and the values of all its
    /// children; with distances to the end if it has at most [`DISTANCE_PIECES_MAX`] pieces, and in
    /// normal play with nimbers, unless a component has too many pieces.
    ///
    /// # Errors
    /// Those of [`PartSolver::solve`].
    pub fn probe(&mut self, position: u64) -> Result<Probe, PartError> {
        let has_nimbers = self.has_nimbers(&self.board.components(position));
        if has_nimbers && self.sum(position).is_none() {
            self.make_room();
            self.solve_components(position)?;
        }
        let has_distances = self.count_down(position)?;
        let known = |position| self.known(position, has_nimbers, has_distances);
        Probe::gather(&self.board, position, known(position)?, |child| Ok(Some(known(child)?)))
    }

    /// Solves a position unless it is known, and returns values and distances of some of its
    /// pieces, as [`PartSolver::probe`] does.
    ///
    /// # Errors
    /// Those of [`PartSolver::solve`].
    ///
    /// # Panics
    /// Panics if one of them has pieces outside the position.
    pub fn evaluate(&mut self, position: u64, some: &[u64]) -> Result<Vec<Evaluation>, PartError> {
        let has_distances = self.count_down(position)?;
        some.iter().map(|some| self.known(*some, false, has_distances)).collect()
    }

    /// Adds distances, and nimbers in normal play, to what another source knows of a position and
    /// of all its moves, if it lacks them and the position has at most [`DISTANCE_PIECES_MAX`]
    /// pieces.
    ///
    /// # Errors
    /// Those of [`PartSolver::solve`].
    pub fn complete(&mut self, probe: &mut Probe) -> Result<(), PartError> {
        let is_small = probe.position.count_ones() <= DISTANCE_PIECES_MAX.min(self.pieces_max);
        let is_whole = probe.distance.is_some() && (probe.nimber.is_some() || self.rule == Rule::Misere);
        if is_small && !is_whole && probe.moves_not_kept == 0 {
            probe.add(&self.probe(probe.position)?);
        }
        Ok(())
    }

    /// Counts the distances of a position, or solves it if it has too many pieces for that; returns
    /// whether there are distances.
    fn count_down(&mut self, position: u64) -> Result<bool, PartError> {
        if position.count_ones() > DISTANCE_PIECES_MAX.min(self.pieces_max) {
            return self.solve(position).map(|()| false);
        }
        if self.number(Kind::Distances, position).is_none() {
            self.make_room();
            let part = self.part(position)?;
            let distances = self.distances(&part)?;
            self.remember(part, PartValues::Planes(Kind::Distances, distances));
        }
        Ok(true)
    }

    /// Returns what is known of a solved position, or of one with a part of its pieces. Distances
    /// from earlier queries are not returned unless requested.
    fn known(&self, position: u64, has_nimbers: bool, has_distances: bool) -> Result<Evaluation, PartError> {
        let value = self.look_up(position)?.expect("a solved position and its children are known");
        let nimber = if has_nimbers { self.sum(position) } else { None };
        let distance = if has_distances { self.number(Kind::Distances, position) } else { None };
        Ok(Evaluation { value, nimber, distance })
    }
}

/// Returns the positions of a part without a move.
fn over(part: &Part) -> Result<Bitmap, PartError> {
    let mut over = Bitmap::zeroed(bitmap_words(part.board.cells()))?;
    match part.board.takes_single_pieces() {
        true => over.words_mut()[0] |= 1,
        false => mark_without_moves(part.board.moves(), over.words_mut()),
    }
    Ok(over)
}

fn is_set(bitmap: &Bitmap, index: u64) -> bool {
    bitmap.words()[(index / 64) as usize] >> (index % 64) & 1 == 1
}
