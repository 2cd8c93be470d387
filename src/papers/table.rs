//! Tables in Markdown, and CSV.

/// Formats a table in Markdown. Bars separate the heads; that of a column of numbers ends with a
/// colon.
pub fn markdown(heads: &str, rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let heads = || heads.split(" | ");
    let names = heads().map(|head| head.trim_end_matches(':').to_owned()).collect();
    let sides = heads().map(|head| if head.ends_with(':') { "---:" } else { "---" }.to_owned()).collect();
    let rows = rows.iter().map(|row| row.iter().map(|cell| cell.replace('|', "\\|")).collect());
    [names, sides].into_iter().chain(rows).map(line).collect()
}

/// Formats CSV (RFC 4180, but with plain line feeds); heads need no quotes.
pub fn csv(heads: &str, rows: &[Vec<String>]) -> String {
    let field = |text: &String| match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.clone(),
    };
    let line = |row: &Vec<String>| row.iter().map(field).collect::<Vec<_>>().join(",") + "\n";
    format!("{heads}\n{}", rows.iter().map(line).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_form_gives_a_meaning_is_escaped() {
        let rows = [vec!["a \"b\", <c|d>".to_owned(), "1,234".to_owned()], vec!["-".to_owned(), "-".to_owned()]];
        let table = "| name | losses |\n| --- | ---: |\n| a \"b\", <c\\|d> | 1,234 |\n| - | - |\n";
        assert_eq!(markdown("name | losses:", &rows), table);
        assert_eq!(csv("name,losses", &rows), "name,losses\n\"a \"\"b\"\", <c|d>\",\"1,234\"\n-,-\n");
    }
}
