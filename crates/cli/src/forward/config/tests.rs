//! Values of a configuration, and the changes that a running forwarder applies.
use super::*;
use recoup_forwarder::options::Anticipation;

#[track_caller]
fn wrong(text: &str) -> String {
    ForwardConfig::parse("n.toml", text).unwrap_err().to_string()
}

#[test]
fn provider_id_is_set_on_request() {
    let read = |keys: &str| {
        let text = format!("[node]\n{keys}\n[[listen]]\nuri = \"udp://0.0.0.0\"\n");
        ForwardConfig::parse("n.toml", &text).map(|it| (it.node.provider_ids, it.node.anticipation))
    };
    assert_eq!(read("").unwrap(), (false, Anticipation::Off));
    let both = read("provider-ids = true\nanticipation = \"holders\"").unwrap();
    assert_eq!(both, (true, Anticipation::Holders));
    let wrong = read("anticipation = \"some\"").unwrap_err().to_string();
    assert!(wrong.contains("node.anticipation") && wrong.contains("holders"), "{wrong}");
}

fn recoveries(config: &ForwardConfig) -> Vec<Recovery> {
    config.faces.iter().map(|face| face.recovery).collect()
}

#[test]
fn a_whole_configuration_is_read() {
    let text = "[node]\ncache = \"10 MiB\"\nstrategy = \"multicast\"\nlocalhop = true\n\
        [[listen]]\nuri = \"udp://0.0.0.0\"\n[[face]]\nname = \"up\"\nuri = \"tcp://192.0.2.7\"\nrecovery = \"wldr(hold=5ms)\"\n\
        [[route]]\nprefix = \"/\"\nface = \"up\"\ncost = 7\n\
        [[strategy]]\nprefix = \"/a\"\nstrategy = \"best-face\"\n";
    let config = ForwardConfig::parse("n.toml", text).unwrap();
    assert_eq!(config.node.cache, CsCapacity::Bytes(10 << 20));
    assert_eq!(config.routes, [ConfiguredRoute { prefix: Name::root(), face: 0, cost: 7 }]);
    assert_eq!((config.listen.len(), config.faces.len(), config.localhop), (1, 1, true));
    assert_eq!(recoveries(&config), ["wldr(hold=5ms)".parse().unwrap()]);
    assert!(config.recovery.is_auto());
    assert_eq!(config.node(1).routes().count(), 2);
}

#[test]
fn recovery_is_per_face_or_node() {
    let face = |name: &str, rest: &str| format!("[[face]]\nname = \"{name}\"\nuri = {rest}\n");
    let faces = [
        face("a", "\"udp://192.0.2.7\""),
        face("b", "\"udp://192.0.2.8\"\nrecovery = \"off\""),
        face("c", "\"unix:///run/c\""),
        face("d", "\"unix:///run/d\"\nrecovery = \"acked\""),
    ];
    let text = format!("[node]\nrecovery = \"wldr\"\n{}", faces.concat());
    let config = ForwardConfig::parse("n.toml", &text).unwrap();
    let wanted = ["wldr", "off", "off", "acked"].map(|it| it.parse().unwrap());
    assert_eq!(recoveries(&config), wanted);
    // Without a word, recovery is negotiated where a link may lose.
    let uris = [
        "udp://192.0.2.7",
        "tcp://192.0.2.7",
        "ws://192.0.2.7",
        "unix:///run/a",
        "udp4://224.0.23.170",
    ];
    let faces = uris.iter().map(|uri| face(&uri.replace(['/', ':', '.'], ""), &format!("{uri:?}")));
    let config = ForwardConfig::parse("n.toml", &faces.collect::<String>()).unwrap();
    let wanted = ["auto", "off", "off", "off", "off"].map(|it| it.parse().unwrap());
    assert_eq!(recoveries(&config), wanted);
}

#[test]
fn udp_faces_may_have_a_fixed_address() {
    let read = |uri: &str, local: &str| {
        let text = format!("[[face]]\nname = \"a\"\nuri = \"{uri}\"\nlocal = \"{local}\"\n");
        ForwardConfig::parse("n.toml", &text)
    };
    let config = read("udp://192.0.2.7", "0.0.0.0:5000").unwrap();
    assert_eq!(config.faces[0].local, Some("0.0.0.0:5000".parse().unwrap()));
    let other = read("udp://192.0.2.7", "0.0.0.0:5001").unwrap();
    assert_ne!(config.faces[0].text(), other.faces[0].text());
    for (uri, local, piece) in [
        ("tcp://192.0.2.7", "0.0.0.0:5000", "over UDP"),
        ("udp://192.0.2.7", "here", "no address and port"),
    ] {
        let wrong = read(uri, local).unwrap_err().to_string();
        assert!(wrong.contains("face.1.local") && wrong.contains(piece), "{wrong}");
    }
}

#[test]
fn scheduler_is_per_face_or_node() {
    let text = "[node]\nscheduler = \"drr\"\nrate = \"1 Gbit/s\"\n\
        [[face]]\nname = \"a\"\nuri = \"udp://192.0.2.7\"\n\
        [[face]]\nname = \"b\"\nuri = \"udp://192.0.2.8\"\nscheduler = \"max-min(gain=1)\"\n\
        rate = \"10Mbit/s\"\nrate-in = \"unlimited\"\noverhead = \"28 B\"\n\
        [[face]]\nname = \"c\"\nuri = \"udp://192.0.2.9\"\nscheduler = \"none\"\n";
    let config = ForwardConfig::parse("n.toml", text).unwrap();
    let found: Vec<_> = config.faces.iter().map(FaceConfig::scheduling).collect();
    let [Some(a), Some(b), None] = found.as_slice() else { panic!("{found:?}") };
    assert!(a.discipline.to_string().starts_with("drr("));
    assert_eq!(a.capacity.receiving_bits, Some(1_000_000_000));
    assert!(b.discipline.to_string().starts_with("max-min(share=face,duplex=full,gain=1,"));
    let capacity = (b.capacity.sending_bits, b.capacity.receiving_bits);
    assert_eq!((capacity, b.capacity.overhead_bytes), ((Some(10_000_000), None), 28));
    let warnings = config.warnings();
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].starts_with("face `b`: without `rate` the scheduler max-min orders"));
    let message = wrong("[node]\nrate = \"1 Mbit/s\"\n[[listen]]\nuri = \"udp://0.0.0.0\"\n");
    assert!(
        message.contains("n.toml:2:8: node.rate: has no effect without a scheduler"),
        "{message}"
    );
    let message = wrong("[node]\nscheduler = \"dr\"\n[[listen]]\nuri = \"udp://0.0.0.0\"\n");
    assert!(message.contains("did you mean `drr`?"), "{message}");
}

#[test]
fn multicast_face_needs_an_interface_without_recovery() {
    let face = |uri: &str, keys: &str| {
        format!("[node]\nrecovery = \"wldr\"\n[[face]]\nname = \"lan\"\nuri = \"{uri}\"\n{keys}")
    };
    let group = "udp4://224.0.23.170";
    let keys = "interface = \"eth0\"\nad-hoc = true\nloopback = true\n";
    let config = ForwardConfig::parse("n.toml", &face(group, keys)).unwrap();
    let medium = MediumOptions { interface: Some("eth0".into()), ad_hoc: true, loopback: true };
    let lan = &config.faces[0];
    assert_eq!((&lan.medium, lan.recovery), (&medium, Recovery::Off));
    let message = wrong(&face(group, "recovery = \"wldr\"\n"));
    assert!(message.contains("n.toml:6:12: face.1.recovery: is for one neighbour"), "{message}");
    let message = wrong(&face("udp4://192.0.2.7", "mtu = 100\n"));
    assert!(message.contains("n.toml:6:7: face.1.mtu: must be from 256 to 8800"), "{message}");
    let config = ForwardConfig::parse("n.toml", &face("udp4://192.0.2.7", "mtu = 1400\n"));
    assert_eq!(config.unwrap().faces[0].mtu, Some(1_400));
    let message = wrong(&face("udp4://192.0.2.7", "interface = \"eth0\"\n"));
    assert!(message.contains("n.toml:6:13: face.1.interface: is for multicast"), "{message}");
    let message = wrong(&face("ether://[01:00:5e:00:17:aa]", ""));
    assert!(message.contains("face.1.interface: is missing"), "{message}");
    let message = wrong(&face("dev://eth0", ""));
    assert!(message.contains("n.toml:5:7: face.1.uri: is an interface"), "{message}");
    let message = wrong(&format!("[[listen]]\nuri = \"{group}\"\n"));
    assert!(message.contains("n.toml:2:7: listen.1.uri: several share this"), "{message}");
}

#[test]
fn mistakes_have_line_and_nearest_spelling() {
    let listen = "[[listen]]\nuri = \"udp://0.0.0.0\"\n";
    let message = wrong(&format!("{listen}[node]\ncahe = 1\n"));
    assert!(message.starts_with("n.toml:4:1: node.cahe: is not known here; did you mean `cache`?"));
    let message = wrong(&format!("{listen}[node]\nstrategy = \"best-rout\"\n"));
    assert!(message.starts_with("n.toml:4:12: node.strategy:") && message.contains("best-route"));
    let message = wrong(&format!("{listen}[node]\nrecovery = \"wldrr\"\n"));
    assert!(
        message.starts_with("n.toml:4:12: node.recovery:") && message.contains("`wldr`"),
        "{message}"
    );
    let face = "[[face]]\nname = \"north\"\nuri = \"udp://192.0.2.7\"\n";
    let message = wrong(&format!("{face}[[route]]\nprefix = \"/\"\nface = \"noth\"\n"));
    assert!(message.contains("n.toml:6:8: route.1.face: no face is called `noth`"), "{message}");
    assert!(message.contains("did you mean `north`"), "{message}");
    assert!(wrong("[[listen]]\n").contains("listen.1.uri: is missing"));
    assert!(wrong("").contains("[[listen]]"));
    assert!(wrong("[[listen]]\nuri = \"http://x\"\n").contains("n.toml:2:7: listen.1.uri"));
    assert!(wrong("listen = 7\n").contains("write [[listen]]"));
    let message = wrong(&format!("{listen}[node]\nmetrics = \"9695\"\n"));
    assert!(message.contains("n.toml:4:11: node.metrics: `9695` is no address"), "{message}");
    let message = wrong(&format!("{listen}[management]\nopen = [\"ribs\"]\n"));
    assert!(message.contains("n.toml:4:8: management.open: `ribs`"), "{message}");
    let message = wrong(&format!("{listen}[management]\nkeys = [\"/nowhere/key\"]\n"));
    assert!(message.contains("n.toml:4:8: management.keys:"), "{message}");
    assert!(wrong("[node\n").starts_with("n.toml:1:"));
    let twice = format!("{face}{face}");
    assert!(wrong(&twice).contains("n.toml:5:8: face.2.name: another face"));
}

/// A face and `count` routes to it, with names like those of sites.
fn routes(count: usize) -> String {
    use std::fmt::Write as _;
    let mut text = String::from("[[face]]\nname = \"up\"\nuri = \"udp://192.0.2.7\"\n");
    for number in 0..count {
        let (site, app) = (number / 100, number % 100);
        let _ = writeln!(text, "[[route]]\nprefix = \"/site{site}/app{app}\"\nface = \"up\"");
    }
    text
}

#[test]
fn routes_beyond_their_limit_are_rejected() {
    let text = |most| format!("[limits]\nroutes = {most}\n{}", routes(3));
    let limit = |most| {
        let config = ForwardConfig::parse("n.toml", &text(most)).unwrap();
        config.limits.routes
    };
    assert_eq!((limit(3), limit(70_000)), (3, 70_000));
    let message = wrong(&text(2));
    assert!(message.starts_with("n.toml:6:1: route: there are 3 of them"), "{message}");
    assert!(message.ends_with("write routes = 3 in [limits]"), "{message}");
}

#[test]
fn two_hundred_thousand_routes_load() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("n.toml");
    std::fs::write(&path, format!("[limits]\nroutes = 200000\n{}", routes(200_000))).unwrap();
    let text = config::read(&path).unwrap();
    let read = ForwardConfig::parse("n.toml", &text).unwrap();
    assert_eq!(read.routes.len(), 200_000);
    assert_eq!(read.routes.last().unwrap().prefix.to_string(), "/site1999/app99");
}

#[test]
fn options_that_need_a_restart_are_distinguished() {
    let fixed = |text: &str| {
        let text = format!("{text}\n[[listen]]\nuri = \"udp://0.0.0.0\"\n");
        ForwardConfig::parse("n.toml", &text).unwrap().fixed_text()
    };
    let usual = fixed("");
    for changed in [
        "[node]\nmetrics = \"127.0.0.1:9695\"",
        "[node]\ncache = \"1 packets\"",
        "[node]\ncache-replacement = \"lfu\"",
        "[node]\ncache-admission = \"prob(p=0.1)\"",
        "[node]\nsuppression = \"strict\"",
        "[node]\nlocalhop = true",
        "[node]\nprovider-ids = true",
        "[node]\nanticipation = \"all\"",
        "[node]\nrecovery = \"wldr\"",
        "[node]\nmobility = \"mldr\"",
        "[node]\nscheduler = \"drr\"",
        "[node]\nlog = \"json\"",
        "[limits]\npending = 7",
        "[limits]\nroutes = 7",
        "[management]\nopen = [\"cs\"]",
        "[management]\nv02-commands = true",
    ] {
        assert_ne!(fixed(changed), usual, "{changed}");
    }
    for followed in [
        "[node]\nstrategy = \"multicast\"",
        "[node]\ncapture = \"all.pcapng\"",
        "[[strategy]]\nprefix = \"/a\"\nstrategy = \"multicast\"",
        "[[face]]\nname = \"a\"\nuri = \"udp://192.0.2.7\"",
    ] {
        assert_eq!(fixed(followed), usual, "{followed}");
    }
}

#[test]
fn mistake_has_problem_place_and_remedy() {
    let listen = "[[listen]]\nuri = \"udp://0.0.0.0\"\n";
    for (before, text, line) in [
        (
            "",
            "listen = \"udp://0.0.0.0\"",
            "1:10: listen: `udp://0.0.0.0` is no table; write [[listen]]",
        ),
        (
            "",
            "[[listen]]\nurl = \"udp://0.0.0.0\"",
            "2:1: listen.1.url: is not known here; did you mean `uri`?",
        ),
        ("", "this is no toml", "1:6: this is neither a [table] nor a key with its value"),
        (listen, "[[node]]\ncache = 5", "3:1: node: is no table; write [node]"),
        (
            listen,
            "[node]\nstrategy = \"best-rout\"",
            "4:12: node.strategy: no strategy is called `best-rout` (did you",
        ),
        (listen, "[limits]\nidle = 120", "4:8: limits.idle: 120 has no unit; write \"120s\""),
        (
            listen,
            "[[face]]\nuri = \"udp://192.0.2.8\"",
            "3:1: face.1.name: is missing; write name = \"north\"",
        ),
        (
            listen,
            "[[route]]\nprefix = \"/a\"\nface = \"nroth\"",
            "5:8: route.1.face: no face is called `nroth`",
        ),
        (
            listen,
            "[management]\nopen = [\"ribs\"]",
            "4:8: management.open: `ribs` has no commands; there are rib",
        ),
    ] {
        let failure =
            ForwardConfig::parse("n.toml", &format!("{before}{text}")).unwrap_err().to_string();
        assert!(failure.starts_with(&format!("n.toml:{line}")), "{text}: {failure}");
    }
}
