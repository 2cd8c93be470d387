//! Characters that editors, terminals and other systems add around a line: spaces, tabs, carriage
//! returns, byte order marks, no-break and zero-width spaces. They have no meaning in texts that
//! are read here.

/// Returns whether a character is of that kind.
pub fn is_blank(character: char) -> bool {
    // A zero width space and a byte order mark are not white space in the sense of Unicode.
    character.is_whitespace() || matches!(character, '\u{200b}' | '\u{feff}')
}

/// Returns a text without such characters around it.
///
/// ```
/// assert_eq!(trinim_game::text::bare("\u{feff}1/11/101 \t\u{a0}\r\n"), "1/11/101");
/// ```
pub fn bare(text: &str) -> &str {
    text.trim_matches(is_blank)
}
