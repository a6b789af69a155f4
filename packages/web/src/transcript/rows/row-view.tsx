import { textOf } from "@signalbox/protocol/envelope"
import type { ActivityRow, NoteRow, Row, RowOf } from "@signalbox/transcript"
import { type ComponentType, memo, useState } from "react"
import { Button } from "../../design/button.tsx"
import { classes } from "../../design/classes.ts"
import { ErrorBoundary } from "../../design/lazy-part.tsx"
import { Notice } from "../../design/notice.tsx"
import { oneLine } from "../../design/visible-text.tsx"
import { shortPath } from "../../design/words.ts"
import { OutputText } from "../content/output-text.tsx"
import {
  AskRowView,
  CompactionRowView,
  Divider,
  FailureRowView,
  HookRowView,
  LimitRowView,
  PictureRowView,
  RetryRowView,
  StartedRowView,
  UnknownRowView,
} from "./small-rows.tsx"
import { HarnessRowView, PromptRowView, ResultRowView, TextRowView, ThinkingRowView } from "./speech-rows.tsx"
import { ErrorLine, ToolRowView } from "./tool-row.tsx"
import { Disclosure, useTranscript } from "./transcript-context.tsx"

/** Any row. One that cannot be drawn says so and leaves its neighbours alone. */
export const RowView = memo(function RowView({ row }: { readonly row: Row }) {
  const View = viewOf(row.kind)
  return (
    <ErrorBoundary resetKey={row} fallback={() => <Crashed row={row} />}>
      <View row={row} />
    </ErrorBoundary>
  )
})

type Views = { readonly [K in Row["kind"]]: ComponentType<{ readonly row: RowOf<K> }> }

function viewOf(kind: Row["kind"]): ComponentType<{ readonly row: Row }> {
  const views: Views = {
    prompt: PromptRowView,
    harness: HarnessRowView,
    text: TextRowView,
    thinking: ThinkingRowView,
    failure: FailureRowView,
    picture: PictureRowView,
    tool: ToolRowView,
    activity: ActivityRowView,
    started: StartedRowView,
    compaction: CompactionRowView,
    hook: HookRowView,
    limit: LimitRowView,
    retry: RetryRowView,
    result: ResultRowView,
    ask: AskRowView,
    note: NoteRowView,
    unknown: UnknownRowView,
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each row is given to the view of its own kind
  return views[kind] as ComponentType<{ readonly row: Row }>
}

function Crashed({ row }: { readonly row: Row }) {
  const { onRaw } = useTranscript()
  return (
    <p className="flex items-center gap-2 text-dense text-danger">
      Couldn't show this event.
      <Button look="quiet" onClick={() => onRaw(row.headSeq)}>
        Raw
      </Button>
    </p>
  )
}

const SHOWN_IF_AT_MOST = 3

/** Quiet calls in one line. Its list, and each call in it, are opened apart. */
function ActivityRowView({ row }: { readonly row: ActivityRow }) {
  const { detail } = useTranscript()
  // As it was when it came into view: a group that grows or ends does not open or close under the reader's eyes.
  const [isShort] = useState(row.state === "done" && row.members.length <= SHOWN_IF_AT_MOST)
  const [only, ...others] = row.members
  // A line that only announces one line says nothing.
  if (only !== undefined && others.length === 0 && detail !== "brief") return <Member member={only} />
  const failed = row.members.find((member) => member.kind === "tool" && member.state === "failed")
  return (
    <Disclosure
      name={row.key}
      startsOpen={detail === "full" || (detail === "normal" && isShort)}
      heading={
        <>
          <span className="min-w-0 truncate">{row.summary}</span>
          {row.state === "running" && <span className="ms-auto shrink-0 text-meta text-clear">Running</span>}
        </>
      }
      below={(open) => (
        <>
          {row.caption !== undefined && <p className="text-dense text-text-2 italic">{row.caption}</p>}
          {failed?.kind === "tool" && !open && <ErrorLine row={failed} />}
        </>
      )}
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
  if (member.kind === "thinking") return <ThinkingRowView row={member} />
  return member.kind === "hook" ? <HookRowView row={member} /> : <ToolRowView row={member} />
}

const LEVELS = {
  quiet: "text-meta text-text-3",
  info: "text-dense text-info",
  warning: "text-dense text-caution",
  danger: "text-dense text-danger",
} as const

function NoteRowView({ row }: { readonly row: NoteRow }) {
  if (row.isDivider) return <Divider>{oneLine(row.text, 200)}</Divider>
  if (row.level === "danger")
    return (
      <Notice tone="danger">
        <p className="whitespace-pre-wrap first-line:font-medium">{row.text}</p>
      </Notice>
    )
  if (row.topic === "local_command_output") return <OutputText text={row.text} from="end" />
  return (
    <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
      <p className={classes("whitespace-pre-wrap", LEVELS[row.level])}>{row.text}</p>
      <Chips names={namesIn(row)} />
    </div>
  )
}

const MAX_CHIPS = 8

function Chips({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return null
  const rest = names.length - MAX_CHIPS
  return (
    <ul className="flex min-w-0 flex-wrap gap-1.5">
      {names.slice(0, MAX_CHIPS).map((name, index) => (
        <li key={index} title={name} className={CHIP}>
          {oneLine(shortPath(name, 2), 60)}
        </li>
      ))}
      {rest > 0 && <li className={CHIP}>{`and ${rest} more`}</li>}
    </ul>
  )
}

const CHIP = "max-w-full truncate rounded-mark border border-line px-1.5 text-meta text-text-2"

const NAMED: Readonly<Record<string, readonly [list: string, field: string]>> = {
  files_persisted: ["files", "filename"],
  memory_recall: ["memories", "path"],
}

/** Names of what a note only counts: files that were stored, memories that were recalled. */
function namesIn({ topic, details }: NoteRow): readonly string[] {
  const [list, field] = NAMED[topic] ?? ["", ""]
  const items = details[list]
  return Array.isArray(items) ? items.flatMap((item: unknown) => textOf(item, field) ?? []) : []
}
