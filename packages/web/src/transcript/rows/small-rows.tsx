import type {
  AskRow,
  CompactionRow,
  FailureRow,
  HookRow,
  LimitRow,
  PictureRow,
  RetryRow,
  StartedRow,
  UnknownRow,
} from "@signalbox/transcript"
import { type ReactNode, useEffect } from "react"
import { useSession } from "../../app/hub-context.ts"
import { noteUnknownEvent } from "../../app/unknown-events.ts"
import { classes } from "../../design/classes.ts"
import { Notice } from "../../design/notice.tsx"
import { oneLine } from "../../design/visible-characters.ts"
import { clockTime, duration, SHORTEST_MS, shortPath, tokens } from "../../design/words.ts"
import { abbreviateHome } from "../../fleet/folder-name.tsx"
import { useMachineHome } from "../../fleet/machine-store.tsx"
import { outcomeVerb } from "../../fleet/outcome-words.ts"
import { JsonView } from "../content/json-view.tsx"
import { OutputText } from "../content/output-text.tsx"
import { dataUrl, Picture } from "../content/pictures.tsx"
import { AnswerBelow } from "./answer-below.tsx"
import { Disclosure } from "./disclosure.tsx"
import { FAILURES, limitWords } from "./failure-words.ts"
import { useDisclosure, useTranscript } from "./transcript-context.tsx"

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

export function StartedRowView({ row }: { readonly row: StartedRow }) {
  const home = useMachineHome(useSession(useTranscript().sessionId)?.runner ?? null)
  if (row.changes !== undefined) {
    return (
      <Small>
        {row.changes.map(({ what, before, after }) => `${what}: ${before ?? "none"} → ${after ?? "none"}`).join(" · ")}
      </Small>
    )
  }
  const facts = [
    row.model,
    row.mode,
    row.cwd === undefined ? undefined : oneLine(shortPath(abbreviateHome(row.cwd, home), 3), 80),
    row.version && `CLI ${row.version}`,
  ]
  return <Divider>{["Started", ...facts.filter((fact) => fact !== undefined && fact !== "")].join(" · ")}</Divider>
}

export function CompactionRowView({ row }: { readonly row: CompactionRow }) {
  const sizes =
    row.preTokens === undefined
      ? ""
      : `, ${tokens(row.preTokens)}${row.postTokens === undefined ? "" : ` → ${tokens(row.postTokens)}`} tokens`
  return <Divider>{`Context compacted${sizes}, ${row.trigger === "manual" ? "by hand" : "automatic"}`}</Divider>
}

export function FailureRowView({ row }: { readonly row: FailureRow }) {
  const known = FAILURES[row.code]
  return (
    <Notice tone="danger">
      <div>
        <p className="font-medium">{known?.what ?? `The request failed (${oneLine(row.code, 60)})`}</p>
        {row.text !== "" && <p className="whitespace-pre-wrap">{row.text}</p>}
        {known !== undefined && <p className="text-dense">{known.next}</p>}
      </div>
    </Notice>
  )
}

export function PictureRowView({ row }: { readonly row: PictureRow }) {
  const source = dataUrl(row.picture.mediaType, row.picture.data)
  return source === undefined ? (
    <Small>An image that is kept elsewhere</Small>
  ) : (
    <Picture source={source} alt="Image from the agent" />
  )
}

export function HookRowView({ row }: { readonly row: HookRow }) {
  const { detail } = useTranscript()
  const [open, toggle] = useDisclosure(row.key, false)
  const isBad = row.state === "failed"
  if (detail === "brief" && !isBad) return null
  const words = { running: "running", done: "ok", failed: "failed", cancelled: "cancelled" }[row.state]
  const time = row.elapsedMs === undefined || row.elapsedMs < SHORTEST_MS ? "" : ` ${duration(row.elapsedMs)}`
  return (
    <Disclosure
      heading={
        <span
          className={classes("text-meta", isBad ? "text-danger" : "text-text-3")}
        >{`Hook ${oneLine(row.name, 80)} ${words}${time}`}</span>
      }
      open={open || isBad}
      onToggle={toggle}
      hasBody={row.output !== ""}
    >
      <OutputText text={row.output} from="end" />
    </Disclosure>
  )
}

export function LimitRowView({ row }: { readonly row: LimitRow }) {
  if (row.status === "allowed") return <Small>{limitWords(row)}</Small>
  return <Notice tone={row.status === "rejected" ? "danger" : "caution"}>{limitWords(row)}</Notice>
}

export function RetryRowView({ row }: { readonly row: RetryRow }) {
  const code = row.status === undefined ? "" : ` (${row.status})`
  if (row.state === "recovered")
    return <Small>{`Recovered after ${row.attempt === 1 ? "one retry" : `${row.attempt} retries`}`}</Small>
  const of = row.maxRetries === undefined ? "" : ` of ${row.maxRetries}`
  const wait = row.delayMs === undefined ? "" : ` in ${duration(row.delayMs)}`
  const words =
    row.state === "failed"
      ? `API busy${code}: gave up after ${row.attempt} tries`
      : `API busy${code}, retry ${row.attempt}${of}${wait}`
  return <Notice tone={row.state === "failed" ? "danger" : "caution"}>{words}</Notice>
}

export function AskRowView({ row }: { readonly row: AskRow }) {
  const [open, toggle] = useDisclosure(row.key, false)
  const message = typeof row.ask.request["message"] === "string" ? row.ask.request["message"] : ""
  const kind = row.ask.request["subtype"] === "elicitation" ? "elicitation" : "dialog"
  return (
    <Disclosure
      heading={
        <>
          <span className="shrink-0 font-medium text-text">Question</span>
          <bdi className="min-w-0 truncate">{oneLine(message, 200)}</bdi>
          <span className="ms-auto shrink-0 text-meta">
            {outcomeVerb({ kind, state: row.ask.outcome, answer: row.ask.answer })}
          </span>
        </>
      }
      open={open}
      onToggle={toggle}
      below={row.ask.outcome === "pending" && <AnswerBelow />}
    >
      <JsonView value={row.ask.request} />
      {row.ask.answer !== undefined && <JsonView value={row.ask.answer} />}
    </Disclosure>
  )
}

export function UnknownRowView({ row }: { readonly row: UnknownRow }) {
  const { sessionId } = useTranscript()
  const [open, toggle] = useDisclosure(row.key, false)
  useEffect(() => noteUnknownEvent(row.name, `${sessionId}:${row.key}`), [row.name, row.key, sessionId])
  return (
    <Disclosure
      heading={<span className="text-meta text-text-3">{`Unknown event ${oneLine(row.name, 80)}`}</span>}
      open={open}
      onToggle={toggle}
    >
      <JsonView value={row.message} />
    </Disclosure>
  )
}

export function timeOf(at: string): string {
  const ms = Date.parse(at)
  return Number.isNaN(ms) ? "" : clockTime(ms)
}
