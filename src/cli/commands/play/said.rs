//! What a player enters.

/// A line, understood as far as that needs no board.
#[derive(Debug, PartialEq, Eq)]
pub enum Said<'a> {
    /// Nothing.
    Nothing,
    Help,
    Hint,
    Moves,
    Undo,
    Redo,
    Swap,
    New,
    Quit,
    /// Set up this position.
    Set(&'a str),
    /// Save the game under this name.
    Save(&'a str),
    /// Show the game in this file; without a name, the one being played.
    Replay(Option<&'a str>),
    /// Anything else: a move, perhaps.
    Move(&'a str),
    /// A command with too much or too little behind it.
    Unclear(String),
}

/// Reads a line. No command can be taken for a move: names of cells are shorter.
pub fn said<'a>(line: &'a str) -> Said<'a> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).map_or((line, ""), |(word, rest)| (word, rest.trim()));
    let alone = |said| match rest {
        "" => said,
        _ => Said::Unclear(format!("{word:?} stands alone, but {rest:?} follows it")),
    };
    let with = |said: fn(&'a str) -> Said<'a>, what: &str| match rest {
        "" => Said::Unclear(format!("{word:?} needs {what}")),
        _ => said(rest),
    };
    match word.to_ascii_lowercase().as_str() {
        "" => Said::Nothing,
        "help" | "?" => alone(Said::Help),
        "hint" => alone(Said::Hint),
        "moves" => alone(Said::Moves),
        "undo" => alone(Said::Undo),
        "redo" => alone(Said::Redo),
        "swap" => alone(Said::Swap),
        "new" => alone(Said::New),
        "quit" | "exit" => alone(Said::Quit),
        "set" => with(Said::Set, "a position, like 1/11/101"),
        "save" => with(Said::Save, "the name of a file"),
        "replay" => Said::Replay((!rest.is_empty()).then_some(rest)),
        _ => Said::Move(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_moves() {
        assert_eq!(said("  HINT \n"), Said::Hint);
        assert_eq!(said("set 1 11 101"), Said::Set("1 11 101"));
        assert_eq!(said("save my game.txt"), Said::Save("my game.txt"));
        assert_eq!((said("replay"), said("replay x")), (Said::Replay(None), Said::Replay(Some("x"))));
        assert_eq!(said("s,e,t"), Said::Move("s,e,t"));
        assert_eq!(said(" d - f "), Said::Move("d - f"));
        for line in ["undo 2", "set", "save ", "quit now"] {
            assert!(matches!(said(line), Said::Unclear(_)), "{line}");
        }
    }
}
