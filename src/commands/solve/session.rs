//! One session of a solve: checks plan and disk space, then works, shows progress and ends in
//! order.

use super::SessionArgs;
use pipeline::{Error, Event};
use std::sync::atomic::{AtomicUsize, Ordering};
use terminal::exit::{Exit, Refused, Stopped};
use terminal::output::{Out, counted, grouped, seconds};
use terminal::progress::{self, Progress, Say};
use terminal::signals::Signals;
use terminal::watch;
use trinim::cli::args::Size;
use trinim::cli::folders::remark_on_foreign;
use trinim::cli::machine::{memory_free_bytes, memory_shortage};
use trinim::cli::owner;
use trinim::cli::pace;
use trinim::database::Audit;
use trinim::job::{Alternative, Job, JobPlan, Monitor};
use trinim::kernel::Isa;
use trinim::plan::TIMED_CELLS;
use trinim::plan::work::SessionWork;
use trinim::solve::Solved;

/// What a session works on, how it reports, and what stops it.
pub struct Attempt<'a> {
    pub job: &'a Job,
    pub args: &'a SessionArgs,
    pub monitor: &'a Monitor,
    pub signals: &'a Signals,
    pub out: &'a Out,
}

/// The result of a solve, and figures about the session.
pub struct Outcome {
    pub solved: Solved,
    /// Blocks of earlier sessions.
    pub resumed_blocks: u64,
    /// Positions of the blocks of this session, and of their images.
    pub session_positions: u64,
    pub workers: usize,
}

impl Attempt<'_> {
    /// Plans and solves.
    ///
    /// # Errors
    /// [`Refused`] if something is short, [`Stopped`] after a signal or at the limit of time; those
    /// of [`Job::plan`] and [`Job::run`].
    pub fn run(&self) -> anyhow::Result<Outcome> {
        let shown = self.args.progress.on(self.out)?;
        if self.job.begun.is_some() {
            remark_on_foreign(&self.job.folder, self.out);
            if let Audit::Sampled { .. } = self.job.terms.audit {
                self.out.remark(
                    "the rest is not audited: an earlier version chose the sample; run trinim verify to check all",
                );
            }
        }
        let plan = self.out.announcing("planning", || {
            let plan = self.job.plan()?;
            self.preflight(&plan)?;
            Ok::<_, anyhow::Error>(plan)
        })?;
        self.work(&plan, &shown)
    }

    /// Refuses a solve that needs more disk than is allowed or free, and lists the choices that
    /// would fit; with `--force` only warns.
    fn preflight(&self, plan: &JobPlan) -> anyhow::Result<()> {
        let short = memory_shortage(plan.plan.memory.used_bytes, memory_free_bytes());
        short.iter().for_each(|short| self.out.warn(short));
        if plan.check().is_ok() {
            return Ok(());
        }
        let (needed, is_limited) = (Size(plan.needed_bytes()), plan.limit_bytes < plan.free_bytes);
        let message = match is_limited {
            true => format!("not enough disk space: about {needed} needed, the limit is {}", Size(plan.limit_bytes)),
            false => format!("not enough disk space: about {needed} needed, {} free", Size(plan.free_bytes)),
        };
        if self.args.force {
            self.out.warn(format_args!("{message}; the solve stops safely when the space runs out"));
            return Ok(());
        }
        let in_words = |Alternative { choices, bytes }: Alternative| {
            let flags: Vec<String> = choices.iter().map(|choice| format!("--{choice}")).collect();
            format!("{} (about {})", flags.join(" "), Size(bytes))
        };
        let fitting: Vec<String> = self.job.alternatives(plan).into_iter().map(in_words).collect();
        let more = if is_limited { "raise --max-disk" } else { "free disk space, choose --out on a larger disk" };
        let choices = match fitting.is_empty() {
            true => more.to_owned(),
            false => format!("{} would fit; or {more}", fitting.join(" or ")),
        };
        let hint = format!("nothing was written; {choices}, or start anyway with --force");
        Err(Refused::with(Exit::System, message, hint).into())
    }

    /// Solves, or continues a solve.
    fn work(&self, plan: &JobPlan, shown: &Progress) -> anyhow::Result<Outcome> {
        let Attempt { job, monitor, signals, .. } = self;
        let layout = &job.game.layout;
        // The engine refuses a journal with other blocks.
        let blocks = layout.canonical_blocks().len();
        let records = job.begun.iter().flat_map(|begun| &begun.records);
        let finished = records.map(|record| record.block).filter(|block| block.index() < blocks).collect();
        let held = plan.plan.memory.held_streams;
        let total = SessionWork::new(layout, &plan.plan.shape, held, &finished).with_planes(job.spec().planes());
        let started = AtomicUsize::new(0);
        let status = |elapsed: f64| pace::of_solve(&monitor.metrics, &total, elapsed);
        let work = |say: Say<'_>| {
            let observe = |event: &Event| match event {
                Event::Opened { workers, finished_blocks, .. } => {
                    started.store(*workers, Ordering::Relaxed);
                    say(self.header(plan, &total, u64::from(*finished_blocks), *workers));
                }
                Event::Committed { finished_blocks } => watch::commit(total.blocks, u64::from(*finished_blocks)),
            };
            job.run(plan, monitor, &observe)
        };
        let saved = || {
            // A folder that could not be opened is unchanged.
            let begun = job.begun.as_ref().map_or(0, |begun| begun.records.len() as u64);
            let safe = monitor.metrics.snapshot().blocks_committed.max(begun);
            format!("{} of {} saved in {}", grouped(safe), counted(total.blocks, "block"), job.folder.display())
        };
        let ended = progress::during(&status, signals, shown, work).flatten();
        if let Err(error) = &ended
            && error.is_full_disk()
        {
            self.out.remark(saved());
        }
        let solved = match ended {
            Err(error @ Error::Locked { .. }) => return Err(owner::in_use(error, &job.folder)),
            Err(Error::Interrupted) => {
                return Err(anyhow::Error::new(Stopped::resumable(signals.exit())).context(saved()));
            }
            other => other?,
        };
        Ok(Outcome {
            solved,
            resumed_blocks: total.resumed_blocks,
            session_positions: total.positions,
            workers: started.into_inner(),
        })
    }

    /// Prints what is about to be done, or what remains.
    fn header(&self, plan: &JobPlan, total: &SessionWork, finished: u64, workers: usize) -> String {
        let Attempt { job, .. } = self;
        let folder = job.folder.display();
        let blocks = counted(total.blocks, "block");
        let workers = counted(workers as u64, "worker");
        if finished > 0 && finished == total.blocks {
            return format!("{folder}: resuming: all {blocks} are done, only manifest and checksums are left");
        }
        // The estimate uses the rates of the bit-parallel kernels, at the speed of this machine.
        let is_timed = job.game.board.cells() >= TIMED_CELLS && job.kernel().isa() != Isa::Scalar;
        let estimate = |share: f64, left: &str| {
            if is_timed {
                let planned = plan.plan.chosen().seconds * share;
                format!(", about {}{left}{}", seconds(planned), pace::at_this_load(&plan.plan, planned))
            } else {
                String::new()
            }
        };
        if finished == 0 {
            let positions = counted(1 << job.game.layout.offset_bits(), "position");
            return format!("{folder}: {blocks} of {positions}, {workers}{}", estimate(1.0, ""));
        }
        let share = total.resumed_share();
        format!(
            "{folder}: resuming: {} of {blocks} ({:.1} % of the work) are done, {workers}{}",
            grouped(finished),
            share * 100.0,
            estimate(1.0 - share, " left")
        )
    }
}
