//! Scales: the place of a value along an axis, and the values that get a tick.
//!
//! # Invariants
//! 1. Ticks are inside the range and ascend; their labels are distinct and exact to their step.
//! 2. A range is finite and not empty, whatever values it comes from.

use trinim_game::amount::grouped;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    /// Equal differences are equal lengths.
    Linear,
    /// Equal ratios are equal lengths; values must be positive.
    Log,
}

impl Spread {
    fn shows(self, value: f64) -> bool {
        // These bounds are so far from the limits of `f64` that no difference or ratio overflows.
        let magnitudes = match self {
            Spread::Linear => 0.0..=1e100,
            Spread::Log => 1e-100..=1e100,
        };
        magnitudes.contains(&value.abs()) && (self == Spread::Linear || value > 0.0)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    spread: Spread,
    low: f64,
    high: f64,
}

impl Scale {
    /// Creates the range of the values that can be shown, widened on both sides by `margin` of its
    /// length (on a linear scale never across zero).
    pub(crate) fn around(spread: Spread, values: impl Iterator<Item = f64>, margin: f64) -> Scale {
        let shown = values.filter(|value| spread.shows(*value));
        let (mut low, mut high) =
            shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            (low, high) = if spread == Spread::Log { (1.0, 10.0) } else { (0.0, 1.0) };
        }
        match spread {
            Spread::Linear => {
                let length = if high > low { high - low } else { low.abs().max(1.0) };
                let zero = |padded: f64, value: f64| if padded * value < 0.0 || value == 0.0 { 0.0 } else { padded };
                let padded = (zero(low - margin * length, low), zero(high + margin * length, high));
                (low, high) = if padded.0 < padded.1 { padded } else { (0.0, 1.0) };
            }
            Spread::Log => {
                let factor = if high > low { (high / low).powf(margin) } else { 2.0 };
                (low, high) = (low / factor, high * factor);
            }
        }
        Scale { spread, low, high }
    }

    /// Returns the place of a value: 0 at the low end, 1 at the high end; values beyond are at the
    /// end.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let place = match self.spread {
            Spread::Linear => (value - self.low) / (self.high - self.low),
            Spread::Log if value <= 0.0 => 0.0,
            Spread::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        place.clamp(0.0, 1.0)
    }

    /// Returns whether the scale can show a value at all.
    pub(super) fn shows(&self, value: f64) -> bool {
        self.spread.shows(value)
    }

    /// Returns whether a value is below everything that the scale can show: zero or less on a
    /// logarithmic scale.
    pub(super) fn is_below(&self, value: f64) -> bool {
        self.spread == Spread::Log && value <= 0.0 && value.is_finite()
    }

    /// Returns the values and labels of about `wanted` ticks.
    pub(crate) fn ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        match self.spread {
            Spread::Linear => self.linear_ticks(wanted),
            Spread::Log => self.log_ticks(wanted),
        }
    }

    fn linear_ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let rough = (self.high - self.low) / wanted.max(1) as f64;
        let mut exponent = rough.log10().floor() as i32;
        let digit = match rough / 10_f64.powi(exponent) {
            share if share <= 1.000_001 => 1.0,
            share if share <= 2.000_001 => 2.0,
            share if share <= 5.000_001 => 5.0,
            _ => {
                exponent += 1;
                1.0
            }
        };
        let step = digit * 10_f64.powi(exponent);
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last).map(|index| (index as f64 * step, label(index as f64 * step, exponent))).collect()
    }

    fn log_ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let inside = |digits: &[u32], every: i32| -> Vec<(f64, String)> {
            let exponents = decades.clone().filter(|exponent| exponent.rem_euclid(every) == 0);
            let all = exponents.flat_map(|exponent| {
                digits.iter().map(move |digit| {
                    let value = f64::from(*digit) * 10_f64.powi(exponent);
                    (value, label(value, exponent))
                })
            });
            all.filter(|(value, _)| (self.low..=self.high).contains(value)).collect()
        };
        let choices = [inside(&[1, 2, 3, 4, 5, 6, 7, 8, 9], 1), inside(&[1, 2, 5], 1), inside(&[1], 1)];
        match choices.into_iter().find(|ticks| ticks.len() <= wanted) {
            // The range is less than a factor of about two: use linear ticks.
            Some(ticks) if ticks.len() < 3 => self.linear_ticks(wanted),
            Some(ticks) => ticks,
            None => {
                let every = (decades.clone().count() / wanted.max(1) + 1) as i32;
                inside(&[1], every)
            }
        }
    }
}

/// Formats a value in full steps of `10^exponent`: large values in groups of three digits, very
/// large and very small ones with a power of ten.
fn label(value: f64, exponent: i32) -> String {
    let decimals = (-exponent).max(0) as usize;
    if value != 0.0 && (value.abs() >= 1e7 || decimals > 5) {
        let digits = (value.abs().log10().floor() as i32 - exponent).max(0) as usize;
        return format!("{value:.digits$e}");
    }
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let sign = if value < 0.0 && text.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) { "−" } else { "" };
    format!("{sign}{}{rest}", whole.parse().map_or(whole.to_owned(), grouped))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(spread: Spread, values: &[f64], wanted: usize) -> Vec<String> {
        let scale = Scale::around(spread, values.iter().copied(), 0.0);
        scale.ticks(wanted).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(Spread::Linear, &[1.0, 9.0], 9), ["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
        assert_eq!(labels(Spread::Linear, &[0.0, 0.5], 6), ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(labels(Spread::Linear, &[-40.0, 40.0], 5), ["−40", "−20", "0", "20", "40"]);
        assert_eq!(labels(Spread::Linear, &[0.0, 9_000.0], 4), ["0", "5,000"]);
        assert_eq!(labels(Spread::Log, &[4.0, 60.0], 6), ["5", "10", "20", "50"]);
        assert_eq!(labels(Spread::Log, &[0.005, 2.0], 5), ["0.01", "0.1", "1"]);
        assert_eq!(labels(Spread::Log, &[1.0, 1e12], 5), ["1", "1,000", "1,000,000", "1e9", "1e12"]);
        assert_eq!(labels(Spread::Log, &[5.0, 6.2], 6), ["5.0", "5.2", "5.4", "5.6", "5.8", "6.0", "6.2"]);
    }

    proptest! {
        #[test]
        fn any_values_give_a_range_with_distinct_ticks_inside(
            values in prop::collection::vec(
                prop_oneof![-1e6..1e6_f64, 1e-3..1.0_f64, Just(0.0), Just(f64::NAN), Just(f64::INFINITY)],
                0..6,
            ),
            log: bool, wanted in 2_usize..12, margin in 0.0..0.2_f64,
        ) {
            let spread = if log { Spread::Log } else { Spread::Linear };
            let scale = Scale::around(spread, values.iter().copied(), margin);
            prop_assert!(scale.low.is_finite() && scale.high.is_finite() && scale.low < scale.high);
            let ticks = scale.ticks(wanted);
            prop_assert!(ticks.len() <= 2 * wanted + 2, "{} ticks", ticks.len());
            for pair in ticks.windows(2) {
                prop_assert!(pair[0].0 < pair[1].0);
                prop_assert_ne!(&pair[0].1, &pair[1].1);
            }
            for value in values.iter().copied().filter(|value| scale.shows(*value)) {
                prop_assert!((0.0..=1.0).contains(&scale.place(value)));
                prop_assert!(scale.low <= value * (1.0 + 1e-12) + 1e-12 && value <= scale.high * (1.0 + 1e-12) + 1e-12);
            }
        }
    }
}
