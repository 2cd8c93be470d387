//! Reads log entries and verifies every byte of them.
//!
//! # Path of an entry
//! extent (from the journal) → header, checked against its place → frame headers and payloads,
//! checked by their hashes → the hash over all header hashes, compared with the one in the journal.
//!
//! # Invariants
//! 1. Only bytes inside the extent are read. An extent that ends inside a frame, or holds more than
//!    its frames, is damage.
//! 2. No part of an entry counts before [`EntryReader::next_frame`] returns `None`: only then is it
//!    certain that no frame was lost, doubled or stale.

use super::entry::{ENTRY_FIXED_BYTES, EntryHeader};
use super::frame::{ExtentHash, FRAME_HEADER_BYTES, FrameHeader, words_of_frames};
use super::place::{Extent, Place};
use crate::codec::{self, Codec, DecodeError, Scratch};
use crate::error::Error;
use crate::ids::RunId;
use crate::measure::metrics::Metrics;
use crate::measure::stage::Stage;
use crate::storage::{Storage, StorageFile};
use std::sync::Arc;

/// Bytes per read of headers; the rest of a payload is read directly into its own buffer.
const READ_BYTES: usize = 64 << 10;

/// An entry that is being read, frame by frame.
pub(crate) struct EntryReader<'a> {
    extent: &'a Extent,
    source: Source<'a>,
    stream_words: u64,
    frame_words: usize,
    frames: u32,
    entry_hash: u64,
    hash: ExtentHash,
    next: u32,
}

/// A frame as stored; its hashes were correct.
pub(crate) struct StoredFrame {
    header: FrameHeader,
    payload: Vec<u8>,
}

impl StoredFrame {
    /// Returns the number of words after decoding.
    pub(crate) fn words(&self) -> usize {
        self.header.raw_words
    }

    /// Decodes into exactly [`StoredFrame::words`] words.
    pub(crate) fn decode_into(&self, words: &mut [u64], scratch: &mut Scratch) -> Result<(), DecodeError> {
        codec::decode_frame(self.header.codec, &self.payload, words, scratch)
    }
}

impl<'a> EntryReader<'a> {
    /// Opens the file of an extent and reads the header of the entry; the frames follow.
    pub(crate) fn open(
        storage: &dyn Storage,
        run_id: RunId,
        metrics: &'a Metrics,
        extent: &'a Extent,
    ) -> Result<(EntryHeader, EntryReader<'a>), Error> {
        let mut source = Source::open(storage, metrics, extent)?;
        let place = Place { run_id, file: extent.file, offset: extent.offset };
        let begin = source.position();
        let mut fixed_bytes = [0; ENTRY_FIXED_BYTES];
        fixed_bytes.copy_from_slice(source.take(ENTRY_FIXED_BYTES)?);
        let fixed = EntryHeader::parse_fixed(&fixed_bytes, &place).map_err(|what| source.damage(begin, what))?;
        let begin = source.position();
        let header = EntryHeader::parse_routes(&fixed, source.take(fixed.routes_bytes)?)
            .map_err(|what| source.damage(begin, what))?;
        if header.source != extent.source || header.placement != extent.file.placement {
            return Err(source.damage(begin, "entry of a source other than the journal's"));
        }
        let (stream_words, frames, entry_hash) = (header.stream_words, header.frames, fixed.hash);
        let frame_words = words_of_frames(stream_words, frames);
        let frame_words = frame_words.ok_or_else(|| source.damage(begin, "entry header lengths"))?;
        let hash = ExtentHash::new(entry_hash);
        Ok((header, EntryReader { extent, source, stream_words, frame_words, frames, entry_hash, hash, next: 0 }))
    }

    /// Returns the next frame, or `None` after the last one if the hash of the extent is correct.
    pub(crate) fn next_frame(&mut self) -> Result<Option<StoredFrame>, Error> {
        if self.next == self.frames {
            return self.end().map(|()| None);
        }
        let begin = self.source.position();
        let header = self.header()?;
        let source = &mut self.source;
        let payload = source.payload(header.payload_bytes)?;
        if !header.fits(&payload) {
            return Err(source.damage(begin, "frame payload hash"));
        }
        Ok(Some(StoredFrame { header, payload }))
    }

    /// Reads the header of the next frame; its payload follows.
    fn header(&mut self) -> Result<FrameHeader, Error> {
        let source = &mut self.source;
        let begin = source.position();
        let mut header_bytes = [0; FRAME_HEADER_BYTES];
        header_bytes.copy_from_slice(source.take(FRAME_HEADER_BYTES)?);
        let lengths = (self.stream_words, self.frame_words);
        let header = FrameHeader::parse(&header_bytes, self.next, self.entry_hash, lengths)
            .map_err(|what| source.damage(begin, what))?;
        if let Some(codec) = codec::withdrawn(header.codec) {
            return Err(Error::Codec { path: source.file.path(), codec });
        }
        self.hash.add(header.hash);
        self.next += 1;
        Ok(header)
    }

    fn end(&self) -> Result<(), Error> {
        let source = &self.source;
        assert_eq!(self.next, self.frames, "log reader, invariant 2: frames of an entry that ends");
        if source.position() != source.end {
            return Err(source.damage(source.position(), "bytes after the last frame of an entry"));
        }
        if self.hash.value() != self.extent.hash {
            return Err(source.damage(self.extent.offset, "extent hash (a frame was lost, doubled or is stale)"));
        }
        Ok(())
    }
}

/// Refuses an entry in a codec of another version. Its payloads are not read, and any other error
/// is left to the reader of the entry.
pub(crate) fn refuse_withdrawn(storage: &dyn Storage, run_id: RunId, extent: &Extent) -> Result<(), Error> {
    let metrics = Metrics::default();
    let headers = || -> Result<(), Error> {
        let (_, mut entry) = EntryReader::open(storage, run_id, &metrics, extent)?;
        while entry.next < entry.frames {
            let header = entry.header()?;
            // Any entry can have frames of zeros, and raw frames where its codec would take more
            // bytes.
            if ![codec::ZERO, codec::Raw.tag()].contains(&header.codec) {
                break;
            }
            entry.source.skip(header.payload_bytes)?;
        }
        Ok(())
    };
    match headers() {
        Err(error @ Error::Codec { .. }) => Err(error),
        _ => Ok(()),
    }
}

/// Sequential reads inside one extent.
struct Source<'a> {
    file: Arc<dyn StorageFile>,
    metrics: &'a Metrics,
    /// Offset in the file of the first byte after the buffer.
    at: u64,
    end: u64,
    buffer: Vec<u8>,
    start: usize,
}

impl<'a> Source<'a> {
    fn open(storage: &dyn Storage, metrics: &'a Metrics, extent: &Extent) -> Result<Source<'a>, Error> {
        let _time = metrics.enter(Stage::Read);
        let file = storage.open(&extent.file.name())?;
        Ok(Source { file, metrics, at: extent.offset, end: extent.end(), buffer: Vec::new(), start: 0 })
    }

    fn position(&self) -> u64 {
        self.at - (self.buffer.len() - self.start) as u64
    }

    fn take(&mut self, bytes: usize) -> Result<&[u8], Error> {
        let have = self.buffer.len() - self.start;
        if have < bytes {
            let left = self.end - self.at;
            let missing = (bytes - have) as u64;
            if missing > left {
                return Err(self.damage(self.position(), "entry ends inside a frame"));
            }
            self.buffer.drain(..self.start);
            self.start = 0;
            let amount = left.min(missing.max(READ_BYTES as u64));
            self.buffer.resize(have + amount as usize, 0);
            let _time = self.metrics.enter(Stage::Read);
            self.file.read_exact_at(&mut self.buffer[have..], self.at)?;
            self.pass(amount);
        }
        let start = self.start;
        self.start += bytes;
        Ok(&self.buffer[start..start + bytes])
    }

    /// Returns how many of the next `bytes` bytes are not in the buffer.
    fn missing(&self, bytes: usize) -> Result<u64, Error> {
        let missing = bytes.saturating_sub(self.buffer.len() - self.start) as u64;
        if missing > self.end - self.at {
            return Err(self.damage(self.position(), "entry ends inside a frame"));
        }
        Ok(missing)
    }

    /// Skips the next `bytes` bytes.
    fn skip(&mut self, bytes: usize) -> Result<(), Error> {
        let missing = self.missing(bytes)?;
        self.start += bytes - missing as usize;
        self.at += missing;
        Ok(())
    }

    /// Reads the next `bytes` bytes into their own buffer; copies only the part that was read with
    /// the header.
    fn payload(&mut self, bytes: usize) -> Result<Vec<u8>, Error> {
        let missing = self.missing(bytes)?;
        let mut payload = vec![0; bytes];
        let (buffered, rest) = payload.split_at_mut(bytes - missing as usize);
        buffered.copy_from_slice(&self.buffer[self.start..self.start + buffered.len()]);
        self.start += buffered.len();
        if !rest.is_empty() {
            let _time = self.metrics.enter(Stage::Read);
            self.file.read_exact_at(rest, self.at)?;
            self.pass(missing);
        }
        Ok(payload)
    }

    fn pass(&mut self, bytes: u64) {
        self.metrics.counters.log_bytes_read.add(bytes);
        self.at += bytes;
        assert!(self.at <= self.end, "log reader, invariant 1: byte {} of an entry that ends at {}", self.at, self.end);
    }

    fn damage(&self, offset: u64, what: &'static str) -> Error {
        Error::corrupt(self.file.path(), offset, what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{FRAME_WORDS, Raw};
    use crate::ids::BlockId;
    use crate::log::frame::{Frame, LONG_FRAME_WORDS, frame_words};
    use crate::log::place::{LogFile, Placement};
    use crate::testing::SimulatedStorage;

    const FILE: LogFile = LogFile { placement: Placement::Dedicated, bucket: BlockId(9), generation: 2 };
    const RUN_ID: RunId = RunId(7);

    /// Builds the entry of a stream in frames of this length, which `change` can change.
    fn entry(
        words: &[u64],
        frame_words: usize,
        placement: Placement,
        change: &dyn Fn(usize, &mut Frame),
    ) -> (Vec<u8>, Extent) {
        let (source, stream_words) = (BlockId(3), words.len() as u64);
        let frames = words.len().div_ceil(frame_words) as u32;
        let header = EntryHeader { source, placement, stream_words, frames, routes: Vec::new() };
        let (mut bytes, own) = header.to_bytes(&Place { run_id: RUN_ID, file: FILE, offset: 0 });
        let mut hash = ExtentHash::new(own);
        for (index, words) in words.chunks(frame_words).enumerate() {
            let mut frame = Frame::encode(&Raw, words, &mut Scratch::default(), &mut Vec::new());
            change(index, &mut frame);
            frame.append_to(index as u32, own, &mut hash, &mut bytes);
        }
        let extent = Extent { file: FILE, offset: 0, length: bytes.len() as u64, hash: hash.value(), source };
        (bytes, extent)
    }

    fn disk(bytes: &[u8]) -> SimulatedStorage {
        let disk = SimulatedStorage::new(1);
        disk.create_dir("logs").unwrap();
        disk.put(&FILE.name(), bytes);
        disk
    }

    /// Reads an entry of this many words; returns the lengths of its frames, and the words.
    fn read(disk: &SimulatedStorage, extent: &Extent, words: usize) -> Result<(Vec<usize>, Vec<u64>), Error> {
        let metrics = Metrics::default();
        let (_, mut entry) = EntryReader::open(disk, RUN_ID, &metrics, extent)?;
        let (mut back, mut lengths, mut begin) = (vec![1; words], Vec::new(), 0);
        while let Some(frame) = entry.next_frame()? {
            lengths.push(frame.words());
            frame.decode_into(&mut back[begin..begin + frame.words()], &mut Scratch::default()).unwrap();
            begin += frame.words();
        }
        Ok((lengths, back))
    }

    /// Each check of an entry whose headers and frames have correct hashes, by its place in the
    /// journal.
    #[test]
    fn an_entry_is_the_one_that_the_journal_names() {
        let words: Vec<u64> = (0..FRAME_WORDS as u64 + 3).collect();
        let read = |placement: Placement, change: &dyn Fn(&mut Extent)| {
            let (mut bytes, mut extent) = entry(&words, FRAME_WORDS, placement, &|_, _| {});
            change(&mut extent);
            // Bytes after the entry.
            bytes.resize(bytes.len() + 4096, 0);
            read(&disk(&bytes), &extent, words.len())
        };
        let refused = |wanted: &str, found: Result<_, Error>| {
            let error = found.expect_err(wanted).to_string();
            assert!(error.contains(wanted), "{error}, not: {wanted}");
        };
        let own = FILE.placement;
        read(own, &|_| {}).unwrap();
        refused("a source other than the journal's", read(own, &|extent| extent.source = BlockId(4)));
        refused("a source other than the journal's", read(Placement::Shared, &|_| {}));
        refused("bytes after the last frame", read(own, &|extent| extent.length += 1));
        refused("entry ends inside a frame", read(own, &|extent| extent.length -= 1));
        refused("entry ends inside a frame", read(own, &|extent| extent.length = 40));
        refused("extent hash", read(own, &|extent| extent.hash ^= 1));
    }

    /// The codec of an entry is that of its first frame that is neither zeros nor raw; a header
    /// with a wrong hash proves nothing.
    #[test]
    fn an_entry_in_a_codec_of_another_version_is_refused() {
        let refused = |codecs: &[u8], is_damaged: bool| {
            let words = vec![1; codecs.len() * FRAME_WORDS];
            let (mut bytes, extent) =
                entry(&words, FRAME_WORDS, FILE.placement, &|index, frame| frame.codec = codecs[index]);
            // The last byte of the last header.
            let damaged = bytes.len() - 8 * FRAME_WORDS - 1;
            bytes[damaged] ^= u8::from(is_damaged);
            let disk = disk(&bytes);
            match refuse_withdrawn(&disk, RUN_ID, &extent) {
                Ok(()) => None,
                Err(Error::Codec { path, codec }) if path == disk.path(&FILE.name()) => Some(codec),
                Err(other) => panic!("{other}"),
            }
        };
        for (codec, name) in [(3, "zstd3"), (4, "gaps"), (5, "rows"), (6, "rows-zstd1")] {
            assert_eq!((refused(&[codec], false), refused(&[codec], true)), (Some(name), None));
            assert_eq!((refused(&[0, 1, codec], false), refused(&[0, 1, codec], true)), (Some(name), None));
        }
        for codec in [0, 1, 2, 7, 8, 9] {
            assert_eq!(refused(&[1, codec], false), None);
        }
        // Also after frames of any kind.
        let (bytes, extent) = entry(&[1], FRAME_WORDS, FILE.placement, &|_, frame| frame.codec = 4);
        assert!(matches!(read(&disk(&bytes), &extent, 1), Err(Error::Codec { codec: "gaps", .. })));
    }

    /// Long streams come in long frames, and in short ones from earlier versions.
    #[test]
    fn a_long_stream_may_come_in_short_frames() {
        let least = 16 * LONG_FRAME_WORDS;
        for words in [least - 1, least, least + LONG_FRAME_WORDS + 3] {
            // A few non-zero words, among them the first and the last of a frame.
            let mut stream = vec![0; words];
            for word in [0, FRAME_WORDS - 1, FRAME_WORDS, LONG_FRAME_WORDS, words - 1] {
                stream[word] = word as u64 | 1;
            }
            let read = |frame_words: usize| {
                let (bytes, extent) = entry(&stream, frame_words, FILE.placement, &|_, _| {});
                let (lengths, back) = read(&disk(&bytes), &extent, words)?;
                assert!(back == stream, "{frame_words}");
                Ok::<_, Error>(lengths)
            };
            let today = frame_words(words as u64);
            assert_eq!(today, if words < least { FRAME_WORDS } else { LONG_FRAME_WORDS });
            for cut in [FRAME_WORDS, LONG_FRAME_WORDS] {
                let lengths = read(cut).unwrap();
                assert_eq!(lengths, stream.chunks(cut).map(<[u64]>::len).collect::<Vec<_>>());
            }
            let error = read(2 * FRAME_WORDS).unwrap_err().to_string();
            assert!(error.contains("entry header lengths"), "{error}");
        }
    }
}
