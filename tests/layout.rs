//! Layouts against published figures.
