//! Peers that mean harm, made with our own packets. What `cargo xtask bench survive` drives.
//!
//! `hostile applications SOCKET COUNT` has so many applications connect, register a prefix, and quit before they are answered;
//! prints the number of successes.
//! `hostile listings SOCKET PREFIX SHAPE` serves folders at a Unix socket of its own until it is killed:
//! `deep` lists a folder and millions of files in each folder, `same` lists one file millions of times, `endless` has listings
//! without end.
mod listing;

use recoup_packet::interest::Uniqueness;
use recoup_packet::signature::DigestSigner;
use recoup_transport::management::{ControlParameters, Scope, register_command};
use std::error::Error;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::{SystemTime, UNIX_EPOCH};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["applications", socket, count] => applications(socket, count.parse()?),
        ["listings", socket, prefix, shape] => listing::serve(socket, prefix, shape.parse()?),
        _ => Err("usage: hostile applications SOCKET COUNT | listings SOCKET PREFIX SHAPE".into()),
    }
}

fn applications(socket: &str, count: u64) -> Outcome {
    let start = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as u64;
    for number in 0..count {
        let name = Some(format!("/application/{number}").parse()?);
        let parameters = ControlParameters { name, ..ControlParameters::default() };
        let time = start + number;
        let nonce = time.to_be_bytes();
        let unique = Uniqueness { nonce: Some(&nonce), time: Some(time), seq_num: None };
        let mut command = register_command(Scope::Localhost, &parameters, &DigestSigner, unique);
        command.nonce = Some(number as u32);
        UnixStream::connect(socket)?.write_all(&command.to_bytes())?;
    }
    println!("applications {count}");
    Ok(())
}
