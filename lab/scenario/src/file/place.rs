//! The keys of places: nodes that are drawn, for applications to stand at.
use recoup_config::fields::Fields;
use recoup_config::form::{Count, Form, Located, Many, Maybe, Place, TEXT};
use recoup_config::problem::{Origin, Problems};
use recoup_config::tree::{Table, Tree, Value};

/// Nodes that are drawn anew for each seed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlaceRule {
    pub name: String,
    pub origin: Origin,
    pub pick: u64,
    /// Patterns of the nodes to draw from.
    pub among: Vec<Located<String>>,
    /// Places whose nodes are left out.
    pub except: Vec<Located<String>>,
    /// The k-th node lies that far from the k-th node of this place.
    pub from: Option<Located<String>>,
    pub hops: Option<(u64, u64)>,
    /// Draws the same for each seed.
    pub seed: Option<u64>,
}

/// Reads a place.
pub(crate) fn read(
    name: &str,
    given: &Table,
    path: &str,
    origin: Origin,
    problems: &mut Problems,
) -> (PlaceRule, Table) {
    let mut fields = Fields::new(given, path, origin, false, problems);
    let mut rule = PlaceRule {
        name: name.to_owned(),
        origin,
        pick: 1,
        among: vec![Located { value: "*".into(), origin }],
        except: Vec::new(),
        from: None,
        hops: None,
        seed: None,
    };
    fields.required("pick", &mut rule.pick, Count(1, 100_000));
    fields.field("among", &mut rule.among, Many(Place(TEXT)));
    fields.field("except", &mut rule.except, Many(Place(TEXT)));
    fields.field("from", &mut rule.from, Maybe(Place(TEXT)));
    fields.field("hops", &mut rule.hops, Maybe(Hops));
    fields.field("seed", &mut rule.seed, Maybe(Count(0, i64::MAX as u64)));
    if fields.gives("from") != fields.gives("hops") {
        let (given, missing) =
            if fields.gives("hops") { ("hops", "from") } else { ("from", "hops") };
        fields.problem(given, format!("needs `{missing}` beside it"));
    }
    (rule, fields.finish())
}

/// `"4..10"`, both ends included, or a number.
struct Hops;

impl Form for Hops {
    type Of = (u64, u64);

    fn read(&self, tree: &Tree) -> Result<(u64, u64), String> {
        let text = tree.value.to_string();
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let range = match text.split_once("..") {
            Some((first, last)) => {
                number(first).zip(number(last.strip_prefix('=').unwrap_or(last)))
            }
            None => number(&text).map(|hops| (hops, hops)),
        };
        range.filter(|(first, last)| first <= last).ok_or_else(|| self.example())
    }

    fn write(&self, (first, last): &(u64, u64)) -> Option<Value> {
        Some(Value::Text(format!("{first}..{last}")))
    }

    fn example(&self) -> String {
        "write hops like \"4..10\" (4 to 10) or 4".into()
    }
}
