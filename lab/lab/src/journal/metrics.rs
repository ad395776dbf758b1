//! Metrics of a run. The runs of a journal have the same few lists of names, which they share.
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// Metrics by name, in the order of the run. As text a list of names with values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    names: Arc<[String]>,
    values: Vec<f64>,
}

impl Metrics {
    /// Metrics with these names and values; `None` if one has no partner.
    pub(super) fn of(names: &Arc<[String]>, values: Vec<f64>) -> Option<Self> {
        (names.len() == values.len()).then(|| Self { names: Arc::clone(names), values })
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.names.iter().map(String::as_str).zip(self.values.iter().copied())
    }

    /// The value called `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        self.iter().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    /// Whether both have one list of names in memory.
    pub(crate) fn shares_names_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.names, &other.names)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub(crate) fn names(&self) -> &Arc<[String]> {
        &self.names
    }

    pub(super) fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// Keeps one list of names for these metrics and `names`: that of `names` if both are equal, or else their own.
    pub(super) fn share(&mut self, names: &mut Arc<[String]>) {
        if self.names == *names {
            self.names = Arc::clone(names);
        } else {
            *names = Arc::clone(&self.names);
        }
    }
}

impl FromIterator<(String, f64)> for Metrics {
    fn from_iter<T: IntoIterator<Item = (String, f64)>>(pairs: T) -> Self {
        let (names, values): (Vec<_>, _) = pairs.into_iter().unzip();
        Self { names: names.into(), values }
    }
}

impl Serialize for Metrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Metrics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<(String, f64)>::deserialize(deserializer)?.into_iter().collect())
    }
}
