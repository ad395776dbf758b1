//! A quantity of a link over time, from a file: `trace(file=NAME)`.
//!
//! The text names the file; [`OverTime::read`] puts its content in place before the link is built.
use crate::model::trace::Trace;
use recoup_transport::spec::Spec;
use std::fmt;
use std::sync::Arc;

/// A trace in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct OverTime<T> {
    file: Box<str>,
    trace: Option<Arc<T>>,
}

impl<T: Trace> OverTime<T> {
    /// Reads `trace(file=NAME)`; `None` for any other text.
    ///
    /// # Errors
    /// If the text begins as a trace and is none.
    pub fn parse(text: &str) -> Result<Option<Self>, String> {
        let text = text.trim();
        if !text.starts_with("trace") {
            return Ok(None);
        }
        let missing = "write trace(file=NAME), with the name of a file";
        let mut spec = Spec::parse(text).map_err(|error| error.to_string())?;
        let file = spec.take("file", None, "the name of a file", |text| Some(Some(text.into())));
        let file = file.map_err(|error| error.to_string())?;
        let name = spec.name().to_owned();
        spec.finish().map_err(|error| error.to_string())?;
        match file.filter(|_| name == "trace") {
            Some(file) => Ok(Some(Self { file, trace: None })),
            None => Err(missing.to_owned()),
        }
    }

    /// The name of the file.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The trace, once the file was read.
    #[must_use]
    pub fn trace(&self) -> Option<&Arc<T>> {
        self.trace.as_ref()
    }

    /// Puts the content of the file in place.
    pub fn read(&mut self, trace: Arc<T>) {
        self.trace = Some(trace);
    }
}

impl<T> fmt::Display for OverTime<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "trace(file={})", self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::trace::RateTrace;

    #[test]
    fn only_a_named_file_is_a_trace() {
        let read = OverTime::<RateTrace>::parse;
        assert_eq!(read("8 Mbit/s"), Ok(None));
        let mut rate = read(" trace(file=a/lte.up)").unwrap().unwrap();
        assert_eq!((rate.to_string().as_str(), rate.trace()), ("trace(file=a/lte.up)", None));
        rate.read(RateTrace::parse("0\n1\n2\n").unwrap().into());
        assert_eq!(rate.trace().unwrap().nominal(), 3 * 1504 * 8 * 500);
        for wrong in ["trace", "trace()", "trace(fil=a)", "traces(file=a)", "trace(file=a"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
