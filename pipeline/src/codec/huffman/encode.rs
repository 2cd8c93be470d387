//! Encoding of a list.

use super::{LONGEST, STREAMS, SYMBOLS_MAX, codes, short_lengths};

/// Counters of a symbol. Most pieces are zero, and an increment waits for the last one of the same
/// counter, so neighbours in a list use different counters.
const COUNTERS: usize = 4;

/// Counters and codes by symbol, reused from list to list.
pub(in crate::codec) struct Encoder {
    /// By symbol. While symbols are counted: the number of its counters, 0 for a new symbol.
    /// Afterwards: its code in the lowest [`LONGEST`] bits, and above them the length of the code.
    /// In between, all are 0. A table of the counters themselves would take so many pages that
    /// finding them takes longer than counting.
    places: Vec<u16>,
    counts: Box<[[u32; COUNTERS]; 2 * SYMBOLS_MAX]>,
    /// The different symbols that were counted.
    alphabet: Vec<u16>,
}

impl Encoder {
    pub(in crate::codec) fn new() -> Encoder {
        let counts = Box::new([[0; COUNTERS]; 2 * SYMBOLS_MAX]);
        Encoder { places: vec![0; 1 << 16], counts, alphabet: Vec::new() }
    }

    /// Appends a list. A list of too many different symbols is written as twice as many bytes.
    pub(in crate::codec) fn encode(&mut self, symbols: &[u16], out: &mut Vec<u8>) {
        if self.count(symbols) {
            out.push(0);
            self.encode_symbols(symbols, out);
        } else {
            self.forget();
            let bytes: Vec<u16> = symbols.iter().flat_map(|symbol| symbol.to_le_bytes().map(u16::from)).collect();
            let is_counted = self.count(&bytes);
            assert!(is_counted, "there are 256 bytes");
            out.push(1);
            self.encode_symbols(&bytes, out);
        }
    }

    /// Counts the symbols. Returns false, with some of them not counted, if there are more than
    /// [`SYMBOLS_MAX`].
    fn count(&mut self, symbols: &[u16]) -> bool {
        let (groups, rest) = symbols.as_chunks::<COUNTERS>();
        let mut is_counted = true;
        for group in groups {
            for (counter, symbol) in group.iter().enumerate() {
                is_counted &= self.count_one(*symbol, counter);
            }
            if !is_counted {
                return false;
            }
        }
        for (counter, symbol) in rest.iter().enumerate() {
            is_counted &= self.count_one(*symbol, counter);
        }
        is_counted
    }

    #[inline(always)]
    fn count_one(&mut self, symbol: u16, counter: usize) -> bool {
        let place = &mut self.places[usize::from(symbol)];
        if *place == 0 {
            if self.alphabet.len() == SYMBOLS_MAX {
                return false;
            }
            self.alphabet.push(symbol);
            *place = self.alphabet.len() as u16;
        }
        self.counts[usize::from(*place) % (2 * SYMBOLS_MAX)][counter] += 1;
        true
    }

    fn forget(&mut self) {
        self.counts[..=self.alphabet.len()].fill([0; COUNTERS]);
        for symbol in self.alphabet.drain(..) {
            self.places[usize::from(symbol)] = 0;
        }
    }

    fn encode_symbols(&mut self, symbols: &[u16], out: &mut Vec<u8>) {
        self.alphabet.sort_unstable();
        let count = |symbol: &u16| self.counts[usize::from(self.places[usize::from(*symbol)])].iter().sum::<u32>();
        let lengths = short_lengths(self.alphabet.iter().map(count).collect());
        let codes = match &self.alphabet[..] {
            [] => Vec::new(),
            _ => codes(&lengths).expect("Huffman lengths are those of a complete code"),
        };
        for ((symbol, code), length) in self.alphabet.iter().zip(codes).zip(&lengths) {
            self.places[usize::from(*symbol)] = code | u16::from(*length) << LONGEST;
        }
        out.extend_from_slice(&(self.alphabet.len() as u16).to_le_bytes());
        out.extend(self.alphabet.iter().flat_map(|symbol| symbol.to_le_bytes()));
        out.extend(lengths.chunks(2).map(|pair| pair[0] | pair.get(1).unwrap_or(&0) << 4));
        let part = symbols.len().div_ceil(STREAMS);
        let mut rest = symbols;
        for _ in 0..STREAMS {
            let (stream, after) = rest.split_at(part.min(rest.len()));
            self.encode_stream(stream, out);
            rest = after;
        }
        self.forget();
    }

    /// Returns the code of a symbol, and its length.
    #[inline(always)]
    fn code(&self, symbol: u16) -> (u64, u32) {
        let code = self.places[usize::from(symbol)];
        (u64::from(code % (1 << LONGEST)), u32::from(code >> LONGEST))
    }

    fn encode_stream(&self, symbols: &[u16], out: &mut Vec<u8>) {
        let length = out.len();
        let start = length + 4;
        // A code takes less than two bytes, and eight are written at a time.
        out.resize(start + symbols.len() * 2 + 8, 0);
        let (mut bits, mut waiting, mut at) = (0u64, 0u32, start);
        let (groups, rest) = symbols.as_chunks::<4>();
        for [a, b, c, d] in groups {
            // At most 7 bits wait, and four codes have at most 44. Two pairs, then one group, so
            // that the next group waits for one addition.
            let [(a, to_b), (b, to_c), (c, to_d), (d, end)] =
                [self.code(*a), self.code(*b), self.code(*c), self.code(*d)];
            let (low, high, to_high) = (a | b << to_b, c | d << to_d, to_b + to_c);
            bits |= (low | high << to_high) << waiting;
            waiting += to_high + to_d + end;
            out[at..at + 8].copy_from_slice(&bits.to_le_bytes());
            at += (waiting / 8) as usize;
            bits >>= waiting & !7;
            waiting %= 8;
        }
        for symbol in rest {
            let (code, length) = self.code(*symbol);
            bits |= code << waiting;
            waiting += length;
        }
        out[at..at + 8].copy_from_slice(&bits.to_le_bytes());
        out.truncate(at + waiting.div_ceil(8) as usize);
        let stored = (out.len() - start) as u32;
        out[length..start].copy_from_slice(&stored.to_le_bytes());
    }
}
