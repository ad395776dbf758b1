//! Words: octets on one side, Interest, Data, Nack and link header on the other.
pub mod data;
pub mod interest;
pub mod nack;
pub mod signature;
