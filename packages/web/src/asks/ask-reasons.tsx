import type { Ask } from "@signalbox/client"
import { useSession } from "../app/hub-context.ts"
import { VisibleText } from "../design/visible-text.tsx"
import { useMachineHome } from "../fleet/machine-store.tsx"
import { reasonsOf } from "./reasons.ts"

/** Why somebody is asked: facts that the CLI or the hub gave, nothing of our own making. */
export function AskReasons({ ask }: { readonly ask: Ask }) {
  const session = useSession(ask.sessionId)
  const reasons = reasonsOf(ask, session?.cwd, useMachineHome(session?.runner ?? null))
  if (reasons.length === 0) return null
  return (
    <ul aria-label="Why" className="shrink-0 text-dense text-text-2">
      {reasons.map((reason) => (
        <li key={reason}>
          <VisibleText text={reason} />
        </li>
      ))}
    </ul>
  )
}
