//! What editors, terminals and other systems write around a line: spaces, tabs, carriage returns,
//! byte order marks, spaces that do not break and those without width. None of it has a meaning in
//! a text that is read here.

/// Returns whether a character is of that kind.
pub fn is_blank(character: char) -> bool {
    // A zero width space and a byte order mark are not white space in the sense of Unicode.
    character.is_whitespace() || matches!(character, '\u{200b}' | '\u{feff}')
}

/// Returns a text without what is around it.
///
/// ```
/// assert_eq!(trinim_game::text::bare("\u{feff}1/11/101 \t\u{a0}\r\n"), "1/11/101");
/// ```
pub fn bare(text: &str) -> &str {
    text.trim_matches(is_blank)
}
