//! Keys: made, listed, exchanged.
use crate::place::{Ended, Place, can_mount};

#[test]
fn a_key_is_made_and_listed() {
    let place = Place::new();
    for (kind, signature) in [("ecdsa", "Ecdsa"), ("ed25519", "Ed25519"), ("hmac", "Hmac")] {
        let ended = place.run(&format!("key new /{kind} -t {kind}")).succeeds();
        let name = String::from_utf8(ended.stdout).unwrap();
        assert!(name.starts_with(&format!("/{kind}/KEY/")), "{name}");
        let list = place.run("key list").succeeds();
        let list = String::from_utf8(list.stdout).unwrap();
        assert!(list.contains(name.trim()) && list.contains(signature), "{list}");
    }
    let document = place.run("key list --json").succeeds().document();
    assert_eq!(document.as_array().unwrap().len(), 3);
}

#[test]
fn without_keys_the_way_to_one_is_shown() {
    let ended = Place::new().run("key list").succeeds();
    assert!(ended.stderr.contains("recoup key new"));
}

#[test]
fn a_key_moves_to_another_store() {
    let (here, there) = (Place::new(), Place::new());
    here.run("key new /alice").succeeds();
    here.write("secret", b"correct horse\n");
    here.run("key export /alice --format safebag --passphrase-file secret -o bag").succeeds();
    here.run("key export /alice -o plain.pem").succeeds();
    there.write("bag", &here.read("bag"));
    there.write("secret", b"correct horse\n");
    there.write("wrong", b"battery staple\n");
    there.write("plain.pem", &here.read("plain.pem"));
    let wrong = there.run("key import bag --passphrase-file wrong");
    wrong.fails(4, &["bag", "passphrase"]);
    there.run("key import bag").fails(4, &["bag", "--passphrase-file", "RECOUP_PASSPHRASE"]);
    let name = |ended: crate::place::Ended| String::from_utf8(ended.succeeds().stdout).unwrap();
    let imported = name(there.run("key import bag --passphrase-file secret"));
    assert!(imported.starts_with("/alice/KEY/"));
    there.run("key import bag --passphrase-file secret").fails(4, &["already"]);
    there.run("key import plain.pem").fails(2, &["--identity"]);
    assert!(name(there.run("key import plain.pem --identity /other")).starts_with("/other/KEY/"));
}

#[test]
fn what_cannot_be_done_is_said() {
    let place = Place::new();
    place.run("key export /nobody").fails(4, &["/nobody"]);
    place.run("key import nowhere").fails(4, &["nowhere", "no such file"]);
    place.write("garbage", b"garbage");
    place.run("key import garbage --identity /x").fails(4, &["garbage"]);
    place.run("key new /alice").succeeds();
    place.run("key export /alice --format safebag").fails(2, &["--passphrase-file"]);
    place.write("there", b"x");
    place.run("key export /alice -o there").fails(4, &["there", "already"]);
    place.run("key new /alice -t rot13").refuses(&["ecdsa"]);
}

#[test]
fn a_private_key_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.run("key new /alice").succeeds();
    place.run("key export /alice -o private.pem").succeeds();
    let mode = std::fs::metadata(place.path("private.pem")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_full_disk_leaves_no_half_a_key() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    // At first there is no room for anything, then for the key and not for its certificate, then for both.
    let script = format!(
        "mkdir disk && mount -t tmpfs -o size=4k none disk && echo x > disk/full && \
         export XDG_DATA_HOME=$PWD/disk && {0} key new /alice; echo $?; rm disk/full; {0} key new /alice; echo $?; \
         {0} key list; mount -o remount,size=16k disk; {0} key new /alice",
        env!("CARGO_BIN_EXE_recoup"),
    );
    let mut command = std::process::Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", &script]).current_dir(place.path(""));
    let ended = Ended::of("key new", command.output().unwrap()).succeeds();
    let said = String::from_utf8(ended.stdout).unwrap();
    let lines: Vec<_> = said.lines().collect();
    let ["4", "4", key] = lines[..] else { panic!("{said}{}", ended.stderr) };
    assert!(key.starts_with("/alice/KEY/") && ended.stderr.contains("No space left"), "{said}");
}
