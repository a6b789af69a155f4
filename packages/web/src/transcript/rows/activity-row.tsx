import type { ActivityRow } from "@signalbox/transcript"
import { useState } from "react"
import { oneLine } from "../../design/visible-characters.ts"
import { withoutAnsi } from "../content/ansi.ts"
import { resultText } from "../tools/tool-words.ts"
import { Disclosure } from "./disclosure.tsx"
import { HookRowView } from "./small-rows.tsx"
import { ToolRowView } from "./tool-row.tsx"
import { useDisclosure, useTranscript } from "./transcript-context.tsx"

const SHOWN_IF_AT_MOST = 3

/** Quiet calls in one line. Its list, and each call in it, are opened apart. */
export function ActivityRowView({ row }: { readonly row: ActivityRow }) {
  const { detail } = useTranscript()
  // As it was when it came into view: a group that grows or ends does not open or close under the reader's eyes.
  const [startsOpen] = useState(row.state === "done" && row.members.length <= SHOWN_IF_AT_MOST)
  const [open, toggle] = useDisclosure(row.key, detail === "full" || (detail === "normal" && startsOpen))
  const [only, ...others] = row.members
  // A line that only announces one line says nothing.
  if (only !== undefined && others.length === 0 && detail !== "brief") return <Member member={only} />
  const failed = row.members.find((member) => member.kind === "tool" && member.state === "failed")
  return (
    <Disclosure
      heading={
        <>
          <span className="min-w-0 truncate">{row.summary}</span>
          {row.state === "running" && <span className="ms-auto shrink-0 text-meta text-clear">Running</span>}
        </>
      }
      open={open}
      onToggle={toggle}
      below={
        <>
          {row.caption !== undefined && <p className="text-dense text-text-2 italic">{row.caption}</p>}
          {failed?.kind === "tool" && !open && (
            <p className="truncate text-dense text-danger">
              {oneLine(withoutAnsi(resultText(failed.result?.content)), 200)}
            </p>
          )}
        </>
      }
    >
      <div className="flex flex-col border-s-2 border-line ps-3">
        {row.members.map((member) => (
          <Member key={member.key} member={member} />
        ))}
      </div>
    </Disclosure>
  )
}

function Member({ member }: { readonly member: ActivityRow["members"][number] }) {
  return member.kind === "hook" ? <HookRowView row={member} /> : <ToolRowView row={member} />
}
