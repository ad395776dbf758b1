//! Whether something turns each gating claim that fails: a value of what is open, or an isolating run. If nothing does, the
//! room names it: its table has a line that begins with the claim and ends with *nothing*, and the reason.

/// Those of `claims` that nothing turns, by the texts of `open.md` and `isolated.md`, and that the room does not name as such.
pub(super) fn without<'a>(
    claims: &[&'a str],
    open: &str,
    isolated: &str,
    room: &str,
) -> Vec<&'a str> {
    let is_open = |claim: &str| open.split("\n\n").any(|table| holds_somewhere(table, claim));
    let is_isolated = |claim: &str| {
        let mut rows = isolated.lines().map(cells);
        rows.any(|row| row.first() == Some(&claim) && row.last() == Some(&"holds"))
    };
    let is_named = |claim: &str| {
        let begins = |cell: &&str| cell.split_whitespace().next() == Some(claim);
        let mut rows = room.lines().map(cells);
        rows.any(|row| {
            row.first().is_some_and(begins)
                && row.last().is_some_and(|it| it.starts_with("nothing"))
        })
    };
    let is_left = |claim: &&str| !is_open(claim) && !is_isolated(claim) && !is_named(claim);
    claims.iter().copied().filter(is_left).collect()
}

/// Whether a line of the table has a plus in the claim's column.
fn holds_somewhere(table: &str, claim: &str) -> bool {
    let mut rows = table.lines().filter(|line| line.starts_with('|')).map(cells);
    let column = rows.next().and_then(|head| head.iter().position(|it| *it == claim));
    column.is_some_and(|column| rows.any(|row| row.get(column) == Some(&"+")))
}

fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split('|').map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plus_or_isolating_run_turns_a_claim() {
        let open = "# x\n\n| open | assumption | C-01 | C-02 |\n|---|---|---|---|\n| a | b | − | + |\n\n\
                    | open | assumption | C-03 |\n|---|---|---|\n| a | c | ? |\n";
        let isolated = "| claim | with | seeds | ours | verdict |\n|---|---|---:|---|---|\n\
                        | C-03 | d | 20 | 1 < 2 | holds |\n| C-04 | e | 20 | 2 < 1 | undecided |\n";
        let all = ["C-01", "C-02", "C-03", "C-04"];
        assert_eq!(without(&all, open, isolated, ""), ["C-01", "C-04"]);
        let room = "| C-01 x | y | see below |\n| C-04 z | y | nothing: too few are lost |\n";
        assert_eq!(without(&all, open, isolated, room), ["C-01"]);
        assert_eq!(without(&all, "", "", ""), all);
    }
}
