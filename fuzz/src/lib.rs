//! What the targets share: how the first bytes of an input say where its rest is cut into pieces.

/// How many bytes at the beginning of an input say where its rest is cut.
const PLAN_BYTES: usize = 4;

/// An input as one stream of bytes and as the pieces it arrives in; `None` when it is too short to have any.
///
/// The plan is followed again and again to the end of the stream. Each of its bytes is the size of one piece: 1 to 128, or in steps
/// of 64 up to 8192 when its high bit is set, so that both single bytes and whole buffers are tried.
pub fn stream_in_pieces(input: &[u8]) -> Option<(&[u8], Vec<&[u8]>)> {
    let (plan, stream) = input.split_at_checked(PLAN_BYTES)?;
    let mut pieces = Vec::new();
    let mut rest = stream;
    for step in plan.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let wanted = if step & 0x80 == 0 { usize::from(*step) + 1 } else { (usize::from(step & 0x7f) + 1) * 64 };
        let (piece, after) = rest.split_at(wanted.min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    Some((stream, pieces))
}
