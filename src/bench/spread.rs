//! Median, range and median absolute deviation of a few measured values.

use serde::{Deserialize, Serialize};

/// The centre and the scatter of some values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// The middle value, or the mean of the two in the middle.
    pub median: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The median of the distances from the median.
    pub mad: f64,
}

impl Spread {
    /// Returns the spread of the values; `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Spread> {
        let median_of_values = median(values)?;
        let distances: Vec<f64> = values.iter().map(|value| (value - median_of_values).abs()).collect();
        Some(Spread {
            median: median_of_values,
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            mad: median(&distances)?,
        })
    }
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_move_the_range_and_nothing_else() {
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[3.0]), Some(Spread { median: 3.0, min: 3.0, max: 3.0, mad: 0.0 }));
        assert_eq!(Spread::of(&[4.0, 1.0]), Some(Spread { median: 2.5, min: 1.0, max: 4.0, mad: 1.5 }));
        let spread = Spread::of(&[5.0, 1.0, 2.0, 3.0, 900.0]).unwrap();
        assert_eq!((spread.median, spread.min, spread.max, spread.mad), (3.0, 1.0, 900.0, 2.0));
    }
}
