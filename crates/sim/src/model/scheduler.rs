//! How a link is shared among flows: `none`, or a scheduler such as `max-min` or `drr(quantum=1500)`.
//!
//! The algorithms are those of `recoup_transport::queue`; here is how their absence is written.
use recoup_transport::queue::Discipline;
use recoup_transport::spec::SpecError;

/// Reads a scheduler, or that there is none.
///
/// # Errors
/// If the text cannot be read.
pub fn parse(text: &str) -> Result<Option<Discipline>, SpecError> {
    match text.trim() {
        "none" => Ok(None),
        text => text.parse().map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_is_no_scheduler_and_all_others_have_names() {
        assert_eq!(parse(" none "), Ok(None));
        let found = parse("drr(quantum=9000)").unwrap().map(|it| it.to_string());
        assert!(found.is_some_and(|text| text.starts_with("drr(share=face,quantum=9000,")));
        assert!(Discipline::names().all(|name| parse(name).is_ok_and(|it| it.is_some())));
        assert!(parse("fair").is_err());
    }
}
