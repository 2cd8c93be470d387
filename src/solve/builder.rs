//! A solve with a default for everything but the game and the folder.

use super::{Solved, solve};
use crate::database::{Audit, Game, Keep, SolveSpec, Values};
use pipeline::{Error, Metrics, Options, RealStorage, Storage};
use std::path::Path;
use std::sync::Arc;
use trinim_kernel::Kernel;

/// A solve by update logs, ready to run. No setting changes the bytes of the database.
///
/// ```
/// use trinim::{Database, Game, Rule, Solve};
///
/// let folder = tempfile::tempdir()?;
/// let game = Game::triangle(4, Rule::Normal, 6)?;
/// let solved = Solve::new(&game).threads(1).run(folder.path())?;
/// assert_eq!(Database::open(folder.path())?.manifest(), &solved.manifest);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Solve<'a> {
    spec: SolveSpec<'a>,
    kernel: Kernel,
    options: Options,
}

impl<'a> Solve<'a> {
    /// Creates a solve with a thread for each core, 1 GiB of memory and the fastest kernel of this
    /// machine.
    pub fn new(game: &'a Game) -> Solve<'a> {
        Solve { spec: game.into(), kernel: Kernel::detect(), options: Options::default() }
    }

    /// Keeps this of the result; by default the database.
    #[must_use]
    pub fn keep(mut self, keep: Keep) -> Solve<'a> {
        self.spec.terms.keep = keep;
        self
    }

    /// Computes these values; by default who wins. Nimbers are those of normal play, kept whole and
    /// not audited ([`Terms::are_possible`](crate::database::Terms::are_possible)).
    #[must_use]
    pub fn values(mut self, values: Values) -> Solve<'a> {
        self.spec.terms.values = values;
        self
    }

    /// Audits the solve; by default it is not.
    #[must_use]
    pub fn audit(mut self, audit: Audit) -> Solve<'a> {
        self.spec.terms.audit = Some(audit);
        self
    }

    /// Runs at most `threads` workers, fewer if the memory does not suffice for all.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Solve<'a> {
        self.options.threads = threads;
        self
    }

    /// Uses at most `memory_bytes` bytes for bitmaps and queues.
    #[must_use]
    pub fn memory_bytes(mut self, memory_bytes: u64) -> Solve<'a> {
        self.options.memory_bytes = memory_bytes;
        self
    }

    /// Uses this kernel.
    #[must_use]
    pub fn kernel(mut self, kernel: Kernel) -> Solve<'a> {
        self.kernel = kernel;
        self
    }

    /// Passes these options to the engine and replaces all previous settings.
    #[must_use]
    pub fn options(mut self, options: Options) -> Solve<'a> {
        self.options = options;
        self
    }

    /// Solves in `folder`, which is created if necessary, or continues an interrupted solve of the
    /// same game on the same terms. [`Database::open`](crate::database::Database::open) then reads
    /// the folder.
    ///
    /// # Errors
    /// Those of [`solve`], which also reports progress; [`Error::Io`] if the folder cannot be
    /// created.
    pub fn run(&self, folder: &Path) -> Result<Solved, Error> {
        let storage: Arc<dyn Storage> = Arc::new(RealStorage::create(folder)?);
        solve(self.spec, self.kernel, &storage, &self.options, &Metrics::default(), &|_| {})
    }
}
