//! The strategy of a solve, and the flags that make no sense with it or with these values.

use super::SolveArgs;
use crate::cli::face::exit::Refused;
use crate::cli::words::args::{COMMIT_INTERVAL_DEFAULT, LogPlacement};
use crate::cli::words::game::{LEAVE_OUT, agree_with_values, refuse_values};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use trinim::database::Values;
use trinim::game::Board;
use trinim::kernel::Isa;
use trinim::plan::placement_name;
use trinim::solve::{Baseline, Redundancy, Strategy};

/// `--strategy` and `--redundancy`.
#[derive(Clone, Args)]
pub struct StrategyArgs {
    /// Strategy of the solve: ours, or one of the papers'; does not change the database
    #[arg(long, help_heading = "Expert", hide = true, value_name = "STRATEGY", value_parser = strategies(),
          default_value = "update-log")]
    strategy: Strategy,

    /// Blocks to evaluate: one of each isomorphic group, or all [default: remove]
    #[arg(long, help_heading = "Expert", hide = true, value_name = "WHAT", value_parser = redundancies())]
    redundancy: Option<Redundancy>,
}

fn strategies() -> impl TypedValueParser<Value = Strategy> {
    let help = |strategy: Strategy| match strategy {
        Strategy::UpdateLog => "ours: blocks send compressed logs",
        Strategy::Baseline(Baseline::BlockPull(_)) => "a block loads all its children [SWLK12]",
        Strategy::Baseline(Baseline::BlockPush(_)) => "a block loads and stores all its targets [LWS09]",
        Strategy::Baseline(Baseline::Retrograde) => "board in memory, a loss marks its parents [LWS09]",
        Strategy::Baseline(Baseline::Forward) => "board in memory, a position looks at its children [Hsu]",
    };
    let values = Strategy::ALL.map(|strategy| PossibleValue::new(strategy.name()).help(help(strategy)));
    PossibleValuesParser::new(values).try_map(|name| name.to_lowercase().parse::<Strategy>())
}

fn redundancies() -> impl TypedValueParser<Value = Redundancy> {
    let names = Redundancy::ALL.map(|redundancy| PossibleValue::new(redundancy.name()));
    PossibleValuesParser::new(names).try_map(|name| name.to_lowercase().parse::<Redundancy>())
}

/// Returns the strategy that is asked for.
///
/// # Errors
/// Returns [`Refused`] if another flag makes no sense with it.
pub fn chosen(args: &SolveArgs, board: &Board) -> Result<Strategy, Refused> {
    let SolveArgs { game, strategy: asked, kernel, order, .. } = args;
    let refuse = |given: String, reason: &str| {
        let message = format!("{given} makes no sense with --strategy {}: {reason}", asked.strategy);
        Err(Refused::new(message, LEAVE_OUT))
    };
    let redundancy = asked.redundancy.map(|redundancy| format!("--redundancy {redundancy}"));
    let Strategy::Baseline(baseline) = asked.strategy else {
        return match redundancy {
            Some(given) if asked.redundancy == Some(Redundancy::Keep) => {
                refuse(given, "logs are written for one block of each group")
            }
            _ => Ok(asked.strategy),
        };
    };
    if game.log_placement != LogPlacement::Auto {
        let placement = placement_name(game.log_placement.placement(board, Values::Outcomes));
        return refuse(format!("--log-placement {placement}"), "it writes no logs");
    }
    if game.codec.name != "auto" {
        return refuse(format!("--codec {}", game.codec.name), "it writes no logs");
    }
    if game.commit_interval != COMMIT_INTERVAL_DEFAULT {
        return refuse("--commit-interval".to_owned(), "it keeps no checkpoints");
    }
    if order.is_some() {
        return refuse("--order".to_owned(), "it takes the blocks in BID order, or has none");
    }
    if baseline.redundancy().is_none() {
        if let Some(given) = redundancy {
            return refuse(given, "it visits every position");
        }
        if let Some(isa) = kernel.kernel.0.filter(|isa| *isa != Isa::Scalar) {
            return refuse(format!("--kernel {isa}"), "it takes one position at a time");
        }
    }
    let redundancy = asked.redundancy.unwrap_or(Redundancy::Remove);
    Ok(Strategy::Baseline(baseline.with_redundancy(redundancy)))
}

/// Refuses the options that these values cannot have.
pub fn agree(values: Values, args: &SolveArgs, strategy: Strategy) -> Result<(), Refused> {
    agree_with_values(values, &args.game)?;
    match strategy {
        Strategy::Baseline(baseline) if !values.is_outcomes() => {
            let reason = "the papers' strategies decide who wins";
            refuse_values(values, &format!("--strategy {baseline}"), reason, LEAVE_OUT)
        }
        _ => Ok(()),
    }
}
