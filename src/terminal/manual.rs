//! The self-description of every program: `man` (a manual page for each command and one about
//! positions), `completions` (for the Tab key of a shell) and `schema` (of its reports).
//!
//! Names and options come from the arguments, as in the help. The text after the options is laid
//! out by its own form: examples keep their lines, and the table of exit codes becomes a list.

use crate::exit::{self, Exit, Refused};
use crate::file::{OutputFile, OutputKind};
use crate::help::VARIABLES;
use crate::output::Out;
use crate::schema;
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use pipeline::Error;
use std::io::Write;
use trinim_game::position::FORMS;

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

/// Print completions for a shell
#[derive(Args)]
#[command(after_help = "\
Examples:
  trinim completions bash > ~/.local/share/bash-completion/completions/trinim
  trinim completions zsh > ~/.zfunc/_trinim")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

/// Runs `completions`: choices are completed by name, folders where an option takes a folder, files
/// where it takes a file, and nothing where it takes a number.
///
/// # Errors
/// Returns the error of a closed or full standard output.
pub fn complete(args: CompletionsArgs, command: Command, name: &str, out: &mut Out) -> anyhow::Result<Exit> {
    let (mut command, program) = match command.find_subcommand(name) {
        Some(own) => {
            let of_all = command.get_arguments().filter(|arg| arg.is_global_set()).cloned();
            (own.clone().args(of_all), format!("trinim-{name}"))
        }
        None => (command, "trinim".to_owned()),
    };
    // Into memory first: the generator panics if it cannot write.
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, program, &mut text);
    out.write_all(&text)?;
    Ok(Exit::Done)
}

const SCHEMA_EXAMPLES: &str = "\
Examples:
  trinim schema                            list the names
  trinim schema trinim.stats/1 > stats.schema.json
  trinim stats trinim-k5-misere --json > stats.json    what a validator compares with it

The first field of a report is the name of its schema. The schemas use JSON Schema 2020-12 and are strict: they allow \
only fields that this version prints.";

/// Print the JSON schema of a report, or list all reports
#[derive(Args)]
#[command(after_help = SCHEMA_EXAMPLES)]
pub struct SchemaArgs {
    /// Name and version of a report [default: list them]
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

/// The name of a report, with its version, and its shapes: one, or several for lines that differ.
pub type Report = (&'static str, &'static [schema::Shape]);

/// Runs `schema`: prints the schema of a report, or the names of all. Prefix and version of a name
/// can be left out.
///
/// # Errors
/// Returns [`Refused`] for an unknown name, and the error of a closed or full standard output.
pub fn schema(args: SchemaArgs, reports: &[Report], out: &mut Out) -> anyhow::Result<Exit> {
    let Some(name) = &args.name else {
        reports.iter().try_for_each(|(name, _)| writeln!(out, "{name}"))?;
        return Ok(Exit::Done);
    };
    let is_meant = |whole: &str| {
        let short = whole.strip_prefix("trinim.").and_then(|rest| rest.rsplit_once('/'));
        whole == name || short.is_some_and(|(short, _)| short == name)
    };
    let Some((name, shapes)) = reports.iter().find(|(whole, _)| is_meant(whole)) else {
        return Err(Refused::new(format!("unknown report {name:?}"), "leave out the name to list all reports").into());
    };
    writeln!(out, "{:#}", schema::of(name, shapes))?;
    Ok(Exit::Done)
}

/// Title of the manual, at the top of each page.
const MANUAL: &str = "trinim manual";
/// Version, at the foot of each page.
const SOURCE: &str = concat!("trinim ", env!("CARGO_PKG_VERSION"));
/// The page about positions, without its section.
const POSITIONS: &str = "trinim-positions";
/// The first line of a page defines an apostrophe; that of the page about positions is its title.
const PAGE: OutputKind = OutputKind {
    flag: "man",
    what: "manual page",
    is_own: |line| line.starts_with(".ie \\n(.g .ds Aq") || line.starts_with(".TH TRINIM"),
};

/// Runs `man`: writes all pages of trinim, or, in a program beside it, those of its command.
///
/// # Errors
/// Returns an error if a page cannot be written.
pub fn run(args: ManArgs, command: Command, name: &str, out: &mut Out) -> anyhow::Result<Exit> {
    let folder = &args.folder;
    std::fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut written = vec![(format!("{POSITIONS}.7"), positions())];
    pages(command.find_subcommand(name).unwrap_or(&command), &mut written);
    let claimed = written.iter().map(|(name, _)| OutputFile::claim(&folder.join(name), PAGE));
    let claimed = claimed.collect::<anyhow::Result<Vec<_>>>()?;
    claimed.iter().zip(&written).try_for_each(|(file, (_, text))| file.write(text))?;
    out.remark(format_args!("manual pages are in {}", folder.display()));
    Ok(Exit::Done)
}

/// Adds the pages of a command and its subcommands, with the names of their files.
fn pages(command: &Command, written: &mut Vec<(String, String)>) {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    written.push((format!("{name}.1"), page(command, &name)));
    command.get_subcommands().for_each(|subcommand| pages(subcommand, written));
}

fn page(command: &Command, name: &str) -> String {
    // Also the options that the help only lists.
    let whole = command.clone().mut_args(|arg| arg.hide(false));
    let man = Man::new(whole).title(name.to_uppercase()).source(SOURCE).manual(MANUAL);
    let mut text = Vec::new();
    // Writing into memory never fails.
    let _ = man
        .render_title(&mut text)
        .and_then(|()| man.render_name_section(&mut text))
        .and_then(|()| man.render_synopsis_section(&mut text))
        .and_then(|()| man.render_description_section(&mut text))
        .and_then(|()| man.render_options_section(&mut text));
    if command.has_subcommands() {
        let _ = man.render_subcommands_section(&mut text);
    }
    let mut roff = Roff::new();
    after(&mut roff, &command.get_after_help().map(ToString::to_string).unwrap_or_default());
    roff.control("SH", ["EXIT STATUS"]);
    terms(&mut roff, exit::MEANINGS.iter().map(|(exit, meaning)| ((*exit as u8).to_string(), *meaning)));
    roff.control("SH", ["ENVIRONMENT"]);
    terms(&mut roff, VARIABLES);
    see_also(&mut roff, command, name);
    let _ = roff.to_writer(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Writes the text after the options: indented lines, such as examples, unchanged, other lines
/// filled.
fn after(roff: &mut Roff, text: &str) {
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
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

/// Writes a list of terms with their meanings.
fn terms<'a>(roff: &mut Roff, list: impl IntoIterator<Item = (impl Into<String>, &'a str)>) {
    for (term, meaning) in list {
        roff.control("TP", []).text([bold(term)]).text([roman(meaning)]);
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
    terms(&mut roff, FORMS.map(|(meaning, text)| (text, meaning)));
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
