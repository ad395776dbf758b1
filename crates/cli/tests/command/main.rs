//! The command as its users run it: what it does, and what it says when it cannot.
mod place;

mod ctl;
mod demo;
mod emulate;
mod explain;
mod fetch;
mod folder;
mod forward;
mod generate;
mod interrupted;
mod key;
mod lab;
mod link;
mod observe;
mod ping;
mod rto;
mod serve;
mod sim;
mod study;
mod trust;
mod tutorial;
mod unreachable;
mod usage;
mod workers;
