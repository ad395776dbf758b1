//! Any text is a name or an error, and so are any octets; a name written as text is the same name when it is read.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use recoup_packet::name::Name;

fuzz_target!(|octets: &[u8]| {
    if let Some(name) = std::str::from_utf8(octets).ok().and_then(|text| text.parse::<Name>().ok())
    {
        stable(&name);
        assert_eq!(name.components().count(), name.len());
    }
    if let Ok(name) = Name::from_value(Bytes::copy_from_slice(octets)) {
        stable(&name);
        assert_eq!(name.components().collect::<Name>(), name);
        let half = name.len() / 2;
        assert_eq!(name.prefix(half).join(&name.suffix(half)), name);
    }
});

fn stable(name: &Name) {
    assert_eq!(name.to_string().parse::<Name>().as_ref(), Ok(name));
}
