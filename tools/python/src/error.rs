//! The exceptions of the package, each with a hint.

use pipeline::Error as RunError;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::{PyTypeInfo, create_exception};
use std::path::Path;
use trinim::database::DatabaseError;
use trinim::job::JobError;
use trinim::plan::PlanError;
use trinim::play::AnswerError;
use trinim::solve::PartError;

create_exception!(trinim, TrinimError, PyException, "An error of trinim; `hint` suggests what to do.");
create_exception!(trinim, RefusedError, TrinimError, "A board, position or option that is not possible.");
create_exception!(trinim, NotKeptError, TrinimError, "The folder is intact, but does not keep the requested values.");
create_exception!(trinim, FolderError, TrinimError, "The folder has no finished database, or one of another solve.");
create_exception!(trinim, DamagedError, TrinimError, "A file is damaged.");
create_exception!(trinim, ResourceError, TrinimError, "The system refused a file, memory or disk space.");

/// The hint for every text that is no position.
pub(crate) const POSITION: &str =
    "write rows from the top like 1/11/101, or a mask of the cells like 0x2f, cell 0 in the lowest bit";

/// An error that Python sees as one of the exceptions above.
pub(crate) fn raised<E: PyTypeInfo>(message: String, hint: &str) -> PyErr {
    Python::attach(|py| {
        let error = PyErr::from_type(E::type_object(py), (message,));
        let value = error.value(py);
        // Nothing else of the error depends on these two.
        let set = value.setattr("hint", hint);
        let noted = if hint.is_empty() { Ok(()) } else { note(value, hint) };
        match set.and(noted) {
            Ok(()) => error,
            Err(other) => other,
        }
    })
}

/// Adds a line to what a traceback shows.
fn note(value: &Bound<'_, PyAny>, hint: &str) -> PyResult<()> {
    value.call_method1("add_note", (format!("hint: {hint}"),)).map(drop)
}

/// What was asked for is not possible.
pub(crate) fn refused(message: impl ToString, hint: &str) -> PyErr {
    raised::<RefusedError>(message.to_string(), hint)
}

/// A position is not one of the board.
pub(crate) fn not_a_position(message: impl ToString) -> PyErr {
    refused(message, POSITION)
}

/// A progress function is not possible, or a number is out of range.
pub(crate) fn wrong(message: &str) -> PyErr {
    PyValueError::new_err(message.to_owned())
}

/// The error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.ends_with(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

/// The commands for the run of a damaged file.
fn mend(path: &Path) -> String {
    let folder = path.parent().unwrap_or(path);
    let inner = ["db", "m", "logs"].iter().any(|name| folder.file_name().is_some_and(|found| found == *name));
    let run = if inner { folder.parent().unwrap_or(folder) } else { folder }.display();
    format!("run trinim check {run} to list all damage, then trinim repair {run} to restore what it can")
}

pub(crate) fn of_database(error: DatabaseError) -> PyErr {
    let message = chain(&error);
    match error {
        DatabaseError::Storage(error) => of_run(error),
        DatabaseError::Corrupt { path, .. } => raised::<DamagedError>(message, &mend(&path)),
        DatabaseError::Missing { .. } => {
            raised::<FolderError>(message, "name the folder of a finished solve; trinim.solve makes or finishes one")
        }
        DatabaseError::Version { .. } => {
            raised::<FolderError>(message, "use the version of trinim that wrote this folder")
        }
        DatabaseError::NotKept { .. } => raised::<NotKeptError>(
            message,
            "trinim.value solves positions of few pieces; a solve with keep=\"database\" keeps every value",
        ),
        _ => raised::<ResourceError>(message, "check that the folder can be read"),
    }
}

pub(crate) fn of_run(error: RunError) -> PyErr {
    let message = chain(&error);
    match &error {
        RunError::Interrupted => PyKeyboardInterrupt::new_err("stopped after a checkpoint"),
        RunError::Corrupt { path, .. } => raised::<DamagedError>(message, &mend(path)),
        RunError::Locked { .. } => {
            raised::<FolderError>(message, "wait for the other process, or choose another folder")
        }
        RunError::Parameters { .. } => {
            raised::<FolderError>(message, "use the parameters this folder was started with, or choose another folder")
        }
        RunError::Version { .. } | RunError::Codec { .. } => {
            raised::<FolderError>(message, "use the version of trinim that wrote this folder, or choose another folder")
        }
        RunError::NotEmpty { .. } | RunError::NotARun { .. } => {
            raised::<FolderError>(message, "choose a new or empty folder, or the folder of an earlier solve")
        }
        RunError::Memory { .. } => {
            raised::<ResourceError>(message, "use more memory, or smaller blocks with block_bits")
        }
        RunError::OutOfMemory { .. } => raised::<ResourceError>(message, "free memory on this machine"),
        RunError::Thread { .. } => {
            raised::<ResourceError>(message, "allow more processes (ulimit -u), or use fewer threads")
        }
        RunError::Limit { .. } => raised::<RefusedError>(message, "choose larger blocks with block_bits"),
        error if error.is_full_disk() => {
            raised::<ResourceError>(message, "free space on this disk, and call solve again")
        }
        error if error.is_too_many_files() => raised::<ResourceError>(message, "allow more open files (ulimit -n)"),
        _ => raised::<ResourceError>(message, "fix the cause, and call solve again to continue"),
    }
}

pub(crate) fn of_plan(error: PlanError) -> PyErr {
    let hint = match &error {
        PlanError::Disk { .. } => "free space on this disk, or choose a folder on a larger disk",
        PlanError::Memory { .. } => "use more memory, or smaller blocks with block_bits",
        _ => "choose other block_bits, or leave it out",
    };
    raised::<ResourceError>(chain(&error), hint)
}

pub(crate) fn of_job(error: JobError) -> PyErr {
    match error {
        JobError::Run(error) => of_run(error),
        JobError::Database(error) => of_database(error),
        JobError::Plan(error) => of_plan(error),
        JobError::Contradiction(_) => {
            refused(error, "nimbers need rule=\"normal\"; nimbers and distances are kept whole")
        }
        JobError::Cells { .. } => refused(error, "choose a smaller board"),
        error => refused(error, "leave keep out to use the default"),
    }
}

pub(crate) fn of_answer(error: AnswerError) -> PyErr {
    match error {
        AnswerError::Database(error) => of_database(error),
        AnswerError::Solve(error) => match error {
            PartError::Run(error) => of_run(error),
            PartError::Database(error) => of_database(error),
            PartError::Plan(error) => of_plan(error),
            error => refused(error, "use a database of the board"),
        },
        error => refused(error, "use a database of the board"),
    }
}
