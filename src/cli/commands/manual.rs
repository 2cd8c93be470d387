//! `trinim man`: a manual page for each command, and one about positions.
//!
//! Names and options come from the arguments, as in the help. The text after the options is laid
//! out by its own form: examples keep their lines, the table of exit codes becomes a list.

use crate::cli::face::exit::{self, Exit};
use crate::cli::face::output::Out;
use clap::{Arg, ArgAction, Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};
use pipeline::Error;
use std::path::Path;
use trinim::game::position::FORMS;

/// Write the manual pages of all subcommands into a folder
#[derive(Args)]
#[command(after_help = "\
Examples:
  trinim man ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Folder for the pages, created if missing; existing pages are replaced
    #[arg(value_name = "DIR")]
    folder: std::path::PathBuf,
}

/// Title of the manual, at the top of each page.
const MANUAL: &str = "trinim manual";
/// Version, at the foot of each page.
const SOURCE: &str = concat!("trinim ", env!("CARGO_PKG_VERSION"));
/// The page about positions, without its section.
const POSITIONS: &str = "trinim-positions";

/// Runs `man`.
pub fn run(args: ManArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let folder = &args.folder;
    std::fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
    let mut command = crate::cli::command().disable_help_subcommand(true);
    command.build();
    pages(&command, folder)?;
    write(folder, &format!("{POSITIONS}.7"), &positions())?;
    out.remark(format_args!("manual pages are in {}", folder.display()));
    Ok(Exit::Done)
}

fn pages(command: &Command, folder: &Path) -> Result<(), Error> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    write(folder, &format!("{name}.1"), &page(command, &name))?;
    command.get_subcommands().try_for_each(|subcommand| pages(subcommand, folder))
}

fn write(folder: &Path, name: &str, text: &str) -> Result<(), Error> {
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(|error| Error::io("write", &path, error))
}

/// Returns the page of a command.
fn page(command: &Command, name: &str) -> String {
    let man = Man::new(command.clone()).title(name.to_uppercase()).source(SOURCE).manual(MANUAL);
    let mut text = Vec::new();
    // Writing into memory never fails.
    let _ = man.render_title(&mut text).and_then(|()| man.render_name_section(&mut text));
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]);
    synopsis(&mut roff, command);
    let _ = roff.to_writer(&mut text);
    let _ = man.render_description_section(&mut text).and_then(|()| man.render_options_section(&mut text));
    if command.has_subcommands() {
        let _ = man.render_subcommands_section(&mut text);
    }
    let mut roff = Roff::new();
    after(&mut roff, &command.get_after_help().map(ToString::to_string).unwrap_or_default());
    codes(&mut roff);
    environment(&mut roff, command);
    see_also(&mut roff, command, name);
    let _ = roff.to_writer(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Writes one line for each way to call the command: all options with their values, the required
/// ones first.
fn synopsis(roff: &mut Roff, command: &Command) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
    let (required, optional): (Vec<&Arg>, Vec<&Arg>) =
        command.get_arguments().filter(|arg| !arg.is_hide_set()).partition(|arg| arg.is_required_set());
    let mut line = vec![bold(&name)];
    let (positionals, options): (Vec<&Arg>, Vec<&Arg>) = required.into_iter().partition(|arg| arg.is_positional());
    for arg in options {
        line.push(roman(" "));
        line.extend(form(arg));
    }
    for arg in optional.iter().filter(|arg| !arg.is_positional()) {
        line.push(roman(" ["));
        line.extend(form(arg));
        line.push(roman("]"));
    }
    for arg in positionals {
        line.push(roman(" "));
        line.extend(form(arg));
    }
    for arg in optional.iter().filter(|arg| arg.is_positional()) {
        line.push(roman(" ["));
        line.extend(form(arg));
        line.push(roman("]"));
    }
    if command.has_subcommands() {
        let (open, close) = if command.is_subcommand_required_set() { (" ", "") } else { (" [", "]") };
        line.extend([roman(open), italic("COMMAND"), roman(close)]);
    }
    // Options are neither hyphenated nor spread to both margins.
    roff.control("nh", []).control("ad", ["l"]).text(line).control("ad", ["b"]).control("hy", []);
}

/// Returns an argument with its value, like `-k K` or `--suite [SUITE]`.
fn form(arg: &Arg) -> Vec<Inline> {
    let mut line = Vec::new();
    match (arg.get_short(), arg.get_long()) {
        (_, Some(long)) => line.push(bold(format!("--{long}"))),
        (Some(short), None) => line.push(bold(format!("-{short}"))),
        (None, None) => {}
    }
    let takes_value = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    if takes_value {
        let values = arg.get_value_names().map_or_else(|| arg.get_id().to_string(), |names| names.join(" "));
        let is_optional = arg.get_num_args().is_some_and(|range| range.min_values() == 0) && !arg.is_positional();
        if !line.is_empty() {
            line.push(roman(if is_optional { " [" } else { " " }));
        }
        line.push(italic(values));
        if is_optional {
            line.push(roman("]"));
        }
        if arg.is_positional() && matches!(arg.get_action(), ArgAction::Append) {
            line.push(roman(" ..."));
        }
    }
    line
}

/// Writes the text after the options: indented lines, such as examples, as they stand, other lines
/// filled. The table of exit codes has a section of its own.
fn after(roff: &mut Roff, text: &str) {
    for paragraph in text.split("\n\n").filter(|paragraph| *paragraph != exit::TABLE && !paragraph.is_empty()) {
        let lines: Vec<&str> = paragraph.lines().collect();
        for part in lines.chunk_by(|one, next| one.starts_with("  ") == next.starts_with("  ")) {
            match part {
                ["Examples:"] => {
                    roff.control("SH", ["EXAMPLES"]);
                }
                [first, ..] if first.starts_with("  ") => as_it_stands(roff, &part.join("\n")),
                _ => {
                    roff.control("PP", []).text([roman(part.join(" "))]);
                }
            }
        }
    }
}

fn as_it_stands(roff: &mut Roff, text: &str) {
    roff.control("PP", []).control("nf", []);
    for line in text.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
}

fn codes(roff: &mut Roff) {
    roff.control("SH", ["EXIT STATUS"]);
    for line in exit::TABLE.lines().skip(1).map(str::trim) {
        let Some((code, meaning)) = line.split_once(' ') else { continue };
        roff.control("TP", []).text([bold(code)]).text([roman(meaning.trim())]);
    }
}

fn environment(roff: &mut Roff, command: &Command) {
    roff.control("SH", ["ENVIRONMENT"]);
    for arg in command.get_arguments() {
        if let (Some(variable), Some(flag)) = (arg.get_env().and_then(|name| name.to_str()), arg.get_long()) {
            roff.control("TP", []).text([bold(variable)]);
            roff.text([roman("Value of "), bold(format!("--{flag}")), roman(" if the option is not given")]);
        }
    }
    let others = [
        ("NO_COLOR", "If set and not empty, output has no colours unless --color says otherwise"),
        ("COLUMNS", "Width of boards and tables where it cannot be asked of a terminal"),
    ];
    for (name, meaning) in others {
        roff.control("TP", []).text([bold(name)]).text([roman(meaning)]);
    }
}

fn see_also(roff: &mut Roff, command: &Command, name: &str) {
    let mut pages: Vec<String> = match name.rsplit_once('-') {
        Some((parent, _)) => vec![format!("{parent}(1)")],
        None => Vec::new(),
    };
    pages.extend(command.get_subcommands().map(|one| format!("{name}-{}(1)", one.get_name())));
    pages.push(format!("{POSITIONS}(7)"));
    roff.control("SH", ["SEE ALSO"]).text([roman(pages.join(", "))]);
}

/// Returns the page about positions.
fn positions() -> String {
    let title = POSITIONS.to_uppercase();
    let mut roff = Roff::new();
    roff.control("TH", [title.as_str(), "7", "", SOURCE, MANUAL]);
    roff.control("SH", ["NAME"]).text([roman(format!("{POSITIONS} - how positions of a board are written"))]);
    roff.control("SH", ["DESCRIPTION"]).text([roman(
        "A board of K layers is a triangle with one cell in its first row and K cells in its last. Rows and cells \
         count from 0: cell (row, column) has the index row * (row + 1) / 2 + column. The picture shows the indices \
         of three layers, and a position with pieces on the cells 0, 1, 2, 3 and 5.",
    )]);
    as_it_stands(&mut roff, "      0              x\n     1 2            x x\n    3 4 5          x . x");
    roff.control("SH", ["FORMS"]).text([roman("Each of these texts is the position of the picture:")]);
    for (meaning, text) in FORMS {
        roff.control("TP", []).text([bold(text)]).text([roman(meaning)]);
    }
    roff.control("PP", []).text([roman(
        "Reports write rows separated by slashes and the mask in hexadecimal. A move is a list of the indices of the \
         cells that it empties.",
    )]);
    roff.control("SH", ["EXAMPLES"]);
    as_it_stands(
        &mut roff,
        "trinim probe trinim-k7-misere 1/11/101/0000/00000/000000/0000000\n\
         trinim probe trinim-k7-misere 0x2f",
    );
    roff.control("SH", ["SEE ALSO"]).text([roman("trinim(1), trinim-probe(1)")]);
    roff.to_roff()
}
