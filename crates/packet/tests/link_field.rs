//! Recoup's link fields match their documentation.
use recoup_packet::lp::field::{self, LinkField};

const DOCUMENT: &str = include_str!("../../../docs/wire.md");

/// The row of the table that describes a field.
fn row(field: &LinkField) -> Vec<&'static str> {
    let number = format!("| {} |", field.typ);
    let row = DOCUMENT.lines().find(|line| line.starts_with(&number));
    row.unwrap_or_else(|| panic!("no row for {}", field.name)).split('|').map(str::trim).collect()
}

#[test]
fn document_lists_every_field() {
    for field in field::ALL {
        let row = row(&field);
        let scope = if field.carried { "carried over" } else { "hop-local" };
        let bytes = field.max_bytes.to_string();
        assert_eq!((row[2], row[5], row[6]), (field.name, scope, bytes.as_str()));
    }
    let rows = DOCUMENT.lines().filter(|line| line.starts_with("| 9")).count();
    assert_eq!(rows, field::ALL.len());
}
