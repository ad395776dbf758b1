//! Keys: made, listed, exchanged.
use crate::place::{Ended, Place, can_mount, recoup};

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
    here.run("key export /alice --insecure -o plain.pem").succeeds();
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
fn impossible_commands_are_errors() {
    let place = Place::new();
    place.run("key export /absent").fails(4, &["/absent"]);
    place.run("key import nowhere").fails(4, &["nowhere", "no such file"]);
    place.write("garbage", b"garbage");
    place.run("key import garbage --identity /x").fails(4, &["garbage"]);
    place.run("key new /alice").succeeds();
    place.run("key export /alice --format safebag").fails(2, &["--passphrase-file"]);
    place.write("there", b"x");
    place.run("key export /alice --public -o there").fails(4, &["there", "already"]);
    place.run("key new /alice -t rot13").fails_as_usage(&["ecdsa"]);
}

#[test]
fn a_private_key_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.run("key new /alice").succeeds();
    place.run("key export /alice --insecure -o private.pem").succeeds();
    let mode = std::fs::metadata(place.path("private.pem")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_full_disk_leaves_no_half_a_key() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    // At first there is no space for anything, then for the key and not for its certificate, then for both.
    let script = format!(
        "mkdir disk && mount -t tmpfs -o size=4k none disk && echo x > disk/full && \
         export XDG_DATA_HOME=$PWD/disk && {0} key new /alice; echo $?; rm disk/full; {0} key new /alice; echo $?; \
         {0} key list; mount -o remount,size=16k disk; {0} key new /alice",
        recoup().display(),
    );
    let mut command = std::process::Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", &script]).current_dir(place.path(""));
    let ended = Ended::of("key new", command.output().unwrap()).succeeds();
    let printed = String::from_utf8(ended.stdout).unwrap();
    let lines: Vec<_> = printed.lines().collect();
    let ["4", "4", key] = lines[..] else { panic!("{printed}{}", ended.stderr) };
    assert!(key.starts_with("/alice/KEY/") && ended.stderr.contains("No space left"), "{printed}");
}

#[test]
fn private_key_without_passphrase_needs_consent() {
    let place = Place::new();
    place.run("key new /alice").succeeds();
    place.run("key export /alice").fails(2, &["passphrase", "--insecure"]);
    let plain = place.run("key export /alice --insecure").succeeds();
    assert!(String::from_utf8(plain.stdout).unwrap().contains("BEGIN PRIVATE KEY"));
    place.write("secret", b"correct horse\n");
    let sealed = place.run("key export /alice --passphrase-file secret").succeeds();
    assert!(String::from_utf8(sealed.stdout).unwrap().contains("BEGIN ENCRYPTED PRIVATE KEY"));
}

#[test]
fn keys_are_chosen_and_deleted() {
    let place = Place::new();
    let name = |ended: Ended| String::from_utf8(ended.succeeds().stdout).unwrap().trim().to_owned();
    let first = name(place.run("key new /alice"));
    let second = place.run("key new /alice").succeeds();
    assert!(second.stderr.contains("older keys") && second.stderr.contains("key default"));
    let second = name(second);
    let default = || {
        let keys = place.run("key list --json").succeeds().document();
        let keys = keys.as_array().unwrap().clone();
        let chosen = keys.iter().filter(|key| key["is_default"] == true);
        chosen.map(|key| key["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(default(), std::slice::from_ref(&second));
    place.run(&format!("key default {first}")).succeeds();
    assert_eq!(default(), std::slice::from_ref(&first));
    place.run("key delete /alice").fails(4, &["several keys"]);
    place.run(&format!("key delete {first}")).succeeds();
    assert_eq!(default(), [second]);
    place.run("key delete /alice").succeeds();
    place.run("key delete /alice").fails(4, &["/alice"]);
}

#[test]
fn issued_certificate_becomes_that_of_the_key() {
    let place = Place::new();
    place.run("key new /site").succeeds();
    place.run("key new /site/bob").succeeds();
    place.run("key sign-request /site/bob -o bob.req").succeeds();
    let issue = "key issue bob.req --signer /site --issuer site --days 10 -o bob.cert";
    assert!(place.run(issue).succeeds().stderr.contains("/site/v="));
    let name = String::from_utf8(place.run("key import bob.cert").succeeds().stdout).unwrap();
    assert!(name.starts_with("/site/bob/KEY/") && name.contains("/site/v="), "{name}");
    let list = String::from_utf8(place.run("key list").succeeds().stdout).unwrap();
    assert!(list.contains("  expires in "), "{list}");
    place.write("garbage", b"garbage");
    place.run("key issue garbage --signer /site").fails(4, &["garbage", "sign-request"]);
    place.run("key issue bob.req --signer /absent").fails(4, &["/absent"]);
}
