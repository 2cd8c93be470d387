//! Encoding of a list.

use super::{STREAMS, SYMBOLS_MAX, codes, short_lengths};

/// Counters of a symbol. Most pieces are zero, and an increment waits for the last one of the same
/// counter: neighbours in a list use different ones.
const COUNTERS: usize = 4;

/// Counters and codes by symbol, reused from list to list.
pub(in crate::codec) struct Encoder {
    counts: Vec<[u32; COUNTERS]>,
    /// Code in the low half, length in the high one.
    codes: Vec<u32>,
}

impl Encoder {
    pub(in crate::codec) fn new() -> Encoder {
        Encoder { counts: vec![[0; COUNTERS]; 1 << 16], codes: vec![0; 1 << 16] }
    }

    /// Appends a list. Lists of too many different symbols are written as twice as many bytes.
    pub(in crate::codec) fn encode(&mut self, symbols: &[u16], out: &mut Vec<u8>) {
        let alphabet = self.count(symbols);
        let wide = alphabet.len() > SYMBOLS_MAX;
        out.push(u8::from(wide));
        if wide {
            self.forget(&alphabet);
            let bytes: Vec<u16> = symbols.iter().flat_map(|symbol| symbol.to_le_bytes().map(u16::from)).collect();
            let alphabet = self.count(&bytes);
            self.encode_symbols(&bytes, &alphabet, out);
        } else {
            self.encode_symbols(symbols, &alphabet, out);
        }
    }

    /// Counts the symbols; returns them in ascending order.
    fn count(&mut self, symbols: &[u16]) -> Vec<u16> {
        let mut alphabet = Vec::new();
        for group in symbols.chunks(COUNTERS) {
            for (symbol, counter) in group.iter().zip(0..COUNTERS) {
                let count = &mut self.counts[usize::from(*symbol)][counter];
                if *count == 0 {
                    alphabet.push(*symbol);
                }
                *count += 1;
            }
        }
        alphabet.sort_unstable();
        alphabet.dedup();
        alphabet
    }

    fn forget(&mut self, alphabet: &[u16]) {
        for symbol in alphabet {
            self.counts[usize::from(*symbol)] = [0; COUNTERS];
        }
    }

    fn encode_symbols(&mut self, symbols: &[u16], alphabet: &[u16], out: &mut Vec<u8>) {
        let count = |symbol: &u16| self.counts[usize::from(*symbol)].iter().sum::<u32>();
        let lengths = short_lengths(alphabet.iter().map(count).collect());
        self.forget(alphabet);
        let codes = match alphabet {
            [] => Vec::new(),
            _ => codes(&lengths).expect("Huffman lengths are those of a complete code"),
        };
        for ((symbol, code), length) in alphabet.iter().zip(codes).zip(&lengths) {
            self.codes[usize::from(*symbol)] = u32::from(code) | u32::from(*length) << 16;
        }
        out.extend_from_slice(&(alphabet.len() as u16).to_le_bytes());
        out.extend(alphabet.iter().flat_map(|symbol| symbol.to_le_bytes()));
        out.extend(lengths.chunks(2).map(|pair| pair[0] | pair.get(1).unwrap_or(&0) << 4));
        let part = symbols.len().div_ceil(STREAMS);
        let mut rest = symbols;
        for _ in 0..STREAMS {
            let (stream, after) = rest.split_at(part.min(rest.len()));
            self.encode_stream(stream, out);
            rest = after;
        }
    }

    fn encode_stream(&self, symbols: &[u16], out: &mut Vec<u8>) {
        let length = out.len();
        let start = length + 4;
        // A code takes less than two bytes, and eight are written at a time.
        out.resize(start + symbols.len() * 2 + 8, 0);
        let (mut bits, mut waiting, mut at) = (0u64, 0u32, start);
        for group in symbols.chunks(4) {
            // At most 7 bits wait, and four codes have at most 44.
            for symbol in group {
                let code = self.codes[usize::from(*symbol)];
                bits |= u64::from(code & 0xffff) << waiting;
                waiting += code >> 16;
            }
            out[at..at + 8].copy_from_slice(&bits.to_le_bytes());
            at += (waiting / 8) as usize;
            bits >>= waiting & !7;
            waiting %= 8;
        }
        out.truncate(at + usize::from(waiting > 0));
        let stored = (out.len() - start) as u32;
        out[length..start].copy_from_slice(&stored.to_le_bytes());
    }
}
