//! Counts, sizes and times as text for people.

/// The binary units, largest first, with their bits.
const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];

/// Formats a number of bytes with a binary unit and at most one decimal.
pub fn binary(bytes: u64) -> String {
    match UNITS.iter().find(|(_, shift)| bytes >> shift > 0) {
        None => format!("{bytes} B"),
        Some((unit, shift)) => {
            let value = bytes as f64 / (1u64 << shift) as f64;
            format!("{value:.*} {unit}", usize::from(value < 100.0 && value.fract() != 0.0))
        }
    }
}

/// Formats a number of bytes like [`binary`], rounded up: a limit of so much is enough.
pub fn binary_up(bytes: u64) -> String {
    let Some((unit, shift)) = UNITS.iter().find(|(_, shift)| bytes >> shift > 0) else { return binary(bytes) };
    let tenths = (u128::from(bytes) * 10).div_ceil(1 << shift);
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{whole} {unit}"),
        (whole, _) if whole >= 100 => format!("{} {unit}", whole + 1),
        (whole, tenth) => format!("{whole}.{tenth} {unit}"),
    }
}

/// Formats a number with commas between thousands.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a time with about three digits, in milliseconds below a second.
pub fn seconds(value: f64) -> String {
    match value {
        value if value < 1e-3 => format!("{:.0} µs", value * 1e6),
        value if value < 0.0995 => format!("{:.1} ms", value * 1e3),
        value if value < 0.9995 => format!("{:.0} ms", value * 1e3),
        value if value < 100.0 => format!("{value:.2} s"),
        value => format!("{value:.0} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(123), "123");
        assert_eq!(grouped(4_124_279_452), "4,124,279,452");
    }

    /// A limit that a message names is enough: as read back, it is no less than the need.
    #[test]
    fn sizes_are_rounded_up() {
        let mut random = crate::random::Random::new(1);
        let edges = (0..60).flat_map(|shift| [(1u64 << shift) - 1, 1 << shift, (1 << shift) + 1]);
        let drawn: Vec<u64> = (0..100_000).map(|_| random.below(1 << 40) >> random.below(40)).collect();
        for bytes in edges.chain(drawn) {
            let text = binary_up(bytes);
            let (number, unit) = text.split_once(' ').unwrap();
            let shift = ["B", "KiB", "MiB", "GiB", "TiB"].iter().position(|name| *name == unit).unwrap() * 10;
            let read = number.parse::<f64>().unwrap() * (1u64 << shift) as f64;
            assert!(read >= bytes as f64 && read <= bytes as f64 * 1.11, "{bytes}: {text}");
        }
    }

    #[test]
    fn sizes_and_times_have_about_three_digits() {
        assert_eq!([512, 1536, 2_000_000, 3_000_000_000].map(binary), ["512 B", "1.5 KiB", "1.9 MiB", "2.8 GiB"]);
        let times = [0.000_25, 0.0123, 0.0996, 0.25, 0.9996, 12.0, 120.0].map(seconds);
        assert_eq!(times, ["250 µs", "12.3 ms", "100 ms", "250 ms", "1.00 s", "12.00 s", "120 s"]);
    }
}
