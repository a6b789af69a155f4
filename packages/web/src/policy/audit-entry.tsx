import type { AuditRecord } from "@signalbox/client"
import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import type { ReactNode } from "react"
import { useHub, useMe, useSession } from "../app/hub-context.ts"
import { useLoaded } from "../app/loaded.ts"
import { Link, navigate, type ScreenProps } from "../app/router.tsx"
import { waitWords } from "../asks/request-words.ts"
import { Button } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { BackIcon } from "../design/icons.tsx"
import { Empty, WhenReady } from "../design/notice.tsx"
import { MachineName } from "../fleet/machine-store.tsx"
import { titleOf } from "../fleet/session-words.ts"
import { DecidingText, RuleLink, WhyNote } from "../fleet/verdict.tsx"
import { JsonView } from "../transcript/content/output-text.tsx"
import { actorOf, lookOf, outcomeOf, placeOf, subjectOf, verdictIn } from "./audit-words.ts"
import { PolicyFrame } from "./policy-frame.tsx"

/** One entry of the audit, with everything it says. */
export function AuditEntry({ params }: ScreenProps) {
  const hub = useHub()
  const id = Number(params["id"])
  const entry = useLoaded(async () => {
    if (!Number.isSafeInteger(id) || id < 1) return undefined
    const { records } = await hub.audit({ after: id - 1, limit: 1 })
    return records.find((record) => record.id === id)
  }, [hub, id])
  return (
    <PolicyFrame title={`Audit ${params["id"] ?? ""}`}>
      <WhenReady of={entry} what="the entry">
        {(record) =>
          record === undefined ? (
            <Empty action={<Button onClick={() => navigate("/audit")}>Show audit</Button>}>Entry not found.</Empty>
          ) : (
            <Record record={record} />
          )
        }
      </WhenReady>
    </PolicyFrame>
  )
}

function Record({ record }: { readonly record: AuditRecord }) {
  const me = useMe()
  const session = useSession(record.sessionId ?? "")
  const actor = actorOf(record, me.name)
  const place = placeOf(record)
  const { waitedMs } = record.details
  const verdict = verdictIn(record.details)
  const facts: readonly (readonly [term: string, fact: ReactNode])[] = [
    [
      "When",
      <time key="at" dateTime={record.at}>
        {new Date(record.at).toLocaleString("en-GB")}
      </time>,
    ],
    ["Who", actor.rule === undefined ? actor.words : <>Rule {<RuleLink id={actor.rule} />}</>],
    ["Why", verdict === undefined ? undefined : <WhyNote key="why" {...verdict} />],
    ["Waited", typeof waitedMs === "number" ? waitWords(waitedMs) : undefined],
    ["Session", session === undefined ? record.sessionId : <bdi>{titleOf(session)}</bdi>],
    ["Machine", session === undefined ? undefined : <MachineName session={session} />],
    ["Input hash", textOf(record.details, "inputHash")],
  ]
  return (
    <article className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2">
        <Link
          href="/audit"
          aria-label="Audit"
          className="flex size-8 items-center justify-center rounded-control text-text-2 hover:bg-sunken coarse:size-11"
        >
          <BackIcon />
        </Link>
        <h2 className={classes("text-title font-bold", lookOf(record.what))}>{outcomeOf(record.what)}</h2>
        <bdi className="min-w-0 font-mono text-dense">{subjectOf(record)}</bdi>
      </div>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-1">
        {facts.map(([term, fact]) =>
          fact === undefined || fact === null ? null : (
            <div key={term} className="contents">
              <dt className="text-text-3">{term}</dt>
              <dd>{fact}</dd>
            </div>
          ),
        )}
      </dl>
      <DecidingText why={verdict?.why} input={fieldOf(record.details, "input")} />
      <p className="flex flex-wrap gap-x-4 gap-y-1">
        {place !== undefined && <Out href={place}>Show in transcript</Out>}
        {record.askId !== null && <Out href={`/requests/${encodeURIComponent(record.askId)}`}>Show request</Out>}
        {record.sessionId !== null && (
          <Out href={`/audit?${new URLSearchParams({ session: record.sessionId }).toString()}`}>
            All entries of this session
          </Out>
        )}
      </p>
      <section className="flex flex-col gap-1">
        <h3 className="text-dense font-medium text-text-2">Details</h3>
        <JsonView value={record.details} whole />
      </section>
    </article>
  )
}

function Out({ href, children }: { readonly href: string; readonly children: string }) {
  return (
    <Link href={href} className="inline-flex min-h-6 items-center text-accent underline coarse:min-h-11">
      {children}
    </Link>
  )
}
