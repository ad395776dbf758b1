//! Chains of certificates: content is accepted if the trust schema allows each link, and certificates are fetched.
use crate::place::{Ended, Place, Server, noise};

const SCHEMA: &str = r##"
// Content of the site.
#site: "site"
#root: #site/#KEY
#admin: #site/"admin"/admin/#KEY <= #root
#author: #site/"author"/author/#KEY <= #admin
#article: #site/"article"/author/_/version/segment
    & { version: $eq_type("v=0"), segment: $eq_type("seg=0") } <= #author
#metadata: #site/"article"/author/_/"32=metadata"/version/segment <= #author
#KEY: "KEY"/_/_/_
"##;

/// A site with a root, an admin and an author, each in a store of its own where that matters.
struct Site {
    producer: Place,
    consumer: Place,
}

fn issue(from: &Place, to: &Place, signer: &str, identity: &str) {
    let moved = |name: &str, a: &Place, b: &Place| b.write(name, &a.read(name));
    to.run(&format!("key sign-request {identity} -o request")).succeeds();
    moved("request", to, from);
    let words = format!("key issue request --signer {signer} --issuer site -o certificate");
    from.run(&words).succeeds();
    moved("certificate", from, to);
    to.run("key import certificate").succeeds();
    for name in ["request", "certificate"] {
        let _ = std::fs::remove_file(from.path(name));
        let _ = std::fs::remove_file(to.path(name));
    }
}

impl Site {
    fn new() -> Self {
        let (root, producer, consumer) = (Place::new(), Place::new(), Place::new());
        root.run("key new /site").succeeds();
        root.run("key new /site/admin/eve").succeeds();
        issue(&root, &root, "/site", "/site/admin/eve");
        for author in ["/site/author/ann", "/site/author/bob"] {
            producer.run(&format!("key new {author}")).succeeds();
            issue(&root, &producer, "/site/admin/eve", author);
        }
        // The producer has the admin's certificate, to publish it, and not its key.
        root.run("key export /site/admin/eve --public -o eve.cert").succeeds();
        root.run("key export /site --public -o root.cert").succeeds();
        producer.write("eve.cert", &root.read("eve.cert"));
        producer.run("key import eve.cert").succeeds();
        consumer.write("root.cert", &root.read("root.cert"));
        consumer.write("policy.lvs", SCHEMA.as_bytes());
        consumer.run("trust compile policy.lvs -o policy.tlv").succeeds();
        producer.write("tea", &noise(60_000));
        Self { producer, consumer }
    }

    fn serve(&self, author: &str, key: &str) -> Server {
        let name = format!("/site/article/{author}/tea");
        self.producer
            .serve(&format!("serve tea --name {name} --listen tcp://127.0.0.1:0 --sign {key}"))
    }

    fn fetch(&self, server: &Server, author: &str, how: &str) -> Ended {
        let face = server.face();
        let words =
            format!("fetch /site/article/{author}/tea -o copy --face {face} --retries 2 {how}");
        self.consumer.run(&words)
    }
}

#[test]
fn schema_decides_which_author_may_sign() {
    let site = Site::new();
    let server = site.serve("ann", "/site/author/ann");
    for schema in ["policy.tlv", "policy.lvs"] {
        let how = format!("--trust root.cert --schema {schema} --json");
        let document = site.fetch(&server, "ann", &how).succeeds().document();
        assert_eq!(document["verification"]["not_verified"], 0, "{document}");
        assert_eq!(document["verification"]["verified"], 8, "{document}");
        assert!(site.consumer.read("copy") == site.producer.read("tea"));
        std::fs::remove_file(site.consumer.path("copy")).unwrap();
    }
    let server = site.serve("ann", "/site/author/bob");
    let how = "--trust root.cert --schema policy.tlv";
    site.fetch(&server, "ann", how).fails(5, &["cannot be trusted", "trust schema does not allow"]);
    assert!(!site.consumer.exists("copy"));
}

#[test]
fn without_schema_owners_sign_below_their_names() {
    let site = Site::new();
    let server = site.serve("ann", "/site/author/ann");
    // The author's name is no prefix of the article's.
    site.fetch(&server, "ann", "--trust root.cert").fails(5, &["no prefix of its name"]);
    site.producer.run("key new /site/article/ann").succeeds();
    site.producer.run("key export /site/article/ann --public -o ann.cert").succeeds();
    site.consumer.write("ann.cert", &site.producer.read("ann.cert"));
    let server = site.serve("ann", "/site/article/ann");
    site.fetch(&server, "ann", "--trust ann.cert").succeeds();
    assert!(site.consumer.read("copy") == site.producer.read("tea"));
}

#[test]
fn chain_that_ends_elsewhere_is_rejected() {
    let (site, other) = (Site::new(), Site::new());
    let server = site.serve("ann", "/site/author/ann");
    site.consumer.write("root.cert", &other.consumer.read("root.cert"));
    let how = "--trust root.cert --schema policy.tlv";
    site.fetch(&server, "ann", how).fails(5, &["cannot be trusted"]);
    assert!(!site.consumer.exists("copy"));
}

#[test]
fn unpublished_certificate_is_an_error() {
    let site = Site::new();
    // Without the admin's certificate the chain has a hole.
    let folder = site.producer.path(".local/share/recoup/keys");
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|it| it == "ndncert")
            && !path.with_extension("pem").exists()
        {
            std::fs::remove_file(path).unwrap();
        }
    }
    let server = site.serve("ann", "/site/author/ann");
    let how = "--trust root.cert --schema policy.tlv --no-progress-timeout 90s";
    site.fetch(&server, "ann", how).fails(5, &["certificate cannot be had"]);
}

#[test]
fn manifests_carry_the_signature_of_segments() {
    let site = Site::new();
    let schema = format!(
        "{SCHEMA}\n#manifest: #site/\"article\"/author/_/version/\"32=manifest\"/_ <= #author"
    );
    site.consumer.write("policy.lvs", schema.as_bytes());
    site.producer.write("tea", &noise(2_100_000));
    let words =
        "serve tea --name /site/article/ann/tea --listen tcp://127.0.0.1:0 --manifest --sign";
    let fetch = |server: &Server, how: &str| {
        let (face, name) = (server.face(), "/site/article/ann/tea");
        site.consumer.run(&format!("fetch {name} -o copy --face {face} --retries 2 --json {how}"))
    };
    let server = site.producer.serve(&format!("{words} /site/author/ann"));
    site.producer.run("key export /site/author/ann --public -o ann.cert").succeeds();
    site.producer.run("key export /site/author/bob --public -o bob.cert").succeeds();
    for file in ["ann.cert", "bob.cert"] {
        site.consumer.write(file, &site.producer.read(file));
    }
    for how in ["--trust root.cert --schema policy.lvs", "--verify key=ann.cert", "--verify digest"]
    {
        let document = fetch(&server, how).succeeds().document();
        assert_eq!(document["verification"]["verified"], 263, "{how}: {document}");
        assert!(site.consumer.read("copy") == site.producer.read("tea"));
        std::fs::remove_file(site.consumer.path("copy")).unwrap();
    }
    fetch(&server, "--verify key=bob.cert").fails(5, &[]);
    let server = site.producer.serve(&format!("{words} /site/author/bob"));
    fetch(&server, "--trust root.cert --schema policy.lvs").fails(5, &[]);
    // Segments with digests and no manifest are worth nothing.
    let server =
        site.producer.serve("serve tea --name /site/article/ann/tea --listen tcp://127.0.0.1:0");
    fetch(&server, "--verify key=ann.cert --no-discovery").fails(5, &[]);
}

#[test]
fn folder_is_verified_with_its_listing() {
    let site = Site::new();
    std::fs::create_dir(site.producer.path("dir")).unwrap();
    for file in ["a", "b", "c"] {
        std::fs::write(site.producer.path("dir").join(file), noise(9_000)).unwrap();
    }
    site.producer.run("key new /dir").succeeds();
    site.producer.run("key export /dir --public -o dir.cert").succeeds();
    site.consumer.write("dir.cert", &site.producer.read("dir.cert"));
    let words = "serve dir --name /dir --listen tcp://127.0.0.1:0 --sign /dir";
    let server = site.producer.serve(words);
    let words = format!("fetch /dir -r -o dir --face {} --trust dir.cert", server.face());
    site.consumer.run(&words).succeeds();
    assert!(site.consumer.read("dir/b") == noise(9_000));
}

#[test]
fn schema_names_the_reason() {
    let site = Site::new();
    let check = |name: &str, key: &str| {
        site.consumer.run(&format!("trust check {name} {key} --schema policy.tlv"))
    };
    let article = "/site/article/ann/tea/v=1/seg=0";
    let allowed = check(article, "/site/author/ann/KEY/1/site/v=1").succeeds();
    let text = String::from_utf8(allowed.stdout).unwrap();
    assert!(text.contains("#author may sign #article"), "{text}");
    let denied = check(article, "/site/author/bob/KEY/1/site/v=1");
    let text = String::from_utf8(denied.stdout.clone()).unwrap();
    assert!(text.contains("author=bob, but the packet has author=ann"), "{text}");
    denied.fails(5, &["may not sign"]);
    site.consumer.run("trust check /site/x root.cert --json").succeeds();
    site.consumer.run("trust check /other root.cert").fails(5, &["may not sign"]);
    site.consumer.write("bad.lvs", b"#a: b <= #c");
    site.consumer.run("trust compile bad.lvs -o bad.tlv").fails(4, &["bad.lvs:1:10", "#c"]);
    site.consumer.write("fn.lvs", b"#a: b & { b: $own() }");
    site.consumer.run("trust check /a /k --schema fn.lvs").fails(4, &["$own", "library"]);
    let how = "fetch /site/x --trust root.cert --schema fn.lvs -o x";
    site.consumer.run(how).fails(4, &["$own"]);
}
