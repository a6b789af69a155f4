import type { EventQuery } from "@signalbox/protocol/hub-api"
import { HubError } from "../errors.ts"
import type { EventPage, StoredEvent } from "../model/event.ts"
import type { EventLog, LineSize, ReadRange } from "../store/event-log.ts"

/** A page ends before the line that goes beyond this; its caller asks for the rest. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024
/** Events are read from the log so much at a time: one reader that does not read holds no more. */
const PIECE_BYTES = 256 * 1024
/** Room that an event takes beside its line. */
const EVENT_HEAD_BYTES = 256

/** Events in `seq` order: after a place, before it, or around it. `more` tells whether the log goes on in that direction. */
export async function readPage(
  log: EventLog,
  session: string,
  query: EventQuery,
  maxBytes = MAX_PAGE_BYTES,
): Promise<EventPage> {
  const { firstSeq, lastSeq } = await log.bounds(session)
  const sizes = (await Promise.all(rangesOf(query, maxBytes).map((range) => log.sizes(session, range)))).flat()
  const pieces = inPieces(sizes)
  const more =
    query.before === undefined ? (sizes.at(-1)?.seq ?? lastSeq) < lastSeq : (sizes[0]?.seq ?? firstSeq) > firstSeq
  const largestPieceBytes = Math.max(0, ...pieces.map(({ bytes }) => bytes))
  return { firstSeq, lastSeq, more, largestPieceBytes, pieces: readPieces(log, session, pieces) }
}

/** Around a place, each side gets half of the bytes: one giant line must not push the other side out. */
function rangesOf({ after = 0, before, around, limit }: EventQuery, maxBytes: number): readonly ReadRange[] {
  if (before !== undefined) return [{ before, limit, maxBytes }]
  if (around === undefined) return [{ after, limit, maxBytes }]
  const older = Math.max(0, Math.min(around - 1, Math.ceil(limit / 2) - 1))
  return [
    { before: around, limit: older, maxBytes: maxBytes / 2 },
    { after: around - 1, limit: limit - older, maxBytes: maxBytes / 2 },
  ]
}

interface Piece {
  readonly first: number
  last: number
  bytes: number
}

function inPieces(sizes: readonly LineSize[]): readonly Piece[] {
  const pieces: Piece[] = []
  for (const size of sizes) {
    const { seq } = size
    const bytes = size.bytes + EVENT_HEAD_BYTES
    const piece = pieces.at(-1)
    if (piece === undefined || piece.bytes + bytes > PIECE_BYTES) pieces.push({ first: seq, last: seq, bytes })
    else {
      piece.last = seq
      piece.bytes += bytes
    }
  }
  return pieces
}

async function* readPieces(
  log: EventLog,
  session: string,
  pieces: readonly Piece[],
): AsyncGenerator<readonly StoredEvent[]> {
  for (const { first, last } of pieces) {
    const limit = last - first + 1
    const events = await log.read(session, { after: first - 1, before: last + 1, limit })
    // A reply that leaves some out would look whole.
    if (events.length < limit) throw new HubError("store/failed", "These events were removed while they were read")
    yield events
  }
}
