//! How the program speaks: output, refusals, exit codes, signals and progress.

pub mod ending;
pub mod exit;
pub mod file;
pub mod help;
#[cfg(feature = "serve")]
pub mod http;
pub mod output;
pub mod programs;
pub mod progress;
pub mod refusal;
pub mod schema;
pub mod signals;
pub use trinim_streams as streams;
pub mod values;
pub mod watch;

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// The rooms that know solves put everything about them into words; the face prints it.
    #[test]
    fn the_face_knows_no_solver() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/face");
        let below = std::fs::read_dir(folder.join("watch")).unwrap();
        let files = std::fs::read_dir(&folder).unwrap().chain(below).map(|entry| entry.unwrap().path());
        let rooms = ["solve", "plan", "layout", "care", "database", "task", "kernel", "play", "report", "{"];
        for file in files.filter(|path| path.is_file() && !path.ends_with("face/mod.rs")) {
            let text = std::fs::read_to_string(&file).unwrap();
            let known = rooms.iter().find(|room| text.contains(&format!("trinim::{room}")));
            assert_eq!(known, None, "{}", file.display());
        }
    }
}
