import type { Row } from "@signalbox/transcript"
import { useMemo } from "react"
import { setQuery } from "../../app/router.tsx"
import { Button } from "../../design/button.tsx"
import { checklistOf } from "../tools/checklist.ts"

/** How far the agent is with what it means to do, wherever one reads. */
export function TasksChip({ rows }: { readonly rows: readonly Row[] }) {
  const todos = useMemo(() => checklistOf(rows), [rows])
  const done = todos.filter(({ status }) => status === "completed").length
  // Once all is done there is nothing left to watch.
  if (todos.length === 0 || done === todos.length) return null
  return (
    <Button
      aria-label={`${done}/${todos.length} tasks done`}
      onClick={() => setQuery({ panel: "tasks" }, { push: true })}
      className="pointer-events-auto min-h-6! min-w-6! rounded-full! coarse:min-w-11! px-2! py-0! text-meta! tabular-nums shadow-popover coarse:min-h-11!"
    >
      {done}/{todos.length}
    </Button>
  )
}
