//! The disk that a solve needs, compared with `--max-disk` and the free space before it starts.

use super::Run;
use super::folder::used_bytes;
use crate::cli::face::exit::{Exit, Refused};
use crate::cli::face::output::Out;
use crate::cli::words::args::Size;
use crate::cli::words::game::request;
use crate::cli::words::machine::free_bytes;
use pipeline::Placement;
use trinim::database::{Keep, Terms};
use trinim::plan::{DENSE_CODECS, Plan, Request, placement_name};

/// The disk that a solve has.
pub struct Room {
    /// Bytes that are free or already taken by the folder.
    free: u64,
    /// `--max-disk`.
    limit: u64,
}

impl Room {
    /// Looks at folder and disk.
    pub fn of(run: &Run<'_>) -> Room {
        let folder = run.earlier.folder;
        let free = free_bytes(folder).saturating_add(used_bytes(folder));
        Room { free, limit: run.args.session.max_disk.map_or(u64::MAX, |limit| limit.0) }
    }

    /// Returns the bytes that the solve may take.
    pub fn may_take(&self) -> u64 {
        self.free.min(self.limit)
    }
}

/// Refuses a solve that needs more disk than it may take or finds free; with `--force` that is a
/// warning. `needed_bytes` is the need at the peak; `fitting` returns the changes of the options
/// with which the solve takes no more than this many bytes.
///
/// # Errors
/// Returns [`Refused`] with the choices that would fit.
pub fn preflight(
    run: &Run<'_>,
    room: &Room,
    needed_bytes: u64,
    fitting: impl Fn(u64) -> Vec<String>,
    out: &Out,
) -> anyhow::Result<()> {
    let &Room { free, limit } = room;
    if needed_bytes <= room.may_take() {
        return Ok(());
    }
    let needed = Size(needed_bytes);
    let message = match limit < free {
        true => format!("about {needed} of disk space is needed, the limit is {}", Size(limit)),
        false => format!("about {needed} of disk space is needed, {} is free", Size(free)),
    };
    if run.args.session.force {
        out.warn(format_args!("{message}; the solve stops safely when that is used up"));
        return Ok(());
    }
    let fitting = fitting(room.may_take());
    let more = if limit < free { "raise --max-disk" } else { "make room, choose --out on a larger disk" };
    let choices = match fitting.is_empty() {
        true => more.to_owned(),
        false => format!("{} would fit; or {more}", fitting.join(" or ")),
    };
    let hint = format!("nothing was written; {choices}, or start anyway with --force");
    Err(Refused::with(Exit::System, message, hint).into())
}

/// What a solve may keep instead: a folder that was begun stays as it is.
pub fn other_keeps(run: &Run<'_>) -> impl Iterator<Item = Keep> {
    let (begun, terms) = (run.earlier.begun.is_some(), run.spec.terms);
    let possible = move |keep| !begun && keep != terms.keep && Terms { keep, ..terms }.are_possible();
    Keep::choices(&run.spec.game.board).into_iter().filter(move |keep| possible(*keep))
}

/// Returns the changes of the options for update logs that fit: those that change least, without
/// and with a change of what is kept.
pub fn fitting(run: &Run<'_>, plan: &Plan, may_take: u64) -> Vec<String> {
    let least = |found: Vec<(usize, String)>| {
        let least = found.iter().map(|(changes, _)| *changes).min();
        found.into_iter().filter(move |(changes, _)| Some(*changes) == least).map(|(_, change)| change).take(3)
    };
    let same = least(changes(run, plan, may_take, run.spec.terms.keep));
    same.chain(other_keeps(run).flat_map(|keep| least(changes(run, plan, may_take, keep)).take(1))).collect()
}

/// Returns the changes of placement and codec with which keeping this fits, and their number.
fn changes(run: &Run<'_>, plan: &Plan, may_take: u64, keep: Keep) -> Vec<(usize, String)> {
    let values = run.spec.terms.values;
    let given = request(&run.spec.game.board, &run.args.game, values, keep);
    let placements = [given.placement, other(given.placement)];
    // What auto stands for depends on the room.
    let others = DENSE_CODECS.into_iter().filter(|codec| given.codec != "auto" && *codec != given.codec);
    let codecs = [given.codec].into_iter().chain(others);
    let mut found = Vec::new();
    for codec in codecs {
        for placement in placements {
            let asked = Request { placement, codec, ..given };
            let bytes = plan.peak_within(asked, may_take);
            if bytes > may_take {
                continue;
            }
            let mut change = Vec::new();
            if keep != run.spec.terms.keep {
                change.push(format!("--keep {keep}"));
            }
            if placement != given.placement {
                change.push(format!("--log-placement {}", placement_name(placement)));
            }
            if codec != given.codec {
                change.push(format!("--codec {codec}"));
            }
            found.push((change.len(), format!("{} (about {})", change.join(" "), Size(bytes))));
        }
    }
    found
}

fn other(placement: Placement) -> Placement {
    match placement {
        Placement::Shared => Placement::Dedicated,
        Placement::Dedicated => Placement::Shared,
    }
}
