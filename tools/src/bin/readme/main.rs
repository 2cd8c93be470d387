//! Generates everything that is made from a record (the output of `trinim papers bench --json`):
//! the tables of README.md and benches/README.md, the plots of the latter, and the record's own
//! page.
//!
//! `cargo run --release -p tools --bin readme -- benches/record/DATE.json` rewrites the region
//! between two comments in both pages, and page and plots beside the record. The default is the
//! record that README.md names. A test compares all of them with that record.
//!
//! `cargo run -p tools --bin readme -- JSON.md` rewrites JSON.md below its introduction, from the
//! schemas that the programs print; build them first.

mod bars;
mod json;
mod page;
mod region;

use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use trinim_papers::record::Record;

fn main() -> Result<()> {
    let root = root()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let readme = root.join("README.md");
    let text = std::fs::read_to_string(&readme).with_context(|| readme.display().to_string())?;
    let name = match &arguments[..] {
        [] => region::record_name(&text)?.to_owned(),
        [page] if page == "JSON.md" => return write_json(&root),
        [name] if !name.starts_with('-') => {
            let path = Path::new(name).canonicalize().with_context(|| name.clone())?;
            let below = path.strip_prefix(root.canonicalize()?).context("the record is outside the repository")?;
            below.to_str().context("a path with a plain name")?.to_owned()
        }
        _ => bail!("expected a record, like benches/record/2026-11-26-full.json, or nothing"),
    };
    let made = made(&root, &name, &text)?;
    for (path, content) in made {
        std::fs::write(&path, content).with_context(|| path.display().to_string())?;
        println!("{}", path.display());
    }
    Ok(())
}

/// The programs whose reports JSON.md has.
const PROGRAMS: [&str; 3] = ["trinim", "trinim-task", "trinim-papers"];

/// Rewrites JSON.md from the schemas of the programs beside this one, each report once.
fn write_json(root: &Path) -> Result<()> {
    let mut schemas: Vec<(String, serde_json::Value)> = Vec::new();
    for name in PROGRAMS {
        let program = std::env::current_exe()?.with_file_name(name);
        let run = |args: &[&str]| {
            let output = std::process::Command::new(&program).args(args).output();
            output.map_or_else(|_| String::new(), |output| String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let printed = json::schemas(run);
        if printed.is_empty() {
            bail!("{} prints no schemas: build it first", program.display());
        }
        schemas.extend(printed);
    }
    let mut known = BTreeSet::new();
    schemas.retain(|(name, _)| known.insert(name.clone()));
    let path = root.join("JSON.md");
    let page = std::fs::read_to_string(&path)?;
    Ok(std::fs::write(&path, json::written(&page, &schemas))?)
}

fn root() -> Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("tools has a parent folder")?;
    Ok(root.to_path_buf())
}

/// Generates README.md and benches/README.md with their regions for the record `name`, and page and
/// plots beside it.
fn made(root: &Path, name: &str, readme: &str) -> Result<Vec<(PathBuf, String)>> {
    let path = root.join(name);
    let json = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let record: Record = serde_json::from_str(&json).with_context(|| format!("{} is not a record", path.display()))?;
    let mut evaluated = record.clone();
    evaluated.evaluate();
    if evaluated != record {
        bail!("{}: the figures do not follow from the runs", path.display());
    }
    let stem = name.strip_suffix(".json").context("a record ends in .json")?;
    let readme = region::replaced(readme, name, &region::short(&record)?).context("README.md")?;
    let benches = root.join("benches/README.md");
    let text = std::fs::read_to_string(&benches).with_context(|| benches.display().to_string())?;
    let text = region::replaced(&text, name, &region::long(&record, stem)).context("benches/README.md")?;
    let page = root.join(format!("{stem}.md"));
    let mut files = vec![(root.join("README.md"), readme), (benches, text), (page, page::markdown(&record)?)];
    for (plot, rows) in region::plots(&record, stem) {
        files.push((root.join(plot), bars::svg(&rows.title, &rows.bars)));
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_and_their_plots_are_what_the_record_says() {
        let root = root().unwrap();
        let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
        let name = region::record_name(&readme).unwrap();
        for (path, expected) in made(&root, name, &readme).unwrap() {
            let found = std::fs::read_to_string(&path).unwrap_or_default();
            let first = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
            assert!(
                found == expected,
                "{} is not what {name} says: cargo run --release -p tools --bin readme; {first:?}",
                path.display()
            );
        }
    }
}
