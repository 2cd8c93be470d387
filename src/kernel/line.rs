//! Permutations of the nine index bits of a vector, in steps for vector instructions.

pub(super) const WORDS: usize = 8;

/// A permutation of the nine index bits inside a vector, in the forms that the instruction sets
/// need.
#[derive(Clone, Debug, Default)]
pub(super) struct Rearrangement {
    /// Exchanges of two index bits, first to last.
    pub swaps: Vec<Swap>,
    /// The same as shuffles of bytes and of bits inside bytes, first to last.
    pub steps: Vec<Step>,
}

/// The exchange of two index bits: new = (x & stay) | (y << count & up) | (y >> count & down),
/// where y is x with its words reordered.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Swap {
    pub kind: SwapKind,
    /// Bits that stay.
    pub stay: [u64; WORDS],
    /// Bits that come from below.
    pub up: [u64; WORDS],
    /// Bits that come from above.
    pub down: [u64; WORDS],
    /// Word `i` of y is word `words[i]` of x.
    pub words: [u32; WORDS],
    /// Distance of the shift, in bits.
    pub count: u32,
}

/// The kinds of the exchanged index bits.
#[derive(Clone, Copy, Debug)]
pub(super) enum SwapKind {
    /// Two bits of the place inside a word.
    Bits,
    /// A bit of the place and a bit of the number of the word, of this value.
    BitAndWord(u32),
    /// These two bits of the number of the word.
    Words(u32, u32),
}

impl Swap {
    /// Exchanges index bits `low < high`.
    fn new(low: u32, high: u32) -> Swap {
        let (kind, count) = match (low, high) {
            (0..6, 0..6) => (SwapKind::Bits, (1 << high) - (1 << low)),
            (0..6, _) => (SwapKind::BitAndWord(1 << (high - 6)), 1 << low),
            _ => (SwapKind::Words(low - 6, high - 6), 0),
        };
        let words = std::array::from_fn(|word| word as u32);
        let mut swap = Swap { kind, stay: [0; WORDS], up: [0; WORDS], down: [0; WORDS], words, count };
        for to in 0..512_u32 {
            let (a, b) = (to >> low & 1, to >> high & 1);
            let from = to ^ (a ^ b) << low ^ (a ^ b) << high;
            let (word, bit) = ((to / 64) as usize, 1 << (to % 64));
            match from % 64 {
                _ if from == to => swap.stay[word] |= bit,
                inside if inside <= to % 64 => swap.up[word] |= bit,
                _ => swap.down[word] |= bit,
            }
            if from != to {
                swap.words[word] = from / 64;
            }
        }
        swap
    }
}

/// One step on the bytes of a vector.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// New byte `i` is byte `.0[i]`.
    Bytes(ByteOrder),
    /// In every word: new bit `i` of byte `j` is bit `j` of byte `7 - i`.
    Turn,
    /// In every byte, by a matrix of GF2P8AFFINEQB.
    Bits(u64),
}

#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct ByteOrder(pub [u8; 64]);

impl Rearrangement {
    /// Index bit `i` moves to `places[i]`.
    pub(super) fn new(places: [usize; 9]) -> Rearrangement {
        Rearrangement { swaps: swaps(places), steps: steps(places) }
    }
}

fn swaps(mut places: [usize; 9]) -> Vec<Swap> {
    let mut swaps = Vec::new();
    for bit in 0..9 {
        while places[bit] != bit {
            let to = places[bit];
            swaps.push(Swap::new(bit.min(to) as u32, bit.max(to) as u32));
            places.swap(bit, to);
        }
    }
    swaps
}

fn steps(mut places: [usize; 9]) -> Vec<Step> {
    let mut steps = Vec::new();
    match places[..3].iter().filter(|to| **to >= 3).count() {
        0 => {
            if places[..3] != [0, 1, 2] {
                let matrix = (0..3).fold([0; 3], |mut from, bit| {
                    from[places[bit]] = bit;
                    from
                });
                let matrix = (0..8_usize).fold(0, |m, to| {
                    let from = (0..3).fold(0, |from, bit| from | (to >> bit & 1) << matrix[bit]);
                    m | 1_u64 << from << (8 * (7 - to))
                });
                steps.push(Step::Bits(matrix));
            }
        }
        3 => turn(&mut places, &mut steps, [0, 1, 2]),
        _ => {
            // The bits bound for the byte must be outside it at the last turn, so turn others in
            // first.
            turn(&mut places, &mut steps, [usize::MAX; 3]);
            turn(&mut places, &mut steps, [0, 1, 2]);
        }
    }
    if places[3..] != [3, 4, 5, 6, 7, 8] {
        steps.push(Step::Bytes(byte_order(places, 0)));
    }
    steps
}

/// Exchanges index bits 0 to 2 with the three bits bound for `inside`, or with any that are not
/// bound for 0 to 2. `places` has the destination of each bit and is updated to the remaining work.
fn turn(places: &mut [usize; 9], steps: &mut Vec<Step>, inside: [usize; 3]) {
    let mut order = [usize::MAX; 9];
    let mut chosen = [false; 9];
    for (place, wanted) in inside.into_iter().enumerate() {
        let bit = (3..9).find(|&bit| !chosen[bit] && (places[bit] == wanted || wanted > 8 && places[bit] >= 3));
        let Some(bit) = bit else { unreachable!("six bits outside a byte, at most three of them bound for it") };
        chosen[bit] = true;
        order[bit] = 3 + place;
    }
    // The others go to their destination if that is 6 to 8, otherwise to one of the remaining
    // places.
    let mut free = vec![6, 7, 8];
    for bit in 3..9 {
        if order[bit] > 8 && free.contains(&places[bit]) {
            order[bit] = places[bit];
            free.retain(|place| *place != places[bit]);
        }
    }
    for to in order[3..].iter_mut().filter(|to| **to > 8) {
        *to = free.remove(0);
    }
    for (bit, to) in order.iter_mut().enumerate().take(3) {
        *to = bit;
    }
    // A turn reverses the bytes of a word.
    steps.push(Step::Bytes(byte_order(order, 7)));
    steps.push(Step::Turn);
    let before = *places;
    for bit in 0..9 {
        let now = match order[bit] {
            small @ 0..3 => small + 3,
            turned @ 3..6 => turned - 3,
            other => other,
        };
        places[now] = before[bit];
    }
}

/// Returns the order of bytes that moves index bit `i` to `places[i]` for `i >= 3`, its numbers
/// flipped by `flip`.
fn byte_order(places: [usize; 9], flip: usize) -> ByteOrder {
    ByteOrder(std::array::from_fn(|to| {
        let to = (to ^ flip) << 3;
        let from = (3..9).fold(0, |from, bit| from | (to >> places[bit] & 1) << bit);
        (from >> 3) as u8
    }))
}
