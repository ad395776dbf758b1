//! User functions: conditions that a schema leaves to the program.

use recoup_packet::tlv::Reader;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A user function. It gets the component that is to be judged and its arguments, each a whole element.
pub type Function = Arc<dyn Fn(&[u8], &[&[u8]]) -> bool + Send + Sync>;

/// User functions by their name.
#[derive(Clone, Default)]
pub struct Functions(BTreeMap<String, Function>);

impl Functions {
    /// `$eq` and `$eq_type`: the component, or its type, is that of each argument.
    #[must_use]
    pub fn standard() -> Self {
        Self::default()
            .with("$eq", |component, arguments| arguments.iter().all(|it| *it == component))
            .with("$eq_type", |component, arguments| {
                arguments.iter().all(|it| typ(it) == typ(component))
            })
    }

    /// These functions, and one more.
    ///
    /// `name` begins with `$`.
    #[must_use]
    pub fn with(
        mut self,
        name: &str,
        function: impl Fn(&[u8], &[&[u8]]) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.0.insert(name.to_owned(), Arc::new(function));
        self
    }

    /// The function of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Function> {
        self.0.get(name)
    }
}

impl fmt::Debug for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// The type of an element.
fn typ(element: &[u8]) -> Option<u64> {
    Reader::new(element).read().ok().flatten().map(|tlv| tlv.typ)
}
