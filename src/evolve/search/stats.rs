//! Statistics of success rates.
//!
//! Fifty runs are few: a measured 50 % may well be 37 or 63. Reports give every rate with Wilson's
//! interval and every comparison with Fisher's exact test, uncorrected for the number of tests.

/// Quantile of the normal distribution for a 95 % interval.
const Z: f64 = 1.959_963_984_540_054;

/// Returns Wilson's 95 % interval for `hits` of `tries`; 0 to 1 if there are no tries.
pub fn wilson(hits: u64, tries: u64) -> (f64, f64) {
    if tries == 0 {
        return (0.0, 1.0);
    }
    let (rate, tries) = (hits as f64 / tries as f64, tries as f64);
    let scale = 1.0 + Z * Z / tries;
    let centre = (rate + Z * Z / (2.0 * tries)) / scale;
    let half = Z / scale * (rate * (1.0 - rate) / tries + Z * Z / (4.0 * tries * tries)).sqrt();
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

fn log_factorials(last: u64) -> Vec<f64> {
    let mut logs = vec![0.0];
    for value in 1..=last {
        let before = logs.last().copied().unwrap_or(0.0);
        logs.push(before + (value as f64).ln());
    }
    logs
}

/// Fisher's exact test, two-sided: returns the probability, at equal rates, of a table no more
/// probable than this one.
pub fn fisher((hits_a, tries_a): (u64, u64), (hits_b, tries_b): (u64, u64)) -> f64 {
    let logs = log_factorials(tries_a + tries_b);
    let choose = |from: u64, some: u64| logs[from as usize] - logs[some as usize] - logs[(from - some) as usize];
    let hits = hits_a + hits_b;
    let log = |a: u64| choose(tries_a, a) + choose(tries_b, hits - a) - choose(tries_a + tries_b, hits);
    let here = log(hits_a);
    let range = hits.saturating_sub(tries_b)..=hits.min(tries_a);
    // Equally probable tables differ in the last digits.
    let sum: f64 = range.map(log).filter(|other| *other <= here + 1e-9).map(f64::exp).sum();
    sum.min(1.0)
}

/// Returns the logarithm of the probability of `hits` of `tries` at a rate measured as `model_hits`
/// of `model_tries`, with half a hit and half a miss added.
pub fn log_likelihood(hits: u64, tries: u64, model_hits: u64, model_tries: u64) -> f64 {
    let rate = (model_hits as f64 + 0.5) / (model_tries as f64 + 1.0);
    let logs = log_factorials(tries);
    let choose = logs[tries as usize] - logs[hits as usize] - logs[(tries - hits) as usize];
    choose + hits as f64 * rate.ln() + (tries - hits) as f64 * (1.0 - rate).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_wilsons() {
        // Newcombe 1998, table I: 81 of 263 and 15 of 148.
        let close = |(low, high): (f64, f64), expected: (f64, f64)| {
            (low - expected.0).abs() < 5e-5 && (high - expected.1).abs() < 5e-5
        };
        assert!(close(wilson(81, 263), (0.2553, 0.3662)));
        assert!(close(wilson(15, 148), (0.0624, 0.1605)));
        assert!(close(wilson(0, 20), (0.0, 0.1611)));
        assert_eq!(wilson(0, 0), (0.0, 1.0));
        assert!(wilson(50, 50).1 <= 1.0);
    }

    #[test]
    fn tests_are_fishers() {
        // Fisher's lady tasting tea: 3 of 4 against 1 of 4.
        assert!((fisher((3, 4), (1, 4)) - 0.485_714).abs() < 1e-6);
        // The paper's own experiments 1 and 2, with population 100, 100 generations and 15 genes.
        assert!((fisher((25, 50), (41, 50)) - 0.0014).abs() < 1e-4);
        assert!((fisher((7, 50), (7, 50)) - 1.0).abs() < 1e-9);
        assert!((fisher((0, 0), (0, 0)) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_true_model_is_likely() {
        assert!((log_likelihood(25, 50, 500, 1000) - 0.112_275f64.ln()).abs() < 1e-3);
        assert!(log_likelihood(0, 50, 0, 50) > -1.0);
        assert!(log_likelihood(50, 50, 0, 50) < -200.0);
    }
}
