import type { Session } from "@signalbox/client"
import { useMemo } from "react"
import { useCanOperate } from "../app/hub-context.ts"
import { Link, navigate } from "../app/router.tsx"
import { useValue } from "../app/value-store.ts"
import { Button } from "../design/button.tsx"
import { VisibleText } from "../design/visible-text.tsx"
import { LaunchSteps, type SessionStatus } from "../fleet/session-status.tsx"
import { useTranscript } from "../transcript/rows/transcript-context.tsx"
import { launchFailureOf } from "./launch-failure.ts"

/** Tells how far a launch is, why it failed, or where the conversation went on. */
export function LaunchNote({ session, status }: { readonly session: Session; readonly status: SessionStatus }) {
  if (session.next !== undefined) {
    return (
      <p className="border-t border-line bg-info-soft px-3 py-2 text-info tablet:px-4">
        This conversation continues in{" "}
        <Link href={`/s/${session.next}`} className="font-medium underline">
          another session
        </Link>
        .
      </p>
    )
  }
  if (status === "starting" && session.runner !== null) {
    return (
      <div className="px-3 pb-2 tablet:px-4">
        <LaunchSteps at="starting" />
      </div>
    )
  }
  return session.state === "ended" ? <Failure session={session} /> : null
}

function Failure({ session }: { readonly session: Session }) {
  const { feed } = useTranscript()
  const view = useValue(feed.view)
  const canOperate = useCanOperate()
  const failure = useMemo(
    () => launchFailureOf(session, feed.laneRows(null), (seq) => feed.eventAt(seq)?.message),
    // The rows are the fold's own: that they changed is what the view tells.
    [session, feed, view],
  )
  if (failure === undefined) return null
  return (
    <div role="alert" className="flex flex-col gap-2 border-t border-danger/40 bg-danger-soft px-3 py-2 tablet:px-4">
      <p className="flex flex-wrap items-center gap-2 text-danger">
        Couldn't start: {failure.why}
        {canOperate && (
          <Button className="ms-auto" onClick={() => navigate(`/new?again=${encodeURIComponent(session.id)}`)}>
            Edit and retry
          </Button>
        )}
      </p>
      {failure.stderr !== "" && (
        <pre
          // A region that scrolls must be reachable by keyboard.
          tabIndex={0}
          aria-label="stderr"
          className="max-h-40 overflow-y-auto rounded-control border border-line bg-sunken px-3 py-2 font-mono text-dense whitespace-pre-wrap text-text"
        >
          <VisibleText text={failure.stderr} />
        </pre>
      )}
    </div>
  )
}
