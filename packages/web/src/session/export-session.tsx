import type { HubSession, Session } from "@signalbox/client"
import { useEffect, useRef, useState } from "react"
import { useHub } from "../app/hub-context.ts"
import { Button } from "../design/button.tsx"
import { CopyButton } from "../design/copy-button.tsx"
import { Notice } from "../design/notice.tsx"

type Progress =
  | { readonly name: "none" }
  | { readonly name: "reading"; readonly percent: number }
  | { readonly name: "done" }
  | { readonly name: "failed"; readonly why: string }

const PAGE = 1000

/** The session as a file: its events from here, a page to read by the command. */
export function ExportSession({ session }: { readonly session: Session }) {
  const hub = useHub()
  const [progress, setProgress] = useState<Progress>({ name: "none" })
  const ending = useRef(new AbortController())
  useEffect(() => {
    const controller = new AbortController()
    ending.current = controller
    return () => controller.abort()
  }, [])
  const command = `signalbox export ${session.id} --html session.html`

  async function download(): Promise<void> {
    if (progress.name === "reading") return
    const { signal } = ending.current
    setProgress({ name: "reading", percent: 0 })
    try {
      const file = await readEvents(hub.session(session.id), session.lastSeq, (percent) => {
        signal.throwIfAborted()
        setProgress({ name: "reading", percent })
      })
      save(file, `session-${session.id.slice(0, 8)}.ndjson`)
      setProgress({ name: "done" })
    } catch (error) {
      if (!signal.aborted) setProgress({ name: "failed", why: error instanceof Error ? error.message : String(error) })
    }
  }

  return (
    <>
      <section className="flex flex-col items-start gap-2">
        <p className="text-text-2">Every event as it came, one JSON object on each line (NDJSON).</p>
        <Button look="primary" aria-disabled={progress.name === "reading"} onClick={() => void download()}>
          {progress.name === "reading" ? `Reading, ${progress.percent} %` : "Download events"}
        </Button>
        {progress.name === "failed" && (
          <Notice tone="danger" alert>
            The events could not be read: {progress.why}
          </Notice>
        )}
        {progress.name === "done" && <p className="text-dense text-text-2">It is with your downloads.</p>}
      </section>
      <section className="flex flex-col gap-2">
        <p className="text-text-2">One page to read or to send to somebody (HTML), by the command:</p>
        <div className="relative rounded-control border border-line bg-sunken px-3 py-2 pe-12 font-mono text-dense">
          {command}
          <CopyButton text={command} label="Copy command" className="absolute top-1 right-1" />
        </div>
      </section>
    </>
  )
}

/** What there is now, page by page: events that come meanwhile are another export's. */
async function readEvents(session: HubSession, lastSeq: number, onProgress: (percent: number) => void): Promise<Blob> {
  // A blob per page: the browser may keep them out of memory.
  const pages: Blob[] = []
  let after = 0
  while (after < lastSeq) {
    const { events } = await session.events({ after, limit: PAGE })
    const last = events.at(-1)?.seq
    if (last === undefined) break
    const lines = events.filter(({ seq }) => seq <= lastSeq).map((event) => `${JSON.stringify(event)}\n`)
    pages.push(new Blob(lines))
    after = last
    onProgress(Math.min(100, Math.round((after / lastSeq) * 100)))
  }
  return new Blob(pages, { type: "application/x-ndjson" })
}

function save(file: Blob, name: string): void {
  const url = URL.createObjectURL(file)
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  // The download has the address by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
