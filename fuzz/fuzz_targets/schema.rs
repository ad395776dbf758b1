//! Trust schemas, compiled or as text: any bytes are a schema or an error. A schema that is encoded again decodes to an
//! equal schema, and answers each question within its limits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use recoup_packet::name::Name;
use recoup_trust::schema::model::Model;
use recoup_trust::schema::{Functions, Schema, compile};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(model) = Model::decode(bytes) {
        question(model);
    }
    if let Some(model) = std::str::from_utf8(bytes).ok().and_then(|text| compile(text).ok()) {
        question(model);
    }
});

fn question(model: Model) {
    assert_eq!(Model::decode(&model.encode()).as_ref(), Ok(&model));
    let names = names(&model);
    let Ok(schema) = Schema::new(model, Functions::standard()) else {
        return;
    };
    for packet in &names {
        for key in &names {
            let explanation = schema.explain(packet, key);
            match schema.allows(packet, key) {
                Ok(allowed) => assert_eq!(explanation.is_allowed(), allowed),
                Err(_) => assert!(explanation.grant.is_err()),
            }
            assert!(!explanation.to_string().is_empty());
        }
    }
}

/// Names along the edges of the model: values where there are some, and any component for patterns.
fn names(model: &Model) -> Vec<Name> {
    let mut names = Vec::new();
    for last in 0..2 {
        let (mut elements, mut node) = (Vec::new(), model.start);
        for _ in 0..8 {
            let Some(at) = model.nodes.get(node) else { break };
            let value = at.values.get(last % at.values.len().max(1));
            let pattern = at.patterns.get(last % at.patterns.len().max(1));
            let (to, element) = match (value, pattern) {
                (Some(edge), _) => (edge.to, edge.value.to_vec()),
                (None, Some(edge)) => (edge.to, b"\x08\x01x".to_vec()),
                (None, None) => break,
            };
            elements.extend(element);
            node = to;
            names.extend(Name::from_value(elements.clone().into()));
        }
    }
    names
}
