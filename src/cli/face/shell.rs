//! The arguments of this process, as a shell reads them, for hints that can be typed.

/// Quotes a word for a shell, if it needs that.
pub fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "_-./+,:=@%^".contains(char);
    let plain = !word.is_empty() && word.chars().all(is_plain);
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// Returns the arguments of the program.
pub fn arguments() -> Vec<String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Returns the command that this process was begun with.
pub fn command_line() -> String {
    arguments().iter().fold("trinim".to_owned(), |line, word| format!("{line} {}", quoted(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        assert_eq!(["a/b-1.0", "", "a b", "it's"].map(quoted), ["a/b-1.0", "''", "'a b'", "'it'\\''s'"]);
    }
}
