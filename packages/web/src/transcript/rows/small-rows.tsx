import { textOf } from "@signalbox/protocol/envelope"
import type { RowOf } from "@signalbox/transcript"
import { type ReactNode, useEffect } from "react"
import { useSession } from "../../app/hub-context.ts"
import { noteUnknownEvent } from "../../app/unknown-events.ts"
import { classes } from "../../design/classes.ts"
import { Notice } from "../../design/notice.tsx"
import { oneLine } from "../../design/visible-text.tsx"
import { clockTime, duration, moment, SHORTEST_MS, shortPath, tokens } from "../../design/words.ts"
import { outcomeVerb } from "../../fleet/ask-words.ts"
import { limitNames, limitPercent, limitResetMs } from "../../fleet/limit-use.ts"
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
  const changes = row.changes?.map(({ what, before, after }) => `${what}: ${before ?? "none"} → ${after ?? "none"}`)
  if (changes !== undefined) return <Small>{changes.join(" · ")}</Small>
  const facts = [
    row.model,
    row.mode,
    row.cwd === undefined ? undefined : oneLine(shortPath(abbreviateHome(row.cwd, home), 3), 80),
    row.version && `CLI ${row.version}`,
  ]
  return <Divider>{["Started", ...facts.filter((fact) => fact !== undefined && fact !== "")].join(" · ")}</Divider>
}

export function CompactionRowView({ row }: { readonly row: RowOf<"compaction"> }) {
  const after = row.postTokens === undefined ? "" : ` → ${tokens(row.postTokens)}`
  const sizes = row.preTokens === undefined ? "" : `, ${tokens(row.preTokens)}${after} tokens`
  return <Divider>{`Context compacted${sizes}, ${row.trigger === "manual" ? "manual" : "automatic"}`}</Divider>
}

export function FailureRowView({ row }: { readonly row: RowOf<"failure"> }) {
  const [what, next] = FAILURES[row.code] ?? [`The request failed (${oneLine(row.code, 60)})`]
  return (
    <Notice tone="danger">
      <div>
        <p className="font-medium">{what}</p>
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
  const words = row.state === "done" ? "ok" : row.state
  const time = row.elapsedMs === undefined || row.elapsedMs < SHORTEST_MS ? "" : ` ${duration(row.elapsedMs)}`
  const line = `Hook ${oneLine(row.name, 80)} ${words}${time}`
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
  if (row.status === "allowed") return <Small>{limitWords(row)}</Small>
  return <Notice tone={row.status === "rejected" ? "danger" : "caution"}>{limitWords(row)}</Notice>
}

export function RetryRowView({ row }: { readonly row: RowOf<"retry"> }) {
  const code = row.status === undefined ? "" : ` (${row.status})`
  if (row.state === "recovered")
    return <Small>{`Recovered after ${row.attempt === 1 ? "one retry" : `${row.attempt} retries`}`}</Small>
  const of = row.maxRetries === undefined ? "" : ` of ${row.maxRetries}`
  const wait = row.delayMs === undefined ? "" : ` in ${duration(row.delayMs)}`
  if (row.state === "failed")
    return <Notice tone="danger">{`API busy${code}: gave up after ${row.attempt} tries`}</Notice>
  return <Notice tone="caution">{`API busy${code}, retry ${row.attempt}${of}${wait}`}</Notice>
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

/** The CLI's codes for a request that failed: what happened, and what to do. */
const FAILURES: Readonly<Record<string, readonly [what: string, next: string]>> = {
  rate_limit: ["Rate limit reached.", "Wait for it to reset, or choose another model."],
  authentication_failed: ["The agent is not signed in.", "Sign in on its machine: run claude and then /login."],
  billing_error: ["Billing problem.", "Check billing for the agent's account."],
  invalid_request: [
    "The API refused the request.",
    "The message says why. A shorter message or another model may help.",
  ],
  overloaded: ["The API is overloaded.", "Try again later."],
  model_not_found: ["Model not found.", "Choose another model."],
  oauth_org_not_allowed: [
    "This account's organisation isn't allowed.",
    "Sign in with another account on its machine: run claude and then /login.",
  ],
  account_on_hold: ["The account is on hold.", "Check the account page for the reason."],
  verification_required: ["Account verification required.", "Verify it on the account page."],
  cloud_credential_error: ["Cloud credentials were refused.", "Renew them on the agent's machine."],
  unknown: ["The request failed.", "Send the message again."],
  server_error: ["The API failed.", "Try again later."],
  max_output_tokens: ["The answer was too long.", "Ask Claude to continue, or to do less at once."],
}

function limitWords({ status, limitType, utilization, resetsAt, at }: RowOf<"limit">): string {
  const { name } = limitNames(limitType)
  const used = utilization === undefined ? "" : `, ${limitPercent(utilization)} % used`
  const resets = resetsAt === undefined ? "" : `, resets at ${moment(limitResetMs(resetsAt), Date.parse(at))}`
  if (status === "allowed") return `Within the ${name.charAt(0).toLowerCase()}${name.slice(1)} again${used}`
  const reached = status === "rejected" ? " reached" : ""
  return `${name}${reached}${used}${resets}`
}
