import { type Hub, type HubEvent, readEvents, type Session } from "@signalbox/client"
import { transcriptPage } from "@signalbox/transcript/page"

export type ExportKind = "page" | "events"

/** A part of the file: the browser may keep parts out of memory, and others come to their turn between two. */
const PART_CHARS = 1_000_000

interface Exported {
  readonly hub: Hub
  readonly session: Session
  readonly kind: ExportKind
  readonly signal: AbortSignal
  readonly onRead: (percent: number) => void
}

/** The session as a file, read page by page. The same page as the command writes, from the same hand. */
export function exportFile({ hub, session, kind, signal, onRead }: Exported): Promise<File> {
  const name = `session-${session.id.slice(0, 8)}`
  const { id, lastSeq } = session
  const events = readEvents(hub.session(id), lastSeq, (seq) => onRead(Math.round((seq / lastSeq) * 100)))
  if (kind === "events") return fileOf(lines(events), signal, { name: `${name}.ndjson`, type: "application/x-ndjson" })
  const asks = () => hub.asks({ session: session.id })
  const page = transcriptPage({ session, events, asks, writtenAt: new Date().toISOString() })
  return fileOf(page, signal, { name: `${name}.html`, type: "text/html" })
}

async function* lines(events: AsyncIterable<HubEvent>): AsyncGenerator<string> {
  for await (const event of events) yield `${JSON.stringify(event)}\n`
}

async function fileOf(
  text: AsyncIterable<string>,
  signal: AbortSignal,
  { name, type }: { readonly name: string; readonly type: string },
): Promise<File> {
  const parts: Blob[] = []
  let pieces: string[] = []
  let chars = 0
  for await (const piece of text) {
    signal.throwIfAborted()
    pieces.push(piece)
    chars += piece.length
    if (chars < PART_CHARS) continue
    parts.push(new Blob(pieces))
    ;[pieces, chars] = [[], 0]
    await new Promise((resolve) => setTimeout(resolve))
  }
  return new File([...parts, ...pieces], name, { type })
}
