//! Programs for people who work on trinim; see `tools/README.md`.
