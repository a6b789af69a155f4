import type { Ask } from "@signalbox/client"
import { useEffect, useState } from "react"
import { useCanOperate, useHub } from "../app/hub-context.ts"
import { textIn } from "../transcript/tools/tool-words.ts"

const TIMEOUT_MS = 10_000

/** The plan of a request: in its input, else asked of its agent; undefined where neither has it. */
export function usePlan({ sessionId, state, input }: Ask): string | undefined {
  const hub = useHub()
  const canOperate = useCanOperate()
  const given = textIn(input, "plan")
  const [told, setTold] = useState<string | undefined>(undefined)
  const mustAsk = given === undefined && state === "pending" && canOperate
  useEffect(() => {
    if (!mustAsk) return undefined
    let isOver = false
    const take = (reply: unknown) => {
      if (!isOver) setTold(textIn(reply, "content"))
    }
    // Only the newest CLI knows it; from another one the reader is told where the plan is.
    hub
      .session(sessionId)
      .control({ subtype: "get_plan" }, { timeoutMs: TIMEOUT_MS })
      .then(take, () => undefined)
    return () => {
      isOver = true
    }
  }, [hub, sessionId, mustAsk])
  return given ?? told
}
