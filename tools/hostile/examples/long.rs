//! Writes every kind of long file at a length and at four times the length, to measure what the
//! program's readers cost: `cargo run -p hostile --example long -- FOLDER BYTES`.

use std::fs;
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder: PathBuf = arguments.next().unwrap_or_default().into();
    let bytes: usize = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1 << 20);
    for (kind, make) in hostile::long::KINDS {
        for (times, bytes) in [(1, bytes), (4, 4 * bytes)] {
            let out = folder.join(format!("{}-{times}", kind.replace(' ', "-")));
            for inner in ["m", "logs", "db"] {
                fs::create_dir_all(out.join(inner))?;
            }
            for (name, contents) in make(bytes) {
                // A database alone has no folders of a run.
                if name == "SUMS" || name == "manifest.json" {
                    for inner in ["m", "logs", "db"] {
                        let _ = fs::remove_dir(out.join(inner));
                    }
                }
                fs::write(out.join(name), contents)?;
            }
            println!("{}", out.display());
        }
    }
    Ok(())
}
