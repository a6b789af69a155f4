import type { Session } from "@signalbox/client"
import { Link } from "../app/router.tsx"

/** The policy was to judge every tool call, and did not: a warning that stays until the agent is started again. */
export function EnforceNote({ session }: { readonly session: Session }) {
  return (
    <p role="alert" className="border-t border-danger/40 bg-danger-soft px-3 py-2 text-danger tablet:px-4">
      <strong className="font-medium">Not enforced.</strong> {notEnforcedWords(session)}{" "}
      <Link href={`/audit?session=${encodeURIComponent(session.id)}`} className="underline">
        Show audit
      </Link>
    </p>
  )
}

/** The event, and what to do. */
function notEnforcedWords({ state }: Pick<Session, "state">): string {
  if (state === "ended") {
    return "The policy couldn't judge every tool call of this agent. Check what it did before you resume it: it starts again under the policy."
  }
  return "A tool ran that the policy hadn't judged, or this Claude Code is too old, so the hub interrupted the agent. Check what it did, then stop the session. The next message starts it again under the policy."
}
