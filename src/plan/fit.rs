//! Whether a plan fits memory and disk, and why not.

use super::{MemoryPlan, PlacementPlan, Plan, Scenario, WEIGHED_LAYERS, placement_plan};
use crate::game::amount::{binary, binary_up, grouped};
use crate::layout::CANONICAL_BLOCKS_MAX;
use trinim_game::Board;

/// Codecs whose logs take little space, the densest of large blocks first.
pub const DENSE_CODECS: [&str; 2] = ["rows-huffman", "gaps"];

/// The time that a codec with smaller logs may take, of that of the fastest.
pub const SLOWER_AT_MOST: f64 = 1.05;

/// The costs of one codec of the logs, in the requested placement.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CodecPlan {
    /// Name of the codec.
    pub codec: String,
    /// Bytes on disk at the peak, logs and database.
    pub disk_peak_bytes: u64,
    /// Estimated time, in seconds.
    pub seconds: f64,
}

/// A reason to refuse a solve before it starts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Not even one worker fits the memory budget.
    #[error(
        "a budget of {} is too small: the program and blocks of {} need {}",
        binary(*budget_bytes),
        binary(*block_bytes),
        binary_up(*needed_bytes)
    )]
    Memory {
        /// Smallest sufficient budget, in bytes.
        needed_bytes: u64,
        /// The budget, in bytes.
        budget_bytes: u64,
        /// Bytes of one bitmap.
        block_bytes: u64,
    },
    /// The disk is too full for logs and database.
    #[error("about {} of disk space is needed, {} is free", binary_up(*needed_bytes), binary(*free_bytes))]
    Disk {
        /// Estimated need, in bytes.
        needed_bytes: u64,
        /// Free space, in bytes.
        free_bytes: u64,
    },
    /// The layout has more blocks than a run may have.
    #[error(
        "a layout with {} blocks to evaluate is too fine: expected at most {}",
        grouped(*found),
        grouped(CANONICAL_BLOCKS_MAX)
    )]
    Blocks {
        /// Canonical blocks of the layout.
        found: u64,
    },
}

impl Plan {
    /// Returns the costs of the requested placement.
    pub fn chosen(&self) -> &PlacementPlan {
        let [shared, dedicated] = &self.placements;
        if self.placement == dedicated.placement { dedicated } else { shared }
    }

    /// Returns the plan with the codec that `auto` is to be where so many bytes of disk may be
    /// taken, and with what was weighed.
    ///
    /// Left to itself, `auto` chooses by speed alone. Below [`WEIGHED_LAYERS`] it is left to itself
    /// if its peak fits the disk, and gives way to the first of [`DENSE_CODECS`] whose peak does.
    /// From there on, of the codecs that fit and take at most [`SLOWER_AT_MOST`] of the fastest's
    /// time, it is the one with the least peak. If none fits, it is the one with the lowest peak.
    pub fn within(self, scenario: Scenario<'_>, disk_bytes: u64) -> Plan {
        let codecs = self.codecs_of(scenario, disk_bytes);
        let chosen = choose_codec(&codecs, scenario.board, disk_bytes).map_or(scenario.codec, |chosen| &chosen.codec);
        let plan = if chosen == self.codec { self } else { self.with(Scenario { codec: chosen, ..scenario }) };
        Plan { codecs, ..plan }
    }

    /// Returns the peak on disk of a solve of this scenario with the codec of [`Plan::within`];
    /// `u64::MAX` if no worker fits the memory.
    pub fn peak_within(&self, scenario: Scenario<'_>, disk_bytes: u64) -> u64 {
        let codecs = self.codecs_of(scenario, disk_bytes);
        choose_codec(&codecs, scenario.board, disk_bytes).map_or(u64::MAX, |chosen| chosen.disk_peak_bytes)
    }

    /// Returns the costs of the requested codec, and if that is `auto`, of the dense ones that have
    /// to be looked at; empty if no worker fits the memory.
    fn codecs_of(&self, scenario: Scenario<'_>, disk_bytes: u64) -> Vec<CodecPlan> {
        let is_weighed = scenario.board.size_in_layers() >= WEIGHED_LAYERS;
        // Of large boards the others were not measured.
        let dense = if is_weighed { &DENSE_CODECS[..1] } else { &DENSE_CODECS[..] };
        let dense = dense.iter().copied().filter(|_| scenario.codec == "auto");
        let mut rows = Vec::new();
        for codec in [scenario.codec].into_iter().chain(dense) {
            let Some(costs) = self.costs(Scenario { codec, ..scenario }) else { break };
            let PlacementPlan { disk_peak_bytes, seconds, .. } = costs;
            rows.push(CodecPlan { codec: codec.to_owned(), disk_peak_bytes, seconds });
            if !is_weighed && disk_peak_bytes <= disk_bytes {
                break;
            }
        }
        rows
    }

    /// Returns the costs of another scenario alone; `None` if no worker fits its memory.
    fn costs(&self, scenario: Scenario<'_>) -> Option<PlacementPlan> {
        let (memory, reads) = self.memory(scenario);
        (memory.workers > 0).then(|| placement_plan(scenario, &self.shape, &memory, &reads))
    }

    /// Compares the plan with the memory budget and with the disk space that it may take.
    ///
    /// # Errors
    /// Returns [`PlanError::Memory`] or [`PlanError::Disk`] if something does not fit.
    pub fn check(&self, free_bytes: u64) -> Result<(), PlanError> {
        if self.memory.workers == 0 {
            return Err(PlanError::Memory {
                needed_bytes: self.memory.least_bytes,
                budget_bytes: self.memory.budget_bytes,
                block_bytes: self.block_bytes,
            });
        }
        let MemoryPlan { used_bytes, budget_bytes, .. } = self.memory;
        assert!(used_bytes <= budget_bytes, "plan, invariant 3: {used_bytes} of {budget_bytes} bytes are accepted");
        let needed_bytes = self.chosen().disk_peak_bytes;
        if needed_bytes > free_bytes {
            return Err(PlanError::Disk { needed_bytes, free_bytes });
        }
        Ok(())
    }
}

/// Returns the codec that [`Plan::within`] takes of these, `auto` first; `None` if there is none.
fn choose_codec<'a>(codecs: &'a [CodecPlan], board: &Board, disk_bytes: u64) -> Option<&'a CodecPlan> {
    let fitting = || codecs.iter().filter(|row| row.disk_peak_bytes <= disk_bytes);
    let Some(first) = fitting().next() else { return codecs.iter().min_by_key(|row| row.disk_peak_bytes) };
    if board.size_in_layers() < WEIGHED_LAYERS {
        return Some(first);
    }
    let fastest = fitting().map(|row| row.seconds).fold(f64::INFINITY, f64::min);
    fitting().filter(|row| row.seconds <= fastest * SLOWER_AT_MOST).min_by_key(|row| row.disk_peak_bytes)
}

#[cfg(test)]
mod tests {
    use super::super::tests::scenario;
    use super::*;
    use crate::database::Keep;
    use trinim_game::Board;

    fn row(codec: &str, disk_peak_bytes: u64, seconds: f64) -> CodecPlan {
        CodecPlan { codec: codec.to_owned(), disk_peak_bytes, seconds }
    }

    /// No choice is worse than another in both time and disk, beyond what the rule allows.
    #[test]
    fn the_codec_of_large_boards_is_weighed() {
        let board = |layers| Board::triangle(layers, None).unwrap();
        let rows = [row("auto", 100, 50.0), row("a", 70, 52.4), row("b", 60, 52.6), row("c", 70, 51.0)];
        let chosen = |layers, disk| choose_codec(&rows, &board(layers), disk).unwrap().codec.as_str();
        assert_eq!([1000, 100, 99, 70, 69, 60, 59].map(|disk| chosen(9, disk)), ["a", "a", "b", "b", "b", "b", "b"]);
        assert_eq!(
            [1000, 100, 99, 70, 69, 60, 59].map(|disk| chosen(8, disk)),
            ["auto", "auto", "a", "a", "b", "b", "b"]
        );
        assert_eq!(choose_codec(&[], &board(9), 1000), None);
        for layers in [8, 9] {
            let board = board(layers);
            for memory_bytes in [1_u64, 2, 4, 8, 12, 16, 64].map(|gibibytes| gibibytes << 30) {
                for (keep, speed) in [(Keep::Counts, 1.0), (Keep::usual(&board), 0.3), (Keep::Database, 2.0)] {
                    let scenario = Scenario { keep, memory_bytes, speed, ..scenario(&board) };
                    let auto = Plan::suggested(scenario, None);
                    for disk_bytes in [1 << 30, 40 << 30, 50 << 30, 130 << 30, u64::MAX] {
                        let plan = auto.clone().within(scenario, disk_bytes);
                        let found = plan.chosen();
                        let fits = |row: &CodecPlan| row.disk_peak_bytes <= disk_bytes;
                        let is_any = plan.codecs.iter().any(fits);
                        for other in plan.codecs.iter().filter(|other| fits(other) || !is_any) {
                            let is_worse = found.seconds > other.seconds * SLOWER_AT_MOST
                                || layers >= 9 && found.seconds >= other.seconds;
                            let is_larger = found.disk_peak_bytes > other.disk_peak_bytes;
                            assert!(
                                !(is_worse && is_larger),
                                "{layers} {memory_bytes} {disk_bytes}: {plan:?} {other:?}"
                            );
                        }
                    }
                }
            }
        }
    }

    /// A solve of nine layers filled a disk on which it fits with another codec.
    #[test]
    fn auto_gives_way_to_a_codec_that_fits_the_disk() {
        let board = Board::triangle(9, None).unwrap();
        let memory_bytes = 2 << 30;
        let scenario = Scenario { keep: Keep::usual(&board), memory_bytes, ..scenario(&board) };
        let auto = Plan::suggested(scenario, None);
        let peak = |plan: &Plan| plan.chosen().disk_peak_bytes;
        let dense = auto.with(Scenario { codec: "rows-huffman", ..scenario });
        assert!(peak(&dense) < peak(&auto));
        let chosen = |disk_bytes| auto.clone().within(scenario, disk_bytes);
        for disk_bytes in [u64::MAX, peak(&auto), peak(&auto) - 1, peak(&dense)] {
            let plan = chosen(disk_bytes);
            assert_eq!(plan.codec, dense.codec, "{disk_bytes}: {:?}", plan.codecs);
            assert!(Plan { codecs: Vec::new(), ..plan } == dense);
        }
        assert_eq!(chosen(0).codecs.len(), 2);
        // A refusal named what auto needs without giving way.
        assert_eq!(peak(&chosen(0)), peak(&dense));
        let given = Scenario { codec: "zstd1", ..scenario };
        let plan = auto.with(given);
        assert_eq!(Plan { codecs: Vec::new(), ..plan.clone().within(given, 0) }, plan);
    }

    /// However its figures are rounded.
    #[test]
    fn a_plan_has_room_for_what_is_kept() {
        for (layers, bits) in (5..=6).flat_map(|layers| (6..=15).map(move |bits| (layers, bits))) {
            let board = Board::triangle(layers, None).unwrap();
            let plan = Plan::suggested(scenario(&board), Some(bits));
            for keep in Keep::choices(&board) {
                for codec in ["auto", "raw", "gaps", "zstd1", "rows"] {
                    let plan = plan.with(Scenario { keep, codec, ..scenario(&board) });
                    for one in &plan.placements {
                        assert!(one.disk_peak_bytes >= plan.database_bytes, "{layers} {bits} {keep} {codec}");
                        assert!(one.disk_peak_bytes >= one.log_bytes_peak, "{layers} {bits} {keep} {codec}");
                    }
                }
            }
        }
    }

    /// Another codec is looked at where this one does not fit, by a byte.
    #[test]
    fn codecs_are_looked_at_until_one_fits() {
        let board = Board::triangle(8, None).unwrap();
        let scenario = Scenario { keep: Keep::Counts, ..scenario(&board) };
        let plan = Plan::suggested(scenario, None);
        let needed = plan.chosen().disk_peak_bytes;
        let looked_at = |disk_bytes| plan.clone().within(scenario, disk_bytes).codecs.len();
        assert!(looked_at(needed) == 1 && looked_at(needed - 1) > 1);
    }
}
