import type { Row } from "@signalbox/transcript"
import { memo } from "react"
import { Button } from "../../design/button.tsx"
import { ErrorBoundary } from "../../design/error-boundary.tsx"
import { ActivityRowView } from "./activity-row.tsx"
import { NoteRowView } from "./note-row.tsx"
import { ResultRowView } from "./result-row.tsx"
import {
  AskRowView,
  CompactionRowView,
  FailureRowView,
  HookRowView,
  LimitRowView,
  PictureRowView,
  RetryRowView,
  StartedRowView,
  UnknownRowView,
} from "./small-rows.tsx"
import { HarnessRowView, PromptRowView, TextRowView, ThinkingRowView } from "./speech-rows.tsx"
import { ToolRowView } from "./tool-row.tsx"
import { useTranscript } from "./transcript-context.tsx"

/** Any row. One that cannot be drawn says so and leaves its neighbours alone. */
export const RowView = memo(function RowView({ row }: { readonly row: Row }) {
  return (
    <ErrorBoundary resetKey={row} fallback={() => <Crashed row={row} />}>
      <AnyRow row={row} />
    </ErrorBoundary>
  )
})

function AnyRow({ row }: { readonly row: Row }) {
  switch (row.kind) {
    case "prompt":
      return <PromptRowView row={row} />
    case "harness":
      return <HarnessRowView row={row} />
    case "text":
      return <TextRowView row={row} />
    case "thinking":
      return <ThinkingRowView row={row} />
    case "failure":
      return <FailureRowView row={row} />
    case "picture":
      return <PictureRowView row={row} />
    case "tool":
      return <ToolRowView row={row} />
    case "activity":
      return <ActivityRowView row={row} />
    case "started":
      return <StartedRowView row={row} />
    case "compaction":
      return <CompactionRowView row={row} />
    case "hook":
      return <HookRowView row={row} />
    case "limit":
      return <LimitRowView row={row} />
    case "retry":
      return <RetryRowView row={row} />
    case "result":
      return <ResultRowView row={row} />
    case "ask":
      return <AskRowView row={row} />
    case "note":
      return <NoteRowView row={row} />
    case "unknown":
      return <UnknownRowView row={row} />
  }
}

function Crashed({ row }: { readonly row: Row }) {
  const { onRaw } = useTranscript()
  return (
    <p className="flex items-center gap-2 text-dense text-danger">
      This event could not be shown.
      <Button look="quiet" onClick={() => onRaw(row.headSeq)}>
        Raw
      </Button>
    </p>
  )
}
