//! Segments of one wake-up, written with as few system calls as their order allows.
use bytes::Bytes;
use std::fs::File;
use std::io::{self, IoSlice};

/// Most pieces in one vectored write (the kernel's `UIO_MAXIOV`).
const MAX_PIECES: usize = 1024;

/// Content of a segment, and its offset in the file in bytes.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) segment: u64,
    pub(super) offset: u64,
    pub(super) content: Bytes,
}

/// Writes pieces in ascending order; neighbours go into one system call.
pub(super) fn write_all(file: &File, pieces: &[Piece]) -> io::Result<()> {
    pieces
        .chunk_by(|piece, next| piece.offset + piece.content.len() as u64 == next.offset)
        .flat_map(|run| run.chunks(MAX_PIECES))
        .try_for_each(|run| write_run(file, run))
}

fn write_run(file: &File, run: &[Piece]) -> io::Result<()> {
    let Some(&Piece { mut offset, .. }) = run.first() else {
        return Ok(());
    };
    let mut slices: Vec<IoSlice<'_>> =
        run.iter().map(|piece| IoSlice::new(&piece.content)).collect();
    let mut rest = &mut slices[..];
    IoSlice::advance_slices(&mut rest, 0);
    while !rest.is_empty() {
        let written = write_vectored_at(file, rest, offset)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        offset += written as u64;
        IoSlice::advance_slices(&mut rest, written);
    }
    Ok(())
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn write_vectored_at(file: &File, slices: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
    Ok(rustix::io::retry_on_intr(|| rustix::io::pwritev(file, slices, offset))?)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn write_vectored_at(file: &File, slices: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
    use std::os::unix::fs::FileExt;
    let Some(slice) = slices.first() else {
        return Ok(0);
    };
    file.write_all_at(slice, offset)?;
    Ok(slice.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn pieces_in_any_order_are_written_correctly() {
        let mut file = tempfile::tempfile().unwrap();
        let piece = |segment: u64, content: Vec<u8>| Piece {
            segment,
            offset: 3 * segment,
            content: content.into(),
        };
        let mut pieces: Vec<Piece> = (0..3000).map(|i| piece(i, vec![i as u8; 3])).collect();
        pieces.reverse();
        pieces.retain(|piece| piece.offset % 5 != 0);
        pieces.push(piece(3000, Vec::new()));
        pieces.sort_unstable_by_key(|piece| piece.segment);
        write_all(&file, &pieces).unwrap();
        let mut read = Vec::new();
        file.read_to_end(&mut read).unwrap();
        for (i, chunk) in read.chunks(3).enumerate() {
            let expected = if (i * 3) % 5 == 0 { 0 } else { i as u8 };
            assert_eq!(chunk, [expected; 3], "piece {i}");
        }
    }

    #[test]
    fn nothing_to_write_is_fine() {
        let file = tempfile::tempfile().unwrap();
        write_all(&file, &[]).unwrap();
        let empty = Piece { segment: 0, offset: 7, content: Bytes::new() };
        write_all(&file, &[empty]).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 0);
    }
}
