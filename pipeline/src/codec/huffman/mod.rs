//! Lists of 16-bit symbols as canonical Huffman codes, designed for fast decoding.
//!
//! A row of a stream consists of few different 16-bit pieces (230 of 65,536 at eight layers),
//! because a loss excludes others nearby. Codes of at most eleven bits are found by one look-up,
//! which gives up to three symbols at once. A list is divided into four streams that are decoded in
//! parallel, so that their look-ups do not wait for each other.
//!
//! The codes are those of Huffman (1952), numbered as in Schwartz and Kallick (1964). Layout and
//! tables are ours; `FORMAT.md` has the bytes.
//!
//! A workload can publish lists and promise the same bytes for the same stream, as trinim does. An
//! encoder that breaks ties or limits lengths differently is therefore another codec.

mod decode;
mod encode;

pub(super) use decode::Decoder;
pub(super) use encode::Encoder;

/// The most bits of a code: the table of [`Decoder`] takes half of a first-level cache.
const LONGEST: u32 = 11;
/// The most symbols of a code. With more, codes of [`LONGEST`] bits would be a bad choice.
const SYMBOLS_MAX: usize = 1 << (LONGEST - 1);
const STREAMS: usize = 4;

/// Returns the lengths of optimal codes for `counts`, which are all positive, in any order; a
/// single symbol gets length 1.
pub fn lengths(counts: &[u32]) -> Vec<u8> {
    if counts.len() <= 1 {
        return vec![1; counts.len()];
    }
    // Two queues: leaves by ascending count, and inner vertices, created in ascending order.
    let mut leaves: Vec<u64> =
        counts.iter().enumerate().map(|(at, count)| u64::from(*count) << 32 | at as u64).collect();
    leaves.sort_unstable();
    let total = 2 * counts.len() - 1;
    let mut weight: Vec<u64> = leaves.iter().map(|leaf| leaf >> 32).collect();
    weight.resize(total, 0);
    let mut parent = vec![0u32; total];
    let (mut leaf, mut inner) = (0, counts.len());
    for next in counts.len()..total {
        for _ in 0..2 {
            let take_leaf = leaf < counts.len() && (inner == next || weight[leaf] <= weight[inner]);
            let taken = if take_leaf { &mut leaf } else { &mut inner };
            parent[*taken] = next as u32;
            weight[next] += weight[*taken];
            *taken += 1;
        }
    }
    let mut depth = vec![0u8; total];
    for vertex in (0..total - 1).rev() {
        depth[vertex] = depth[parent[vertex] as usize] + 1;
    }
    let mut lengths = vec![0; counts.len()];
    for (leaf, depth) in leaves.iter().zip(depth) {
        lengths[(leaf & u64::from(u32::MAX)) as usize] = depth;
    }
    lengths
}

/// Returns lengths of at most [`LONGEST`] for at most [`SYMBOLS_MAX`] symbols. Halves the counts
/// until the code is flat enough; equal counts give at most ten bits.
fn short_lengths(mut counts: Vec<u32>) -> Vec<u8> {
    loop {
        let lengths = lengths(&counts);
        if lengths.iter().all(|length| u32::from(*length) <= LONGEST) {
            return lengths;
        }
        counts.iter_mut().for_each(|count| *count = count.div_ceil(2));
    }
}

/// Returns the code of each symbol, first bit lowest, or `None` unless every sequence of bits
/// begins with exactly one code. Codes are numbered by (length, symbol); a single symbol has the
/// code 0, and 1 means the same.
fn codes(lengths: &[u8]) -> Option<Vec<u16>> {
    let mut first = [0u32; LONGEST as usize + 2];
    let mut used = 0;
    for length in lengths {
        let length = u32::from(*length);
        if !(1..=LONGEST).contains(&length) {
            return None;
        }
        first[length as usize + 1] += 1;
        used += 1u32 << (LONGEST - length);
    }
    if used != 1 << LONGEST && lengths != [1] {
        return None;
    }
    for length in 1..first.len() {
        first[length] = (first[length - 1] + first[length]) << 1;
    }
    let code = |length: &u8| {
        let next = &mut first[usize::from(*length)];
        *next += 1;
        ((*next - 1) as u16).reverse_bits() >> (16 - u32::from(*length))
    };
    Some(lengths.iter().map(code).collect())
}

#[cfg(test)]
mod tests {
    use super::super::DecodeError;
    use super::*;
    use proptest::prelude::*;

    /// The cost of an optimal code by the definition: merge the two least weights repeatedly.
    fn optimal_cost(counts: &[u32]) -> u64 {
        let mut weights: Vec<u64> = counts.iter().map(|count| u64::from(*count)).collect();
        let mut cost = 0;
        while weights.len() > 1 {
            weights.sort_unstable_by(|a, b| b.cmp(a));
            let merged = weights.pop().unwrap() + weights.pop().unwrap();
            cost += merged;
            weights.push(merged);
        }
        cost
    }

    /// The format as the page describes it, bit by bit and by comparing codes.
    fn decode_by_the_page(stored: &[u8], wanted: usize) -> Vec<u16> {
        let number = |at: usize| u16::from_le_bytes([stored[at], stored[at + 1]]);
        let wanted = if stored[0] == 1 { wanted * 2 } else { wanted };
        let count = usize::from(number(1));
        let symbols: Vec<u16> = (0..count).map(|at| number(3 + 2 * at)).collect();
        let lengths = &stored[3 + 2 * count..];
        let lengths: Vec<u32> = (0..count).map(|at| u32::from(lengths[at / 2] >> (4 * (at % 2)) & 15)).collect();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|at| (lengths[*at], symbols[*at]));
        let (mut code, mut length, mut book) = (0u32, 0, Vec::new());
        for at in order {
            code <<= lengths[at] - length;
            length = lengths[at];
            book.push((length, code, symbols[at]));
            code += 1;
        }
        let mut at = 3 + 2 * count + count.div_ceil(2);
        let mut list = Vec::new();
        for stream in 0..4 {
            let bytes = u32::from_le_bytes(stored[at..at + 4].try_into().unwrap()) as usize;
            let bits: Vec<u32> =
                (0..bytes * 8).map(|bit| u32::from(stored[at + 4 + bit / 8] >> (bit % 8) & 1)).collect();
            let until = (wanted.div_ceil(4) * (stream + 1)).min(wanted);
            let mut bit = 0;
            while list.len() < until {
                let (mut code, mut length) = (0, 0);
                list.push(loop {
                    code = code << 1 | bits[bit];
                    (length, bit) = (length + 1, bit + 1);
                    if let Some((.., symbol)) = book.iter().find(|one| (one.0, one.1) == (length, code)) {
                        break *symbol;
                    }
                });
            }
            at += 4 + bytes;
        }
        assert_eq!(at, stored.len());
        if stored[0] == 1 { list.chunks(2).map(|pair| pair[0] | pair[1] << 8).collect() } else { list }
    }

    fn encoded(list: &[u16]) -> Vec<u8> {
        let mut stored = Vec::new();
        Encoder::new().encode(list, &mut stored);
        stored
    }

    fn decoded(stored: &[u8], length: usize) -> Result<Vec<u16>, DecodeError> {
        let mut list = vec![0; length];
        assert_eq!(Decoder::new().decode(stored, &mut list)?, []);
        Ok(list)
    }

    fn lists() -> impl Strategy<Value = Vec<u16>> {
        prop_oneof![
            proptest::collection::vec(any::<u16>(), 0..40),
            // Few symbols of very different frequency: long and short codes, many look-ups.
            proptest::collection::vec(any::<u32>().prop_map(|n| n.leading_zeros() as u16 * 257), 0..3000),
            // Parts are decoded in parallel; one of a single symbol ends long before the others.
            (proptest::collection::vec(0u16..300, 0..5000), 0usize..5).prop_map(|(mut list, part)| {
                let length = list.len().div_ceil(STREAMS);
                list.iter_mut().skip(part * length).take(length).for_each(|symbol| *symbol = 7);
                list
            }),
            // More symbols than a code can have.
            proptest::collection::vec(0u16..5000, 3000..4000),
        ]
    }

    proptest! {
        #[test]
        fn a_list_decodes_to_itself_by_the_tables_and_by_the_page(list in lists()) {
            let stored = encoded(&list);
            prop_assert_eq!(&decoded(&stored, list.len()).unwrap(), &list);
            prop_assert_eq!(&decode_by_the_page(&stored, list.len()), &list);
        }

        #[test]
        fn a_changed_list_is_refused_or_decodes_to_something(
            list in lists(), hits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        ) {
            let mut stored = encoded(&list);
            for (at, value) in hits {
                *at.get_mut(&mut stored) = value;
            }
            let _ = Decoder::new().decode(&stored, &mut vec![0; list.len()]);
        }
    }

    #[test]
    fn lengths_are_optimal_and_short_ones_are_short() {
        let fibonacci: Vec<u32> =
            std::iter::successors(Some((1, 1)), |(a, b)| Some((*b, a + b))).take(30).map(|pair| pair.0).collect();
        let cases: [&[u32]; 6] = [&[5], &[1, 1], &fibonacci, &[9; 100], &[1, 1000, 1, 1, 7, 7, 3], &[1; 1024]];
        for counts in cases {
            let optimal = lengths(counts);
            if counts.len() > 1 {
                let cost: u64 = counts.iter().zip(&optimal).map(|(n, length)| u64::from(n * u32::from(*length))).sum();
                assert_eq!(cost, optimal_cost(counts), "{counts:?}");
            }
            let short = short_lengths(counts.to_vec());
            assert!(short.iter().all(|length| u32::from(*length) <= LONGEST), "{counts:?}");
            assert!(codes(&short).is_some(), "{counts:?}");
        }
        assert!(lengths(&fibonacci).iter().any(|length| u32::from(*length) > LONGEST));
    }

    #[test]
    fn only_complete_codes_are_codes() {
        assert_eq!(codes(&[1, 2, 2]), Some(vec![0b0, 0b01, 0b11]));
        assert_eq!(codes(&[1]), Some(vec![0]));
        for lengths in [&[1, 1, 1][..], &[1, 2], &[2], &[0, 1], &[12, 1], &[]] {
            assert_eq!(codes(lengths), None, "{lengths:?}");
        }
    }

    #[test]
    fn a_list_with_bits_after_its_last_code_is_refused() {
        let list = [7, 7, 7, 9];
        let good = encoded(&list);
        assert_eq!(decoded(&good, 4).unwrap(), list);
        let mut bits = good.clone();
        *bits.last_mut().unwrap() |= 0x80;
        assert!(decoded(&bits, 4).is_err());
        let mut bytes = good.clone();
        bytes.push(0);
        let length = bytes.len() - 6;
        bytes[length] += 1;
        assert!(decoded(&bytes, 4).is_err());
    }
}
