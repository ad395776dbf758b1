//! Families of exchangeable algorithms: an enum with one variant for each algorithm of the workspace and one for
//! algorithms of other programs.
//!
//! A value of a family is typed parameters. It parses from a spec, prints as the shortest one, has the same text in
//! `serde` documents, and builds any number of instances in their initial state. An algorithm is one file and one line
//! in the list of its family. `Rto` of the crate `recoup-transport` is such a family.
//!
//! A program has two ways to use an algorithm of its own: `Rto::custom(algorithm)` makes a value of it, and
//! `Rto::register(name, reader)` makes its text known to every reader of specs in the process: scenario files,
//! configurations, the command line.
use super::Spec;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// Versions of registered algorithms, by name.
static VERSIONS: RwLock<BTreeMap<&'static str, String>> = RwLock::new(BTreeMap::new());

/// States the version of an algorithm that this process has registered: results of another version are not its own.
pub fn set_version(name: &'static str, version: &str) {
    let mut versions = VERSIONS.write().unwrap_or_else(PoisonError::into_inner);
    versions.insert(name, version.to_owned());
}

/// The registered algorithms whose names stand in `text`, with the versions that were stated.
#[must_use]
pub fn versions_in(text: &str) -> Vec<(&'static str, String)> {
    let versions = VERSIONS.read().unwrap_or_else(PoisonError::into_inner);
    let used = versions.iter().filter(|(name, _)| text.contains(**name));
    used.map(|(name, version)| (*name, version.clone())).collect()
}

/// An algorithm from outside the workspace: its spec, and how an instance of it is built.
pub struct Custom<T: ?Sized> {
    spec: Arc<str>,
    build: Arc<dyn Fn() -> Box<T> + Send + Sync>,
}

impl<T: ?Sized> Custom<T> {
    /// An algorithm that prints as `spec`; `build` makes an instance in its initial state.
    pub fn new(
        spec: impl Into<Arc<str>>,
        build: impl Fn() -> Box<T> + Send + Sync + 'static,
    ) -> Self {
        Self { spec: spec.into(), build: Arc::new(build) }
    }

    /// An instance in its initial state.
    #[must_use]
    pub fn build(&self) -> Box<T> {
        (self.build)()
    }
}

impl<T: ?Sized> Clone for Custom<T> {
    fn clone(&self) -> Self {
        Self { spec: self.spec.clone(), build: self.build.clone() }
    }
}

/// Equal specs are equal algorithms.
impl<T: ?Sized> PartialEq for Custom<T> {
    fn eq(&self, other: &Self) -> bool {
        self.spec == other.spec
    }
}

impl<T: ?Sized> fmt::Debug for Custom<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Custom").field(&self.spec).finish()
    }
}

impl<T: ?Sized> fmt::Display for Custom<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.spec)
    }
}

/// The shortest spec that parses to the value whose full spec is `full`: the name, of `names`, from whose defaults
/// the fewest parameters differ, and these parameters. The first of equal names wins.
pub fn brief<T: fmt::Display + PartialEq>(
    value: &T,
    full: &str,
    names: impl Iterator<Item = &'static str>,
    read: impl Fn(&str) -> Option<(T, String)>,
) -> String {
    let short = names.filter_map(|name| shortened(full, name, &read(name)?.1));
    let same = short.filter(|(_, text)| read(text).is_some_and(|(it, _)| it == *value));
    same.min_by_key(|(parameters, _)| *parameters).map_or(full.to_owned(), |(_, text)| text)
}

/// `full` as a spec of the algorithm `name`, whose defaults are `default`; with the number of its parameters.
fn shortened(full: &str, name: &str, default: &str) -> Option<(usize, String)> {
    let (mut full, mut default) = (Spec::parse(full).ok()?, Spec::parse(default).ok()?);
    if full.name() != default.name() {
        return None;
    }
    let inner = full.inner().filter(|inner| default.inner() != Some(*inner)).map(str::to_owned);
    let pairs = full.pairs.iter().filter(|pair| !default.pairs.contains(pair));
    let pairs = pairs.map(|(key, value)| format!("{key}={value}"));
    let inside: Vec<_> = inner.into_iter().chain(pairs).collect();
    let text = match inside.is_empty() {
        true => name.to_owned(),
        false => format!("{name}({})", inside.join(",")),
    };
    Some((inside.len(), text))
}

/// Declares a family; see [`spec::family`](crate::spec::family).
///
/// Each line is a variant, its type (parameters, or an algorithm in its initial state), and its names with their readers. A
/// type that is not itself the algorithm has a method `build`.
#[macro_export]
macro_rules! family {
    (
        $(#[$doc:meta])*
        pub enum $family:ident: $kind:literal, $trait:ident {
            $($variant:ident($type:ty): $($name:literal => $read:expr),+;)+
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $family {
            $(#[doc = concat!($("`", $name, "` "),+)] $variant($type),)+
            /// An algorithm of another program.
            Custom($crate::spec::family::Custom<dyn $trait>),
        }

        impl $family {
            const FAMILY: &'static [(&'static str, $crate::spec::Reader<Self>)] =
                &[$($(($name, |spec| Ok(Self::from(($read)(spec)?))),)+)+];

            /// The names of the family's algorithms in this workspace.
            pub fn names() -> impl Iterator<Item = &'static str> {
                Self::FAMILY.iter().map(|(name, _)| *name)
            }

            /// An instance in its initial state.
            #[must_use]
            pub fn build(&self) -> Box<dyn $trait> {
                /// Of an algorithm in its initial state. An inherent `build` of parameters takes precedence.
                trait Build {
                    fn build(&self) -> Box<dyn $trait>;
                }
                impl<A: $trait + Clone + 'static> Build for A {
                    fn build(&self) -> Box<dyn $trait> {
                        Box::new(self.clone())
                    }
                }
                match self {
                    $(Self::$variant(it) => it.build(),)+
                    Self::Custom(it) => it.build(),
                }
            }

            /// An algorithm of the caller in its initial state; its text is the spec.
            pub fn custom<A: $trait + Clone + Sync + 'static>(algorithm: A) -> Self {
                let spec = algorithm.to_string();
                let build = move || -> Box<dyn $trait> { Box::new(algorithm.clone()) };
                Self::Custom($crate::spec::family::Custom::new(spec, build))
            }

            /// Makes an algorithm of the caller known by `name` to all readers of specs in this process. The first
            /// registration of a name holds; names of the workspace cannot be taken.
            pub fn register(name: &'static str, read: $crate::spec::Reader<Self>) {
                let mut registered = Self::registered().write().unwrap_or_else(|it| it.into_inner());
                registered.push((name, read));
            }

            fn registered() -> &'static ::std::sync::RwLock<Vec<(&'static str, $crate::spec::Reader<Self>)>> {
                static REGISTERED: ::std::sync::RwLock<Vec<(&'static str, $crate::spec::Reader<$family>)>> =
                    ::std::sync::RwLock::new(Vec::new());
                &REGISTERED
            }

            /// The spec with every parameter.
            #[must_use]
            pub fn full(&self) -> String {
                match self {
                    $(Self::$variant(it) => it.to_string(),)+
                    Self::Custom(it) => it.to_string(),
                }
            }
        }

        $(
            impl From<$type> for $family {
                fn from(algorithm: $type) -> Self {
                    Self::$variant(algorithm)
                }
            }
        )+

        impl $crate::spec::Parametric for $family {
            fn read(
                text: &str,
                parameters: &$crate::spec::Parameters<'_>,
            ) -> Result<Self, $crate::spec::SpecError> {
                // A copy: a reader may parse specs of the same family.
                let more = Self::registered().read().unwrap_or_else(|it| it.into_inner()).clone();
                let family = [Self::FAMILY, &more].concat();
                $crate::spec::read_with(text, parameters, $kind, &family)
            }
        }

        impl ::std::str::FromStr for $family {
            type Err = $crate::spec::SpecError;

            /// Parses a spec. The error names the wrong part and shows what is right.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                <Self as $crate::spec::Parametric>::read(text, &[])
            }
        }

        /// The shortest spec.
        impl ::std::fmt::Display for $family {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let full = self.full();
                let read = |text: &str| {
                    let it: Self = text.parse().ok()?;
                    let full = it.full();
                    Some((it, full))
                };
                f.pad(&$crate::spec::family::brief(self, &full, Self::names(), read))
            }
        }

        impl ::serde::Serialize for $family {
            fn serialize<S: ::serde::Serializer>(&self, format: S) -> Result<S::Ok, S::Error> {
                $crate::spec::as_text::serialize(self, format)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $family {
            fn deserialize<D: ::serde::Deserializer<'de>>(format: D) -> Result<Self, D::Error> {
                $crate::spec::as_text::deserialize(format)
            }
        }
    };
}
