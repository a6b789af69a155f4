import { isObject, textOf } from "@signalbox/protocol/envelope"
import type { ToolRow, ToolState } from "@signalbox/transcript"
import { useMemo } from "react"
import { useWho } from "../../app/hub-context.ts"
import { Link } from "../../app/router.tsx"
import { ChangeCounts } from "../../design/change-counts.tsx"
import { classes } from "../../design/classes.ts"
import { oneLine } from "../../design/visible-text.tsx"
import { duration, SHORTEST_MS } from "../../design/words.ts"
import { ruleAddress } from "../../fleet/ask-words.ts"
import { countsOf } from "../content/line-diff.ts"
import { withoutAnsi } from "../content/output-text.tsx"
import { todoChanges } from "../tools/checklist.ts"
import { EDITS, hunksOf, NOT_APPLIED } from "../tools/edit-hunks.ts"
import { hasBashBody, isLongCommand, ToolBody } from "../tools/tool-body.tsx"
import { isOpenByDefault, toolFacts } from "../tools/tool-facts.ts"
import { AGENTS, resultText, textIn, toolWords } from "../tools/tool-words.ts"
import { Facts, Lane, LaneFacts, taskWords } from "./lane.tsx"
import { Disclosure, useTranscript } from "./transcript-context.tsx"

const STATES: Readonly<Record<ToolState, readonly [words: string, look: string]>> = {
  live: ["Writing…", "text-text-3"],
  running: ["Running", "text-clear"],
  waiting: ["Asked", "text-caution"],
  done: ["", "text-text-3"],
  failed: ["Failed", "text-danger"],
  denied: ["Denied", "text-danger"],
  interrupted: ["Interrupted", "text-text-2"],
  missing: ["No result recorded", "text-text-3"],
}

function ToolHeading({ row, open }: { readonly row: ToolRow; readonly open: boolean }) {
  const { name, subject, isCode } = toolWords(row)
  const who = useWho()
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(row.name) ?? []
  // A change that did not happen has no lines to count.
  const counts = EDITS.has(row.name) && !NOT_APPLIED.has(row.state) ? countsOf(hunksOf(row)) : undefined
  const [words, look] = STATES[row.state]
  const hasTime = row.state !== "live" && row.elapsedMs !== undefined && row.elapsedMs >= SHORTEST_MS
  const path = textIn(row.input, "file_path") ?? textIn(row.input, "notebook_path")
  return (
    <>
      <span className={classes("shrink-0 font-medium", name === "$" ? "font-mono text-text-3" : "text-text")}>
        {server === undefined ? (
          name
        ) : (
          <>
            <span className="me-1.5 rounded-mark border border-line px-1 text-meta">{oneLine(server, 40)}</span>
            {oneLine(tool ?? "", 60)}
          </>
        )}
      </span>
      <bdi
        title={path === undefined ? undefined : oneLine(path, 1000)}
        className={classes(
          // A command that is long is told whole below.
          open && !isLongCommand(row) ? "min-w-0 py-1 wrap-anywhere" : "min-w-0 truncate",
          isCode && "font-mono text-meta",
          row.name === "Bash" && "text-text",
          row.isRetracted && "line-through",
        )}
      >
        {subjectOf(row, subject, open)}
      </bdi>
      {counts !== undefined && <ChangeCounts {...counts} />}
      {row.ask?.isEdited === true && (
        // The input that ran is not the one that was asked for: it is told whose doing that is.
        <span className="shrink-0 text-meta text-text-3">
          edited by <bdi>{row.ask.by === undefined ? "somebody" : who(row.ask.by)}</bdi>
        </span>
      )}
      <span className={classes("ms-auto shrink-0 text-meta tabular-nums", look)}>
        {[...toolFacts(row, who), words, hasTime && duration(row.elapsedMs ?? 0)].filter(Boolean).join(" · ")}
      </span>
    </>
  )
}

function subjectOf(row: ToolRow, subject: string, open: boolean): string {
  if (row.name === "TodoWrite") return todoChanges(row)?.words ?? subject
  // Its questions stand below, each with its answer.
  return row.name === "AskUserQuestion" && open ? "" : subject
}

/** The row with the input that ran: the allowed one, whatever had been asked for. */
function asRun(row: ToolRow): ToolRow {
  const edited = row.ask?.isEdited === true ? row.ask.answer?.["updatedInput"] : undefined
  return isObject(edited) ? { ...row, input: edited } : row
}

export function ToolRowView({ row: told }: { readonly row: ToolRow }) {
  const row = useMemo(() => asRun(told), [told])
  const { detail } = useTranscript()
  // A command in the background is a task too, and no agent.
  const isAgent = row.hasLane || AGENTS.has(row.name) || (row.task !== undefined && !row.hasCall)
  return (
    <Disclosure
      name={row.key}
      startsOpen={isOpenByDefault(row, detail)}
      heading={(open) => <ToolHeading row={row} open={open} />}
      hasBody={row.state !== "live" && hasBashBody(row)}
      below={(open) => <ToolNotes row={row} open={open} />}
    >
      {isAgent ? <Lane row={row} /> : <ToolBody row={row} />}
      {row.caption !== undefined && <p className="text-dense text-text-2 italic">{row.caption}</p>}
    </Disclosure>
  )
}

/** Notes that must be seen without opening anything: errors, denials, a sub-agent at work. */
function ToolNotes({ row, open }: { readonly row: ToolRow; readonly open: boolean }) {
  const { state, denial, task } = row
  if (state === "denied") return <Denial row={row} />
  if (state === "failed" && !open) return <ErrorLine row={row} />
  if (denial !== undefined) return <p className="text-dense text-danger">{denial.message}</p>
  if (row.hasLane) return <LaneFacts row={row} />
  return task === undefined ? null : <Facts facts={taskWords(task)} />
}

/** The error of a call that is closed. */
export function ErrorLine({ row }: { readonly row: ToolRow }) {
  const text = oneLine(withoutAnsi(resultText(row.result?.content)), 200)
  return <p className="truncate text-dense text-danger">{text}</p>
}

function Denial({ row: { ask, denial, result } }: { readonly row: ToolRow }) {
  const whoOf = useWho()
  const reason = denial?.message ?? textOf(ask?.answer, "message") ?? resultText(result?.content)
  const by = ask?.by === undefined ? "" : ` by ${whoOf(ask.by)}`
  // The hub signs a rule's answer with the name of the rule.
  const [, rule] = /^rule (.+)$/.exec(ask?.by ?? "") ?? []
  // A rule of the CLI's own settings is not in the hub's policy.
  const own = denial?.reasonType === "rule" ? denial.reason : undefined
  return (
    <p className="text-dense text-danger">
      Denied{rule !== undefined ? " by rule " : own !== undefined ? ` by rule ${oneLine(own, 60)}` : by}
      {rule !== undefined && (
        <Link href={ruleAddress(rule)} className="underline">
          <bdi>{oneLine(rule, 60)}</bdi>
        </Link>
      )}
      {reason !== "" && `: ${oneLine(reason, 300)}`}
    </p>
  )
}
