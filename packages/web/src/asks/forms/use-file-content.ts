import type { Ask } from "@signalbox/client"
import { isObject } from "@signalbox/protocol/envelope"
import { useEffect, useState } from "react"
import { useCanOperate, useHub } from "../../app/hub-context.ts"
import { textIn } from "../../transcript/tools/tool-words.ts"

const MAX_BYTES = 400_000
/** The request can be read meanwhile: nobody waits for this. */
const TIMEOUT_MS = 10_000
const CHECKED = new Set(["Edit", "MultiEdit", "Write"])

/** What stands now in the file that a request would change, from its machine; undefined while or where that cannot be had. */
export function useFileContent({ id, sessionId, state, toolName, input }: Ask): string | undefined {
  const hub = useHub()
  const canOperate = useCanOperate()
  const path = CHECKED.has(toolName ?? "") && state === "pending" ? textIn(input, "file_path") : undefined
  const [content, setContent] = useState<{ readonly of: string; readonly text: string } | undefined>(undefined)
  const key = `${id}:${path ?? ""}`
  useEffect(() => {
    if (path === undefined || !canOperate) return undefined
    let isOver = false
    const take = (reply: unknown) => {
      const text = wholeText(reply)
      if (!isOver && text !== undefined) setContent({ of: key, text })
    }
    // An older CLI, or no such file: then there is nothing to compare with, and the reader is told.
    hub
      .session(sessionId)
      .control({ subtype: "read_file", path, max_bytes: MAX_BYTES }, { timeoutMs: TIMEOUT_MS })
      .then(take, () => undefined)
    return () => {
      isOver = true
    }
  }, [hub, sessionId, path, key, canOperate])
  return content?.of === key ? content.text : undefined
}

function wholeText(reply: unknown): string | undefined {
  if (!isObject(reply) || reply["truncated"] === true || reply["lossy"] === true) return undefined
  const { contents, encoding } = reply
  return typeof contents === "string" && encoding !== "base64" ? contents : undefined
}
