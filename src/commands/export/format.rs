//! The formats of an export: how a row is written.

use clap::ValueEnum;
use std::path::Path;
use terminal::exit::Refused;
use trinim::cli::choice::chosen;
use trinim::game::{Board, Value, position};

/// The positions of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Selection {
    /// positions that the player to move loses
    Losses,
    /// one loss of each class of images, with the size of the class
    Canonical,
    /// all positions, with their values
    Values,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// NumPy's format, for numpy.load
    Npy,
    /// comma-separated values with a header; masks are decimal
    Csv,
    /// one position a line, like 1/11/101, as probe reads it
    Rows,
}

/// Returns the number of a value: 1 for a win of the player to move, 0 for a loss.
pub fn number_of(value: Value) -> u64 {
    u64::from(value == Value::Win)
}

impl Selection {
    /// Returns the name of the second column and its type in NumPy, if there is one.
    fn column(self) -> Option<(&'static str, &'static str)> {
        match self {
            Selection::Losses => None,
            Selection::Canonical => Some(("orbit_size", "|u1")),
            Selection::Values => Some(("value", "|u1")),
        }
    }

    /// Appends the end of a line, with the second column if there is one.
    fn append(self, out: &mut Vec<u8>, separator: u8, other: u64) {
        if self != Selection::Losses {
            out.push(separator);
        }
        match self {
            Selection::Losses => {}
            Selection::Canonical => decimal(out, other),
            Selection::Values => out.extend_from_slice(if other == 1 { b"win" } else { b"loss" }),
        }
        out.push(b'\n');
    }
}

impl Format {
    /// Returns the given format, or the format for the extension of a file, or npy.
    pub fn chosen(given: Option<Format>, path: Option<&Path>) -> Result<Format, Refused> {
        let Some((path, end)) = path.and_then(|path| Some((path.display(), path.extension()?.to_string_lossy())))
        else {
            return Ok(given.unwrap_or(Format::Npy));
        };
        let said = match &*end {
            "npy" => Format::Npy,
            "csv" => Format::Csv,
            "txt" | "rows" => Format::Rows,
            _ => {
                let message = format!("--out {path}: unknown extension .{end}");
                return Err(Refused::new(message, "use .npy, .csv, .txt (rows), or a name without an extension"));
            }
        };
        match given {
            Some(other) if other != said => Err(Refused::new(
                format!("--out {path} contradicts --format {}", chosen(other)),
                "leave out --format, or give the file another extension",
            )),
            _ => Ok(said),
        }
    }
}

/// The header of NumPy's format, version 1.0: a Python literal, padded to 64 bytes.
fn npy_header(what: Selection, rows: u64) -> Vec<u8> {
    let descr = match what.column() {
        None => "'<u8'".to_owned(),
        Some((column, form)) => format!("[('position', '<u8'), ('{column}', '{form}')]"),
    };
    let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({rows},), }}");
    const FIXED_BYTES: usize = 10;
    let all = (FIXED_BYTES + text.len() + 1).next_multiple_of(64);
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend_from_slice(&((all - FIXED_BYTES) as u16).to_le_bytes());
    header.extend_from_slice(text.as_bytes());
    header.resize(all - 1, b' ');
    header.push(b'\n');
    header
}

/// A position and its second column, or 0.
pub type Row = (u64, u64);

/// Writes rows in one format.
pub struct Encoder {
    format: Format,
    what: Selection,
    /// The text of the empty position, and the offset of each cell in it.
    empty: Vec<u8>,
    places: Vec<usize>,
}

impl Encoder {
    pub fn new(board: &Board, format: Format, what: Selection) -> Encoder {
        let empty = position::rows(board, 0).into_bytes();
        let place = |cell: u32| {
            let with = position::rows(board, 1 << cell).into_bytes();
            empty.iter().zip(with).position(|(without, with)| *without != with).unwrap_or(0)
        };
        Encoder { format, what, places: (0..board.cells()).map(place).collect(), empty }
    }

    /// Returns the bytes before the rows.
    pub fn header(&self, rows: u64) -> Vec<u8> {
        match (self.format, self.what.column()) {
            (Format::Npy, _) => npy_header(self.what, rows),
            (Format::Csv, None) => b"position\n".to_vec(),
            (Format::Csv, Some((column, _))) => format!("position,{column}\n").into_bytes(),
            (Format::Rows, _) => Vec::new(),
        }
    }

    /// Appends rows, with a separate loop for each format.
    pub fn append(&self, rows: &[Row], out: &mut Vec<u8>) {
        match (self.format, self.what) {
            (Format::Npy, Selection::Losses) => {
                rows.iter().for_each(|(position, _)| out.extend_from_slice(&position.to_le_bytes()));
            }
            (Format::Npy, _) => rows.iter().for_each(|(position, other)| {
                out.extend_from_slice(&position.to_le_bytes());
                out.push(*other as u8);
            }),
            (Format::Csv, what) => rows.iter().for_each(|(position, other)| {
                decimal(out, *position);
                what.append(out, b',', *other);
            }),
            (Format::Rows, what) => rows.iter().for_each(|(position, other)| {
                self.text(out, *position);
                what.append(out, b'\t', *other);
            }),
        }
    }

    fn text(&self, out: &mut Vec<u8>, position: u64) {
        let start = out.len();
        out.extend_from_slice(&self.empty);
        let mut pieces = position;
        while pieces != 0 {
            out[start + self.places[pieces.trailing_zeros() as usize]] = b'1';
            pieces &= pieces - 1;
        }
    }
}

fn decimal(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_the_library() {
        let board = Board::triangle(5, None).unwrap();
        for position in (0..=board.full()).step_by(37).chain([board.full()]) {
            let rows = position::rows(&board, position);
            for (format, text) in [(Format::Rows, format!("{rows}\n")), (Format::Csv, format!("{position}\n"))] {
                let mut row = Vec::new();
                Encoder::new(&board, format, Selection::Losses).append(&[(position, 0)], &mut row);
                assert_eq!(String::from_utf8(row).unwrap(), text);
            }
        }
        let mut out = Vec::new();
        decimal(&mut out, u64::MAX);
        assert_eq!(out, u64::MAX.to_string().into_bytes());
    }

    #[test]
    fn headers_are_aligned_and_end_in_a_newline() {
        for what in [Selection::Losses, Selection::Canonical, Selection::Values] {
            for rows in [0, 7, 4_124_279_452, u64::MAX] {
                let header = npy_header(what, rows);
                assert_eq!((header.len() % 64, header.last()), (0, Some(&b'\n')));
                assert_eq!(header.len() - 10, usize::from(header[8]) | usize::from(header[9]) << 8);
                assert!(String::from_utf8_lossy(&header).contains(&format!("'shape': ({rows},)")));
            }
        }
    }
}
