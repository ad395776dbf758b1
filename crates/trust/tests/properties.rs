//! Models of any bytes and any shape: an error or an answer, within bounds.

use proptest::prelude::*;
use recoup_packet::name::{Component, Name};
use recoup_trust::schema::model::{Argument, Call, Choice, Model, Node, PatternEdge, ValueEdge};
use recoup_trust::schema::{Functions, Schema, compile};

fn element() -> impl Strategy<Value = Box<[u8]>> {
    prop_oneof!["[abc]", Just(String::new())].prop_map(|text| {
        let mut element = Vec::new();
        Component::generic(text.as_bytes()).encode(&mut element);
        element.into()
    })
}

fn choice() -> impl Strategy<Value = Choice> {
    let argument =
        prop_oneof![element().prop_map(Argument::Value), (0..9u64).prop_map(Argument::Tag)];
    let function = prop_oneof![Just("$eq"), Just("$eq_type"), Just("$other")];
    let call = (function, prop::collection::vec(argument, 0..3))
        .prop_map(|(name, arguments)| Choice::Call(Call { function: name.into(), arguments }));
    prop_oneof![4 => element().prop_map(Choice::Value), 4 => (0..9u64).prop_map(Choice::Tag), 1 => call]
}

/// Models whose edges often lead forward, and their parents often match.
fn model() -> impl Strategy<Value = Model> {
    let constraint = prop::collection::vec(choice(), 0..3);
    let pattern = (0..9u64, prop::collection::vec(constraint, 0..2));
    let edges = (prop::collection::vec(element(), 0..3), prop::collection::vec(pattern, 0..3));
    let node = (edges, prop::collection::vec(0..12usize, 0..3), any::<bool>());
    (prop::collection::vec(node, 1..10), 0..20usize, 0..6u64).prop_map(|(nodes, start, named)| {
        let count = nodes.len();
        let mut next = 1;
        let mut model = Model { named_patterns: named, ..Model::default() };
        model.start = if start < 18 { 0 } else { start };
        let mut parents = vec![None; count];
        for (id, ((values, patterns), signers, is_named)) in nodes.into_iter().enumerate() {
            let mut to = || {
                if next < count {
                    parents[next] = Some(id);
                }
                next += 1;
                next - 1
            };
            let rules = if is_named { vec![format!("#r{id}")] } else { Vec::new() };
            let mut node = Node { rules, signers, ..Node::default() };
            for value in values {
                node.values.push(ValueEdge { to: to(), value });
            }
            for (tag, constraints) in patterns {
                node.patterns.push(PatternEdge { to: to(), tag, constraints });
            }
            node.values.retain(|edge| edge.to < count);
            node.patterns.retain(|edge| edge.to < count);
            model.nodes.push(node);
        }
        for (node, parent) in model.nodes.iter_mut().zip(parents) {
            node.parent = parent;
        }
        model
    })
}

fn name() -> impl Strategy<Value = Name> {
    prop::collection::vec(element(), 0..5)
        .prop_map(|elements| Name::from_value(elements.concat().into()).unwrap())
}

proptest! {
    #[test]
    fn any_bytes_are_an_error_or_a_model(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(model) = Model::decode(&bytes) {
            prop_assert_eq!(Model::decode(&model.encode()).unwrap(), model);
        }
    }

    #[test]
    fn changed_bytes_are_an_error_or_a_model(at in 0..400usize, to in any::<u8>()) {
        let mut bytes = compile("#a: x/\"b\"/_c & { _c: $eq(x) | \"d\" } <= #k\n#k: x/\"KEY\"").unwrap().encode();
        let at = at % bytes.len();
        bytes[at] = to;
        if let Ok(model) = Model::decode(&bytes) {
            let _ = Schema::new(model, Functions::standard());
        }
    }

    #[test]
    fn model_survives_encoding(model in model(), packet in name(), key in name()) {
        prop_assert_eq!(Model::decode(&model.encode()).unwrap(), model.clone());
        if let Ok(schema) = Schema::new(model, Functions::standard().with("$other", |_, _| true)) {
            let allowed = schema.allows(&packet, &key).unwrap();
            let explanation = schema.explain(&packet, &key);
            prop_assert_eq!(explanation.is_allowed(), allowed);
            prop_assert!(!explanation.to_string().is_empty());
            prop_assert!(!allowed || (!packet.is_empty() && !key.is_empty()));
        }
    }

    #[test]
    fn any_text_is_an_error_or_a_schema(text in "[#a-c_$/:&|<={}(), \"\n]{0,80}") {
        if let Ok(model) = compile(&text) {
            let functions = ["$a", "$b", "$c"].iter().fold(Functions::standard(), |all, name| {
                all.with(name, |_, _| true)
            });
            prop_assert_eq!(Model::decode(&model.encode()).unwrap(), model.clone());
            let _ = Schema::new(model, functions);
        }
    }
}
