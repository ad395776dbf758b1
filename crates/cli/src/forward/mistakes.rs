//! Messages about mistakes in a configuration: problem, place, and remedy.
use super::config::ForwardConfig;

/// A configuration, and the line about it.
type Case = (&'static str, &'static str);

/// Where to listen; what comes behind it begins in line 3.
const LISTEN: &str = "[[listen]]\nuri = \"udp://0.0.0.0\"\n";
/// A neighbour; what comes behind it begins in line 4.
const FACE: &str = "[[face]]\nname = \"north\"\nuri = \"udp://192.0.2.7\"\n";

#[track_caller]
fn expect(before: &str, cases: &[Case]) {
    for (text, line) in cases {
        let failure = ForwardConfig::parse("n.toml", &format!("{before}{text}")).unwrap_err();
        assert_eq!(failure.to_string(), format!("n.toml:{line}"), "{text}");
    }
}

#[test]
fn where_it_listens() {
    expect(
        "",
        &[
            (
                "",
                " listen: is missing, and there is no [[face]] either; write [[listen]] and uri = \"udp://0.0.0.0\" below",
            ),
            (
                "listen = [\"udp://0.0.0.0\"]",
                "1:11: listen.1: `udp://0.0.0.0` is no table; write [[listen]] above each, and its keys below",
            ),
            (
                "listen = \"udp://0.0.0.0\"",
                "1:10: listen: `udp://0.0.0.0` is no table; write [[listen]] above each, and its keys below",
            ),
            (
                "[listen]\nuri = \"udp://0.0.0.0\"",
                "1:1: listen: is one table; write [[listen]], with two brackets, above each",
            ),
            ("[[listen]]", "1:1: listen.1.uri: is missing; write uri = \"udp://0.0.0.0\""),
            (
                "[[listen]]\nurl = \"udp://0.0.0.0\"",
                "2:1: listen.1.url: is not known here; did you mean `uri`?",
            ),
            (
                "[[listen]]\nuri = 6363",
                "2:7: listen.1.uri: 6363 is no text; write it in quotation marks",
            ),
            (
                "[[listen]]\nuri = \"udp://0.0.0.0:70000\"",
                "2:7: listen.1.uri: \"udp://0.0.0.0:70000\" is not a face: the port must be a number from 0 to 65535",
            ),
            (
                "[[listen]]\nuri = \"udp://h:0\"\n[[listen]]\nuri = \"udp://h:0\"\n[[listen]]\nuri = \"udp://h\"\n\
                 [[listen]]\nuri = \"udp://h:6363\"",
                "8:7: listen.4.uri: stands in another [[listen]] above",
            ),
            (
                "[[listen]]\nuri = \"udp4://224.0.23.170\"",
                "2:7: listen.1.uri: several share this: it is no listener; write [[face]]",
            ),
        ],
    );
}

#[test]
fn what_is_no_toml() {
    expect(
        "",
        &[
            (
                "this is no toml",
                "1:6: this is neither a [table] nor a key with its value: key = value",
            ),
            ("[[listen]]\nuri = udp://0.0.0.0", "2:7: text needs quotation marks: key = \"text\""),
            ("[[listen]\nuri = \"udp://0.0.0.0\"", "1:10: unclosed array table, expected `]`"),
            (
                "[[listen]]\nuri = \"udp://0.0.0.0\"\nuri = \"tcp://0.0.0.0\"",
                "3:1: `uri` stands here for the second time",
            ),
        ],
    );
}

#[test]
fn the_node() {
    expect(
        LISTEN,
        &[
            ("[[node]]\ncache = 5", "3:1: node: is no table; write [node]"),
            ("[nodes]\ncache = 5", "3:2: nodes: is not known here; did you mean `node`?"),
            (
                "[node]\ncache = \"5 apples\"",
                "4:9: node.cache: `5 apples` is not a number of packets or bytes; write it like \"32 packets\", \"64 KiB\", \"unlimited\" or 0",
            ),
            ("[node]\ncache = 1979-05-27", "4:9: cache: a date means nothing here; write a string"),
            (
                "[node]\nlocalhop = \"yes\"",
                "4:12: node.localhop: `yes` is neither true nor false, without quotation marks",
            ),
            (
                "[node]\nmetrics = \"localhost:9695\"",
                "4:11: node.metrics: `localhost:9695` is no address and port, such as \"127.0.0.1:9695\"",
            ),
            (
                "[node]\nstrategy = \"best-rout\"",
                "4:12: node.strategy: no strategy is called `best-rout` (did you mean `best-route`?); there are: best-route, multicast, broadcast, best-face, discover, multipath",
            ),
            (
                "[node]\nscheduler = \"max-min\"\nrate = \"fast\"",
                "5:8: node.rate: `fast` is not a rate; write it like \"10 Mbit/s\"",
            ),
            (
                "[node]\nlocalhop = 1\nprovider-ids = 2",
                "4:12: node.localhop: `1` is neither true nor false, without quotation marks (and another mistake, in line 5)",
            ),
        ],
    );
}

#[test]
fn neighbours_and_routes() {
    expect(
        FACE,
        &[
            ("mtu = \"1400\"", "4:7: face.1.mtu: is a number; write 1400, without quotation marks"),
            ("mtu = -1", "4:7: face.1.mtu: -1 is negative; write 0 or more"),
            (
                "recovery = \"wlrd\"",
                "4:12: face.1.recovery: no link recovery is called `wlrd` (did you mean `wldr`?); there are: off, auto, wldr, acked",
            ),
            (
                "interface = \"eth0\"",
                "4:13: face.1.interface: is for multicast groups and Ethernet, and this face leads to one peer",
            ),
            (
                "[[face]]\nuri = \"udp://192.0.2.8\"",
                "4:1: face.2.name: is missing; write name = \"north\"",
            ),
            (
                "[[face]]\nname = \"b\"\nuri = \"ether://[01:00:5e:00:17:aa]\"",
                "4:1: face.2.interface: is missing; write interface = \"eth0\"",
            ),
            (
                "[[face]]\nname = \"b\"\nuri = \"udp://192.0.2.7:0\"",
                "6:7: face.2.uri: port 0 is no destination; name the port of the other end",
            ),
            (
                "[[face]]\nname = \"b\"\nuri = \"udp://[fe80::1\"",
                "6:7: face.2.uri: \"udp://[fe80::1\" is not a face: the closing bracket is missing",
            ),
            (
                "[[route]]\nprefix = \"a/b\"\nface = \"north\"",
                "5:10: route.1.prefix: a name begins with '/', or 'ndn:/'; did you mean '/a/b'?",
            ),
            (
                "[[route]]\nprefix = \"/a\"\nface = \"nroth\"",
                "6:8: route.1.face: no face is called `nroth`; did you mean `north`?",
            ),
            (
                "[[route]]\nprefix = \"/a\"",
                "4:1: route.1.face: is missing; write face = \"north\", the name of a [[face]]",
            ),
            (
                "[[route]]\nprefix = \"/a\"\nface = \"north\"\ncost = 1.5",
                "7:8: route.1.cost: `1.5` is no whole number",
            ),
            (
                "[[strategy]]\nprefix = \"/a\"",
                "4:1: strategy.1.strategy: is missing; write strategy = \"best-route\"",
            ),
        ],
    );
}

#[test]
fn limits_and_keys() {
    expect(
        LISTEN,
        &[
            ("[limits]\npending = 0", "4:11: limits.pending: must be at least 1"),
            (
                "[limits]\nface-backlog = \"8 GiB bytes\"",
                "4:16: limits.face-backlog: `8 GiB bytes` is not a size; write it like \"1448 B\", \"64 KiB\" or \"10 MB\"",
            ),
            ("[limits]\nidle = 120", "4:8: limits.idle: 120 has no unit; write \"120s\""),
            (
                "[management]\nkeys = \"operator.cert\"",
                "4:8: management.keys: `operator.cert` is no list; write [\"operator.cert\"]",
            ),
            (
                "[management]\nopen = [\"ribs\"]",
                "4:8: management.open: `ribs` has no commands; there are rib, fib, faces, strategy-choice, cs",
            ),
        ],
    );
}
