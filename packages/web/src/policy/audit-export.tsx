import type { Hub } from "@signalbox/client"
import { AUDIT_CSV_HEAD, auditCsvLine, type RouteQuery } from "@signalbox/protocol/hub-api"
import { useEffect, useRef, useState } from "react"
import { useHub } from "../app/hub-context.ts"
import { whyOf } from "../app/loaded.ts"
import { Button } from "../design/button.tsx"
import { Trouble } from "../design/notice.tsx"
import { plural } from "../design/words.ts"
import { saveFile } from "../transcript/content/documents.tsx"

type AuditQuery = RouteQuery<"GET /api/audit">
type Kind = "ndjson" | "csv"

const TYPES: Readonly<Record<Kind, string>> = { ndjson: "application/x-ndjson", csv: "text/csv" }

/** A page holds this much at most: what is left out can be had from the command line. */
const MAX_CHARS = 200_000_000
const PAGE = 1000

type Progress =
  | { readonly name: "none" }
  | { readonly name: "reading"; readonly count: number }
  | { readonly name: "done"; readonly count: number; readonly isCut: boolean }
  | { readonly name: "failed"; readonly why: string }

/** The entries that the filters leave, as a file. */
export function AuditExport({ request }: { readonly request: AuditQuery }) {
  const hub = useHub()
  const [progress, setProgress] = useState<Progress>({ name: "none" })
  const ending = useRef(new AbortController())
  useEffect(() => {
    const controller = new AbortController()
    ending.current = controller
    return () => controller.abort()
  }, [])

  async function save(kind: Kind): Promise<void> {
    if (progress.name === "reading") return
    const { signal } = ending.current
    const onRead = (count: number) => {
      signal.throwIfAborted()
      setProgress({ name: "reading", count })
    }
    try {
      const { parts, ...read } = await auditFile(hub, { request, kind, onRead })
      saveFile(new File(parts, `audit.${kind}`, { type: TYPES[kind] }))
      setProgress({ name: "done", ...read })
    } catch (error) {
      if (!signal.aborted) setProgress({ name: "failed", why: whyOf(error) })
    }
  }

  return (
    <section aria-label="Export" className="flex flex-wrap items-center gap-3">
      <Button aria-disabled={progress.name === "reading"} onClick={() => void save("ndjson")}>
        Export NDJSON
      </Button>
      <Button aria-disabled={progress.name === "reading"} onClick={() => void save("csv")}>
        Export CSV
      </Button>
      <p role="status" className="text-dense text-text-2 tabular-nums">
        {progress.name === "reading" && `Reading… ${plural(progress.count, "entry", "entries")}`}
        {progress.name === "done" && `Saved ${plural(progress.count, "entry", "entries")}.`}
        {progress.name === "done" && progress.isCut && " The rest is too large for a browser: use signalbox audit."}
      </p>
      {progress.name === "failed" && <Trouble>Couldn't export: {progress.why}</Trouble>}
    </section>
  )
}

interface Export {
  readonly request: AuditQuery
  readonly kind: Kind
  readonly onRead: (count: number) => void
}

/** Oldest first: entries that come meanwhile are at the end. */
async function auditFile(hub: Pick<Hub, "auditRecords">, { request, kind, onRead }: Export) {
  const parts = kind === "csv" ? [AUDIT_CSV_HEAD] : []
  let [chars, count] = [0, 0]
  for await (const record of hub.auditRecords({ ...request, limit: PAGE })) {
    if (chars > MAX_CHARS) return { parts, count, isCut: true }
    if (count % PAGE === 0) onRead(count)
    const text = kind === "csv" ? auditCsvLine(record) : `${JSON.stringify(record)}\n`
    parts.push(text)
    chars += text.length
    count++
  }
  return { parts, count, isCut: false }
}
