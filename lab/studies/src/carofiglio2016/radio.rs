//! Radio, window and cells, where the paper leaves them open: the values that were searched, as fields of a scenario.
//!
//! The authors published ns-3 code for a later paper (`mapme-tnsm17`, of ns-3.24). Its values come first on each axis.

/// A named value of a parameter, with its fields.
pub(super) type Value = (&'static str, &'static str);

/// Path loss, power, detection and longest aggregates.
pub(super) const RADIOS: [Value; 2] = [
    // The authors' code: 16 dBm and two gains of 1 dB; an access point aggregates 2,072 bytes, which is one Data.
    (
        "authors'",
        "\"wifi.path-loss\" = \"log-distance(exponent=3)\"
\"wifi.power\" = \"18 dBm\"
\"wifi.floor\" = \"-96 dBm\"
\"wifi.amsdu\" = \"0 B\"
\"wifi.ampdu\" = \"2072 B\"
",
    ),
    // The stated 120 m by today's ns-3: its detection from -82 dBm on, aggregates of 802.11n.
    (
        "120 m",
        "\"wifi.path-loss\" = \"log-distance(exponent=2.47)\"
\"wifi.power\" = \"16 dBm\"
\"wifi.floor\" = \"-82 dBm\"
\"wifi.amsdu\" = \"7935 B\"
\"wifi.ampdu\" = \"65535 B\"
",
    ),
];

/// Fading. The authors' code draws m = 1 for each MPDU.
pub(super) const FADINGS: [Value; 5] = [
    ("m = 1, MPDU", "\"wifi.fading\" = \"nakagami(m=1,hold=mpdu)\"\n"),
    ("m = 3, MPDU", "\"wifi.fading\" = \"nakagami(m=3,hold=mpdu)\"\n"),
    ("m = 1, coherence", "\"wifi.fading\" = \"nakagami(m=1)\"\n"),
    ("m = 3, coherence", "\"wifi.fading\" = \"nakagami(m=3)\"\n"),
    ("none", "\"wifi.fading\" = \"none\"\n"),
];

/// Tries of an MPDU under block acknowledgement. The authors' code has no limit but the lifetime.
pub(super) const TRIES: [Value; 3] =
    [("no limit", ""), ("7", "\"wifi.mpdu-tries\" = 7\n"), ("4", "\"wifi.mpdu-tries\" = 4\n")];

/// Errors of a frame by its signal: tables of today's ns-3, and the model of the paper's.
pub(super) const ERRORS: [Value; 2] =
    [("tables", "\"wifi.errors\" = \"table\"\n"), ("NIST", "\"wifi.errors\" = \"nist\"\n")];

/// β and Δp of RAAQM, as three releases of its authors have them.
pub(super) const WINDOWS: [Value; 3] = [
    ("0.5, 0.02", "\"fetch.congestion\" = \"raaqm\"\n"),
    ("0.8, 0.2", "\"fetch.congestion\" = \"raaqm(beta=0.8,dp=0.2)\"\n"),
    ("0.99, 0.003", "\"fetch.congestion\" = \"raaqm(beta=0.99,dp=0.003)\"\n"),
];

/// Where the second access point of the wireless network stands.
pub(super) const CELLS: [Value; 2] = [
    ("1 km apart", "\"nodes.ap2.position\" = [1000, 0]\n\"nodes.producer.position\" = [1000, 1]\n"),
    ("one medium", "\"nodes.ap2.position\" = [0, 0]\n\"nodes.producer.position\" = [0, 1]\n"),
];

/// A value of each axis, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setup {
    pub radio: &'static str,
    pub fading: &'static str,
    pub tries: &'static str,
    pub errors: &'static str,
    pub window: &'static str,
    pub cells: &'static str,
}

/// The choice of the search (`calibration.toml`), with the radio and the cells that were fixed in it.
pub(super) const CHOSEN: Setup = Setup {
    radio: "120 m",
    fading: "m = 1, coherence",
    tries: "7",
    errors: "tables",
    window: "0.8, 0.2",
    cells: "1 km apart",
};

impl Setup {
    /// The fields of radio and window, for all networks.
    pub(super) fn radio(&self) -> String {
        let Self { radio, fading, tries, errors, window, .. } = *self;
        let axes: [(&[Value], _); 5] = [
            (&RADIOS, radio),
            (&FADINGS, fading),
            (&TRIES, tries),
            (&ERRORS, errors),
            (&WINDOWS, window),
        ];
        axes.map(|(axis, name)| fields(axis, name)).concat()
    }
}

/// The fields of a value.
pub(super) fn fields(axis: &[Value], name: &str) -> &'static str {
    let found = axis.iter().find(|(own, _)| *own == name);
    found.unwrap_or_else(|| panic!("{name} is no value of its axis")).1
}
