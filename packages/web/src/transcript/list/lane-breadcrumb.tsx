import { setQuery, usePlace } from "../../app/router.tsx"
import { Button } from "../../design/button.tsx"
import { agentName, lanePath } from "../rows/lane-path.ts"
import { useTranscript } from "../rows/transcript-context.tsx"
import { carryPlace } from "./reading-place.ts"

/** Where a sub-agent's lane is: each step leads to the lane it names. */
export function LaneBreadcrumb({ lane }: { readonly lane: string }) {
  const { feed, sessionId: session } = useTranscript()
  const { entry } = usePlace()
  const path = lanePath(lane, (id) => feed.tool(id))
  /** Where the reader was there; somebody who was not is led to the call that started the next. */
  const leadTo = (outer: string | null, next: number) => {
    const seq = carryPlace({ entry, session, lane: outer }) ? null : String(path[next]?.headSeq ?? "")
    setQuery({ lane: outer, seq })
  }
  return (
    <nav aria-label="Lane" className="border-b border-line bg-sunken">
      <ol className="flex flex-wrap items-center gap-1 px-4 py-1 text-dense">
        <li>
          <Button look="quiet" className="-ms-3" onClick={() => leadTo(null, 0)}>
            ‹ Whole session
          </Button>
        </li>
        {path.slice(0, -1).map((row, index) => (
          <li key={row.toolUseId} className="flex items-center gap-1">
            <span aria-hidden="true">›</span>
            <Button look="quiet" onClick={() => leadTo(row.toolUseId, index + 1)}>
              <bdi>{agentName(row)}</bdi>
            </Button>
          </li>
        ))}
        <li className="flex min-w-0 items-center gap-2" aria-current="page">
          <span aria-hidden="true">›</span>
          <bdi className="truncate font-medium">{path.length === 0 ? "Sub-agent" : path.slice(-1).map(agentName)}</bdi>
        </li>
      </ol>
    </nav>
  )
}
