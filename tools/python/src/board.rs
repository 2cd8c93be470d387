//! Boards and positions.

use crate::error::{not_a_position, refused};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyInt;
use std::path::PathBuf;
use trinim::game::{Rule, Takes, position};
use trinim::play::Names;

/// What a player calls the board of a game: cells, moves and symmetries.
#[pyclass(frozen, eq, module = "trinim")]
#[derive(Clone, PartialEq)]
pub(crate) struct Board(pub(crate) trinim::Board);

/// A board by its layers or by its name.
#[derive(FromPyObject)]
pub(crate) enum Shape {
    Layers(u32),
    Name(String),
}

/// A position by its mask or as text.
#[derive(FromPyObject)]
pub(crate) enum Position {
    Mask(u64),
    Text(String),
    Other(Py<PyAny>),
}

impl Position {
    /// The mask, if it is one of this board.
    pub(crate) fn on(self, board: &trinim::Board) -> PyResult<u64> {
        let mask = match self {
            Position::Mask(mask) => mask,
            Position::Text(text) => position::parse(board, &text).map_err(not_a_position)?,
            Position::Other(given) => {
                return Err(Python::attach(|py| match given.bind(py) {
                    given if given.is_instance_of::<PyInt>() => not_a_position(format!("{given} is not a mask")),
                    _ => PyTypeError::new_err("a position is an integer or a string"),
                }));
            }
        };
        check(board, mask, None)?;
        Ok(mask)
    }
}

/// Refuses a mask with cells that are not on the board; `index` is its place in an array.
pub(crate) fn check(board: &trinim::Board, mask: u64, index: Option<usize>) -> PyResult<()> {
    if mask & !board.full() == 0 {
        return Ok(());
    }
    let place = index.map_or(String::new(), |index| format!(" at index {index}"));
    Err(not_a_position(format!(
        "{mask:#x}{place} has pieces outside of the {} cells of {}",
        board.cells(),
        board.name()
    )))
}

pub(crate) fn rule(name: &str) -> PyResult<Rule> {
    name.parse::<Rule>().map_err(|error| refused(error, "say \"misere\" or \"normal\""))
}

/// An array of positions, flat, and its shape: of any integers, of which every one is checked. It
/// is a copy: another thread may change the given one while its positions are looked up.
pub(crate) fn positions<'py>(
    board: &trinim::Board,
    given: &Bound<'py, PyAny>,
) -> PyResult<(PyReadonlyArray1<'py, u64>, Bound<'py, PyAny>)> {
    let numpy = given.py().import("numpy")?;
    let array = numpy.call_method1("asarray", (given,))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    let is_empty = array.getattr("size")?.extract::<usize>()? == 0;
    if kind != "u" && kind != "i" && !is_empty {
        let dtype = array.getattr("dtype")?;
        return Err(PyTypeError::new_err(format!("positions are integers of at most 64 bits, not {dtype}")));
    }
    let shape = array.getattr("shape")?;
    let flat = numpy.call_method1("array", (array, "uint64"))?.call_method1("reshape", (-1,))?;
    let flat: PyReadonlyArray1<'py, u64> = flat.cast_into::<PyArray1<u64>>()?.readonly();
    for (index, mask) in flat.as_slice()?.iter().enumerate() {
        check(board, *mask, Some(index))?;
    }
    Ok((flat, shape))
}

#[pymethods]
impl Board {
    /// A triangle with this many layers, or a board by its name, like "rect:6x6" or "cram:4x5".
    #[new]
    #[pyo3(signature = (board, *, min_take = None, max_take = None))]
    fn new(board: Shape, min_take: Option<u32>, max_take: Option<u32>) -> PyResult<Board> {
        let name = match board {
            Shape::Layers(layers) => format!("triangle:{layers}"),
            Shape::Name(name) => name,
        };
        let built = trinim::Board::named(&name, Takes { least: min_take, most: max_take });
        built
            .map(Board)
            .map_err(|error| refused(error, "a number is the layers of a triangle; other boards have names"))
    }

    /// A board from a file that describes it, as `trinim --board` reads it.
    #[staticmethod]
    fn from_file(path: PathBuf) -> PyResult<Board> {
        let text = std::fs::read_to_string(&path)?;
        let board = trinim::Board::from_toml(&text, Takes::ANY);
        board.map(Board).map_err(|error| refused(format!("{}: {error}", path.display()), "see the page of trinim-game"))
    }

    /// "triangle:7", "rect:6x6", or what a file says.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Layers of a triangle; None for another board.
    #[getter]
    fn layers(&self) -> Option<u32> {
        self.0.layers()
    }

    /// Number of cells, which is the number of bits of a position.
    #[getter]
    fn cells(&self) -> u32 {
        self.0.cells()
    }

    /// The position with a piece on every cell.
    #[getter]
    fn full(&self) -> u64 {
        self.0.full()
    }

    /// Lengths of the rows, from the top.
    #[getter]
    fn rows(&self) -> Vec<u32> {
        self.0.rows().to_vec()
    }

    /// Coordinates of the cells, to the right and down.
    #[getter]
    fn places(&self) -> Vec<(f64, f64)> {
        self.0.places().iter().map(|[x, y]| (*x, *y)).collect()
    }

    /// Names of the cells, as players write them.
    #[getter]
    fn names(&self) -> Vec<String> {
        Names::new(&self.0).all().to_vec()
    }

    /// Reads a position: rows from the top, or a mask in hexadecimal, binary or decimal.
    fn parse(&self, text: String) -> PyResult<u64> {
        Position::Text(text).on(&self.0)
    }

    /// Writes a position as rows from the top: "1/11/101".
    fn format(&self, position: Position) -> PyResult<String> {
        Ok(position::rows(&self.0, position.on(&self.0)?))
    }

    /// Draws a position, x for a piece.
    fn picture(&self, position: Position) -> PyResult<String> {
        Ok(position::picture(&self.0, position.on(&self.0)?))
    }

    /// The legal moves of a position: masks of the pieces that each takes, ascending.
    fn moves<'py>(&self, py: Python<'py>, position: Position) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let position = position.on(&self.0)?;
        let legal = self.0.moves().iter().copied().filter(|taken| position & taken == *taken);
        Ok(PyArray1::from_iter(py, legal))
    }

    /// The smallest image of each position under the symmetries of the board.
    fn canonical<'py>(&self, py: Python<'py>, positions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (given, shape) = self::positions(&self.0, positions)?;
        let given = given.as_slice()?;
        let smallest =
            |mask: &u64| self.0.symmetries().iter().map(|symmetry| symmetry.apply(*mask)).min().unwrap_or(*mask);
        let images: Vec<u64> = py.detach(|| given.iter().map(smallest).collect());
        PyArray1::from_vec(py, images).call_method1("reshape", (shape,))
    }

    fn __repr__(&self) -> String {
        let takes = |name: &str, take: Option<u32>| take.map_or(String::new(), |take| format!(", {name}={take}"));
        let (least, most) = (takes("min_take", self.0.min_take()), takes("max_take", self.0.max_take()));
        match self.0.layers() {
            Some(layers) => format!("Board({layers}{least}{most})"),
            None => format!("Board({:?}{least}{most})", self.0.name()),
        }
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        (self.0.name(), self.0.moves()).hash(&mut hasher);
        hasher.finish()
    }
}
