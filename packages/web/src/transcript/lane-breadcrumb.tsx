import { setQuery } from "../app/router.ts"
import { Button } from "../design/button.tsx"
import { agentName, lanePath } from "./lane-path.ts"
import { useTranscript } from "./transcript-context.ts"

/** Where a sub-agent's lane is: each step leads to the lane it names, at the call that started the next. */
export function LaneBreadcrumb({ lane }: { readonly lane: string }) {
  const { feed } = useTranscript()
  const path = lanePath(lane, (id) => feed.tool(id))
  const seqOf = (index: number) => String(path[index]?.headSeq ?? "")
  return (
    <nav aria-label="Lane" className="border-b border-line bg-sunken">
      <ol className="flex flex-wrap items-center gap-1 px-4 py-1 text-dense">
        <li>
          <Button look="quiet" className="-ms-3" onClick={() => setQuery({ lane: null, seq: seqOf(0) })}>
            ‹ Whole session
          </Button>
        </li>
        {path.slice(0, -1).map((row, index) => (
          <li key={row.toolUseId} className="flex items-center gap-1">
            <span aria-hidden="true">›</span>
            <Button look="quiet" onClick={() => setQuery({ lane: row.toolUseId, seq: seqOf(index + 1) })}>
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
