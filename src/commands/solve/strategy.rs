//! The strategy of a solve.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use terminal::exit::Refused;
use trinim::cli::scenario::LEAVE_OUT;
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

impl StrategyArgs {
    /// Returns the strategy.
    ///
    /// # Errors
    /// Returns [`Refused`] if the redundancy makes no sense with it.
    pub fn strategy(&self) -> Result<Strategy, Refused> {
        let Some(redundancy) = self.redundancy else { return Ok(self.strategy) };
        let reason = match self.strategy {
            Strategy::UpdateLog if redundancy == Redundancy::Remove => return Ok(self.strategy),
            Strategy::UpdateLog => "logs are written for one block of each group",
            Strategy::Baseline(baseline) if baseline.redundancy().is_some() => {
                return Ok(Strategy::Baseline(baseline.with_redundancy(redundancy)));
            }
            Strategy::Baseline(_) => "it visits every position",
        };
        let message = format!("--redundancy {redundancy} makes no sense with --strategy {}: {reason}", self.strategy);
        Err(Refused::new(message, LEAVE_OUT))
    }
}
