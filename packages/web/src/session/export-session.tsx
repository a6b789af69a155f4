import type { Session } from "@signalbox/client"
import { type ReactNode, useEffect, useRef, useState } from "react"
import { useHub } from "../app/hub-context.ts"
import { Button } from "../design/button.tsx"
import { CopyButton } from "../design/copy-button.tsx"
import { Notice } from "../design/notice.tsx"
import { saveFile } from "../transcript/content/save-file.ts"
import { type ExportKind, exportFile } from "./export-file.ts"

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
        One page to read, to print or to send to somebody (HTML). It needs nothing else, and nothing in it runs.
      </Download>
      <Download session={session} kind="events" action="Download events">
        Every event as it came, one JSON object on each line (NDJSON).
      </Download>
      <section className="flex flex-col gap-2">
        <p className="text-text-2">The same on the command line:</p>
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
        {progress.name === "done" && <span className="text-dense text-text-2">It is with your downloads.</span>}
      </div>
      {progress.name === "failed" && (
        <Notice tone="danger" alert>
          It could not be read: {progress.why}
        </Notice>
      )}
    </section>
  )
}
