//! Values of arguments: sizes, durations, addresses. Every parse error says what is expected.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;
use trinim_game::amount::binary;

/// Returns the bytes of a unit of sizes, in lower case; a bare letter is binary, as in most tools.
fn unit_bytes(name: &str) -> Option<u64> {
    let Some(letter) = name.chars().next().filter(|_| name != "b") else { return Some(1) };
    let power = 1 + "kmgt".find(letter)? as u32;
    match &name[1..] {
        "" | "ib" => Some(1024_u64.pow(power)),
        "b" => Some(1000_u64.pow(power)),
        _ => None,
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let expected = || format!("{text:?} is not a size: expected bytes, or a size like 256MiB, 1GiB, 2GB");
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let unit = unit.trim_start().to_ascii_lowercase();
        let bytes = unit_bytes(&unit).ok_or_else(expected)?;
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let digits = |text: &str| text.len() <= 18 && text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(part) || number.ends_with('.') {
            return Err(expected());
        }
        let too_large = || format!("{text} is too large: expected less than 16 million TiB");
        let value: u64 = whole.parse().map_err(|_| expected())?;
        let part = if part.is_empty() { 0.0 } else { format!("0.{part}").parse::<f64>().map_err(|_| expected())? };
        let value = value.checked_mul(bytes).ok_or_else(too_large)?;
        let value = value.checked_add((part * bytes as f64) as u64).ok_or_else(too_large)?;
        if value == 0 {
            return Err("a size of 0: expected at least 1 byte".to_owned());
        }
        Ok(Size(value))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&binary(self.0))
    }
}

/// The shortest duration that an argument can give.
const LEAST: Duration = Duration::from_millis(10);
const DAY: Duration = Duration::from_secs(86_400);

/// Parses a duration: seconds, or numbers with units like `d`, `h`, `m`, `s` or `ms`; from 10 ms to
/// one day.
pub fn duration(text: &str) -> Result<Duration, String> {
    duration_up_to(text, DAY, "500ms, 5s, 2m, from 10ms to 24h")
}

/// Parses a duration like [`duration`], from 10 ms to a year.
pub fn long_duration(text: &str) -> Result<Duration, String> {
    duration_up_to(text, 365 * DAY, "90s, 30m, 1h30m, 2d, from 10ms to 365d")
}

fn duration_up_to(text: &str, most: Duration, examples: &str) -> Result<Duration, String> {
    let is_seconds = text.ends_with(|end: char| end.is_ascii_digit()) && text.parse::<f64>().is_ok();
    let with_unit = if is_seconds { format!("{text}s") } else { text.to_owned() };
    // The library takes M for months; a user means minutes.
    let parsed = humantime::parse_duration(&with_unit).ok().filter(|_| !text.contains('M'));
    parsed
        .filter(|duration| (LEAST..=most).contains(duration))
        .ok_or_else(|| format!("{text:?} is not a duration: expected seconds, or a time like {examples}"))
}

/// The largest seed. Readers of JSON like JavaScript represent every whole number up to it.
pub const SEED_MAX: u64 = 1 << 53;

/// Parses a seed of random numbers, which reports repeat.
pub fn seed(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(seed @ 0..=SEED_MAX) => Ok(seed),
        Ok(_) => Err(format!("expected a whole number up to {SEED_MAX}")),
        Err(_) => Err("expected a whole number".to_owned()),
    }
}

/// Parses an address to listen on.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "expected an address and a port, like 127.0.0.1:8080 or [::1]:0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_shown() {
        let sizes = [
            ("1", 1),
            ("256MiB", 256 << 20),
            ("1GiB", 1 << 30),
            ("1.5 gib", 3 << 29),
            ("2GB", 2_000_000_000),
            ("64k", 65_536),
        ];
        for (text, bytes) in sizes {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
        for text in ["", "0", "0MiB", "-1", "12XB", "NaN", "1e9", "1.", ".5", "1..5GiB", "99999999999999TiB", "1 2"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
        assert_eq!(Size(1 << 30).to_string(), "1 GiB");
        assert_eq!(Size(1_500_000).to_string(), "1.4 MiB");
        assert_eq!(Size(17).to_string(), "17 B");
    }

    #[test]
    fn durations_have_bounds() {
        assert_eq!(duration("5s"), Ok(Duration::from_secs(5)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(long_duration("2d"), Ok(Duration::from_secs(172_800)));
        assert_eq!(long_duration("1h30m"), Ok(Duration::from_secs(5_400)));
        assert_eq!(duration("1m0.5s"), Ok(Duration::from_millis(60_500)));
        assert_eq!(duration("30m1h"), duration("1h 30m"));
        assert!(long_duration("366d").is_err() && long_duration("0").is_err());
        for text in ["", "0", "1ms", "25h", "NaN", "-1s", "inf", "1h30", "h", "1.2.3s", "1e3", "9999999999999999999d"] {
            assert!(duration(text).is_err(), "{text}");
        }
        for months in ["5M", "1h5M"] {
            assert!(long_duration(months).is_err(), "{months}");
        }
    }
}
