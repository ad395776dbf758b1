//! Any text and any bytes are a name or an error; a name written as text is read as the same name.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use recoup_packet::name::Name;

fuzz_target!(|bytes: &[u8]| {
    if let Some(name) = std::str::from_utf8(bytes).ok().and_then(|text| text.parse::<Name>().ok()) {
        stable(&name);
        assert_eq!(name.components().count(), name.len());
    }
    if let Ok(name) = Name::from_value(Bytes::copy_from_slice(bytes)) {
        stable(&name);
        assert_eq!(name.components().collect::<Name>(), name);
        let half = name.len() / 2;
        assert_eq!(name.prefix(half).join(&name.suffix(half)), name);
    }
});

fn stable(name: &Name) {
    assert_eq!(name.to_string().parse::<Name>().as_ref(), Ok(name));
}
