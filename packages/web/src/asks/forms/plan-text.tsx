import type { Ask } from "@signalbox/client"
import { PLAN_EVENTS, planInCall } from "@signalbox/transcript"
import { useEffect, useState } from "react"
import { useCanOperate, useHub } from "../../app/hub-context.ts"
import { whileOpen } from "../../app/value-store.ts"
import { VisibleText } from "../../design/visible-text.tsx"
import { Markdown } from "../../transcript/content/markdown.tsx"
import { textIn } from "../../transcript/tools/tool-words.ts"
import { allowedPromptsOf } from "./plan-comments.ts"

export function PlanText({ plan }: { readonly plan: string | undefined }) {
  if (plan === undefined) return <p>The plan is in a file on the machine.</p>
  return <Markdown text={plan} live={false} />
}

/** What would be allowed along with the plan. */
export function AllowedPrompts({ input }: { readonly input: Readonly<Record<string, unknown>> | undefined }) {
  const prompts = allowedPromptsOf(input)
  if (prompts.length === 0) return null
  return (
    <div className="text-dense">
      <p className="font-medium">Also allowed without asking:</p>
      <ul className="list-disc ps-5">
        {prompts.map((prompt) => (
          <li key={prompt}>
            <VisibleText text={prompt} />
          </li>
        ))}
      </ul>
    </div>
  )
}

const TIMEOUT_MS = 10_000

/** The plan of a request: in its input, else in the call it is about, else asked of its agent; undefined where none has it. */
export function usePlan({ sessionId, state, input, request, seq }: Ask): string | undefined {
  const hub = useHub()
  const canOperate = useCanOperate()
  const given = textIn(input, "plan")
  const toolUseId = textIn(request, "tool_use_id")
  const [found, setFound] = useState<string | undefined>(undefined)
  const isMissing = given === undefined
  const mayAsk = state === "pending" && canOperate
  useEffect(() => {
    if (!isMissing) return undefined
    const session = hub.session(sessionId)
    const look = async () => {
      const page = await session.events({ before: seq, limit: PLAN_EVENTS })
      const called = planInCall(page.events, toolUseId)
      if (called !== undefined || !mayAsk) return called
      // Only the newest CLI knows it; from another one the reader is told where the plan is.
      return textIn(await session.control({ subtype: "get_plan" }, { timeoutMs: TIMEOUT_MS }), "content")
    }
    return whileOpen(look(), setFound)
  }, [hub, sessionId, seq, toolUseId, isMissing, mayAsk])
  return given ?? found
}
