//! The command as its users run it: its effects, and its errors.
mod place;

mod arena;
mod chain;
mod clock;
mod collide;
mod crowd;
mod ctl;
mod demo;
mod distrust;
mod emulate;
mod explain;
mod fetch;
mod folder;
mod forward;
#[cfg(feature = "gateway")]
mod gateway;
mod generate;
mod group;
mod hostile;
mod interrupted;
mod key;
mod killed;
mod lab;
mod link;
mod negotiate;
mod observe;
mod outcome;
mod ping;
mod rewritten;
mod rto;
mod serve;
mod share;
mod sim;
mod study;
mod terminal;
mod trust;
mod tutorial;
mod unreachable;
mod usage;
mod wait;
#[cfg(feature = "workers")]
mod workers;
