import { type Hub, type HubEvent, readEvents, type Session } from "@signalbox/client"
import { transcriptPage } from "@signalbox/transcript/page"
import { type ReactNode, useEffect, useRef, useState } from "react"
import { hubNow } from "../app/clock.ts"
import { useHub } from "../app/hub-context.ts"
import { Button, CopyButton } from "../design/button.tsx"
import { Trouble } from "../design/notice.tsx"
import { saveFile } from "../transcript/content/documents.tsx"

type Progress =
  | { readonly name: "none" }
  | { readonly name: "reading"; readonly percent: number }
  | { readonly name: "done" }
  | { readonly name: "failed"; readonly why: string }

/** The session as a file: a page to read, or its events. */
export function ExportSession({ session }: { readonly session: Session }) {
  const command = `signalbox export ${session.id} --html session.html`
  return (
    <>
      <Download session={session} kind="page" action="Download page">
        One self-contained HTML page to read, print or share. It contains no scripts.
      </Download>
      <Download session={session} kind="events" action="Download events">
        Every event, one JSON object per line (NDJSON).
      </Download>
      <section className="flex flex-col gap-2">
        <p className="text-text-2">From the command line:</p>
        <div className="relative rounded-control border border-line bg-sunken px-3 py-2 pe-14 font-mono text-dense">
          {command}
          <CopyButton text={command} label="Copy command" className="absolute top-1 right-1" />
        </div>
      </section>
    </>
  )
}

interface DownloadProps {
  readonly session: Session
  readonly kind: ExportKind
  readonly action: string
  readonly children: ReactNode
}

function Download({ session, kind, action, children }: DownloadProps) {
  const hub = useHub()
  const [progress, setProgress] = useState<Progress>({ name: "none" })
  const ending = useRef(new AbortController())
  useEffect(() => {
    const controller = new AbortController()
    ending.current = controller
    return () => controller.abort()
  }, [])

  async function download(): Promise<void> {
    if (progress.name === "reading") return
    const { signal } = ending.current
    const onRead = (percent: number) => {
      signal.throwIfAborted()
      setProgress({ name: "reading", percent })
    }
    onRead(0)
    try {
      saveFile(await exportFile({ hub, session, kind, signal, onRead }))
      setProgress({ name: "done" })
    } catch (error) {
      if (!signal.aborted) setProgress({ name: "failed", why: error instanceof Error ? error.message : String(error) })
    }
  }

  return (
    <section className="flex flex-col items-start gap-2">
      <p className="text-text-2">{children}</p>
      <div className="flex flex-wrap items-center gap-3">
        <Button
          look={kind === "page" ? "primary" : "plain"}
          aria-disabled={progress.name === "reading"}
          onClick={() => void download()}
        >
          {progress.name === "reading" ? `Reading, ${progress.percent} %` : action}
        </Button>
        {progress.name === "done" && <span className="text-dense text-text-2">Saved to your downloads.</span>}
      </div>
      {progress.name === "failed" && <Trouble>Couldn't export: {progress.why}</Trouble>}
    </section>
  )
}

type ExportKind = "page" | "events"

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
function exportFile({ hub, session, kind, signal, onRead }: Exported): Promise<File> {
  const name = `session-${session.id.slice(0, 8)}`
  const { id, lastSeq } = session
  const events = readEvents(hub.session(id), lastSeq, (seq) => onRead(Math.round((seq / lastSeq) * 100)))
  if (kind === "events") return fileOf(lines(events), signal, { name: `${name}.ndjson`, type: "application/x-ndjson" })
  const asks = () => hub.asks({ session: session.id })
  const page = transcriptPage({ session, events, asks, writtenAt: new Date(hubNow()).toISOString() })
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
