import type { Ask } from "@signalbox/client"
import { textOf } from "@signalbox/protocol/envelope"
import { useEffect, useState } from "react"
import { useHub } from "../app/hub-context.ts"

/** Longer ago than this nobody waits for a page any more. */
const WAITED_MS = 3_600_000

/** Whether an MCP server says that the page it asked to open has done its work. */
export function useElicitationDone(ask: Ask): "not-awaited" | "awaited" | "done" {
  const hub = useHub()
  const [isDone, setDone] = useState(false)
  const id = textOf(ask.request, "elicitation_id")
  const isAwaited =
    ask.kind === "elicitation" &&
    textOf(ask.request, "mode") === "url" &&
    ask.state === "allowed" &&
    id !== undefined &&
    Date.now() - Date.parse(ask.settledAt ?? ask.askedAt) < WAITED_MS
  useEffect(() => {
    if (!isAwaited) return undefined
    const stop = new AbortController()
    const watch = async () => {
      for await (const item of hub.session(ask.sessionId).follow({ after: ask.seq, signal: stop.signal })) {
        if (item.type !== "event") continue
        const { message } = item
        if (message["subtype"] !== "elicitation_complete" || textOf(message, "elicitation_id") !== id) continue
        return setDone(true)
      }
    }
    // Without the stream it is only not told.
    watch().catch(() => undefined)
    return () => stop.abort()
  }, [hub, ask.sessionId, ask.seq, id, isAwaited])
  if (!isAwaited) return "not-awaited"
  return isDone ? "done" : "awaited"
}
