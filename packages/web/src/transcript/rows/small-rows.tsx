import { textOf } from "@signalbox/protocol/envelope"
import {
  compactionWords,
  failureOf,
  hookWords,
  limitWords,
  type RowOf,
  retryWords,
  startedWords,
} from "@signalbox/transcript"
import { type ReactNode, useEffect } from "react"
import { useSession } from "../../app/hub-context.ts"
import { noteUnknownEvent } from "../../app/unknown-events.ts"
import { classes } from "../../design/classes.ts"
import { Notice } from "../../design/notice.tsx"
import { oneLine } from "../../design/visible-text.tsx"
import { clockTime, moment, shortPath } from "../../design/words.ts"
import { outcomeVerb } from "../../fleet/ask-words.ts"
import { limitResetMs } from "../../fleet/limit-use.ts"
import { abbreviateHome, useMachineHome } from "../../fleet/machine-store.tsx"
import { JsonView, OutputText } from "../content/output-text.tsx"
import { dataUrl, Picture } from "../content/pictures.tsx"
import { Disclosure, useTranscript } from "./transcript-context.tsx"

function Small({ children }: { readonly children: ReactNode }) {
  return <p className="text-meta text-text-3">{children}</p>
}

export function Divider({ children }: { readonly children: ReactNode }) {
  return (
    <div className="my-2 flex items-center gap-3 text-meta text-text-3">
      <span className="h-px flex-1 bg-line" />
      <span className="text-center">{children}</span>
      <span className="h-px flex-1 bg-line" />
    </div>
  )
}

export function StartedRowView({ row }: { readonly row: RowOf<"started"> }) {
  const home = useMachineHome(useSession(useTranscript().sessionId)?.runner ?? null)
  const folder = row.cwd === undefined ? undefined : shortPath(abbreviateHome(row.cwd, home), 3)
  const words = oneLine(startedWords(row, folder), 400)
  return row.changes === undefined ? <Divider>{words}</Divider> : <Small>{words}</Small>
}

export function CompactionRowView({ row }: { readonly row: RowOf<"compaction"> }) {
  return <Divider>{compactionWords(row)}</Divider>
}

export function FailureRowView({ row }: { readonly row: RowOf<"failure"> }) {
  const { what, next } = failureOf(row)
  return (
    <Notice tone="danger">
      <div>
        <p className="font-medium">{oneLine(what, 100)}</p>
        {row.text !== "" && <p className="whitespace-pre-wrap">{row.text}</p>}
        {next !== undefined && <p className="text-dense">{next}</p>}
      </div>
    </Notice>
  )
}

export function PictureRowView({ row }: { readonly row: RowOf<"picture"> }) {
  const source = dataUrl(row.picture)
  if (source === undefined) return <Small>Image not included</Small>
  return <Picture source={source} alt="Image from the agent" />
}

export function HookRowView({ row }: { readonly row: RowOf<"hook"> }) {
  const { detail } = useTranscript()
  const isBad = row.state === "failed"
  if (detail === "brief" && !isBad) return null
  const line = oneLine(hookWords(row), 120)
  return (
    <Disclosure
      name={row.key}
      heading={<span className={classes("text-meta", isBad ? "text-danger" : "text-text-3")}>{line}</span>}
      staysOpen={isBad}
      hasBody={row.output !== ""}
    >
      <OutputText text={row.output} from="end" />
    </Disclosure>
  )
}

export function LimitRowView({ row }: { readonly row: RowOf<"limit"> }) {
  const { resetsAt, status } = row
  const resets = resetsAt === undefined ? undefined : moment(limitResetMs(resetsAt), Date.parse(row.at))
  const words = oneLine(limitWords(row, resets), 120)
  if (status === "allowed") return <Small>{words}</Small>
  return <Notice tone={status === "rejected" ? "danger" : "caution"}>{words}</Notice>
}

export function RetryRowView({ row }: { readonly row: RowOf<"retry"> }) {
  const words = oneLine(retryWords(row), 120)
  if (row.state === "recovered") return <Small>{words}</Small>
  return <Notice tone={row.state === "failed" ? "danger" : "caution"}>{words}</Notice>
}

export function AskRowView({ row }: { readonly row: RowOf<"ask"> }) {
  const { request, answer, outcome: state } = row.ask
  const kind = request["subtype"] === "elicitation" ? "elicitation" : "dialog"
  return (
    <Disclosure
      name={row.key}
      heading={
        <>
          <span className="shrink-0 font-medium text-text">Question</span>
          <bdi className="min-w-0 truncate">{oneLine(textOf(request, "message") ?? "", 200)}</bdi>
          <span className="ms-auto shrink-0 text-meta">{outcomeVerb({ kind, state, answer })}</span>
        </>
      }
    >
      <JsonView value={request} />
      {answer !== undefined && <JsonView value={answer} />}
    </Disclosure>
  )
}

export function UnknownRowView({ row }: { readonly row: RowOf<"unknown"> }) {
  const { sessionId } = useTranscript()
  useEffect(() => noteUnknownEvent(row.name, `${sessionId}:${row.key}`), [row.name, row.key, sessionId])
  return (
    <Disclosure
      name={row.key}
      heading={<span className="text-meta text-text-3">{`Unknown event ${oneLine(row.name, 80)}`}</span>}
    >
      <JsonView value={row.message} />
    </Disclosure>
  )
}

export function timeOf(at: string): string {
  const ms = Date.parse(at)
  return Number.isNaN(ms) ? "" : clockTime(ms)
}
