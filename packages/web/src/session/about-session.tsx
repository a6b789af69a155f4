import type { Session } from "@signalbox/client"
import { totalTokens } from "@signalbox/transcript"
import { type ReactNode, useState } from "react"
import { useNow } from "../app/clock.ts"
import { CopyButton } from "../design/button.tsx"
import { Trouble } from "../design/notice.tsx"
import { TokenTable } from "../design/token-table.tsx"
import { oneLine } from "../design/visible-text.tsx"
import { age, clockTime, money, plural } from "../design/words.ts"
import type { LimitUse } from "../fleet/limit-use.ts"
import { MachineName } from "../fleet/machine-store.tsx"
import { isSilent } from "../fleet/session-status.tsx"
import { type ContextFill, ContextMeter, LimitMeter } from "./meters.tsx"
import { OriginLink, useOrigin } from "./session-facts.tsx"
import { Steering } from "./steering.tsx"

const ROW = "flex min-h-9 items-center justify-between gap-4 py-1 coarse:min-h-12"
const NAME = "shrink-0 text-dense text-text-2"

interface AboutSessionProps {
  readonly session: Session
  readonly fill: ContextFill | undefined
  readonly use: LimitUse | undefined
  /** False where the mode is chosen beside it. */
  readonly hasMode?: boolean
}

/** All that the header has, one under the other: on a phone this is where model and mode are chosen. */
export function AboutSession({ session, fill, use, hasMode = true }: AboutSessionProps) {
  const [trouble, setTrouble] = useState<string | undefined>(undefined)
  const now = useNow()
  const origin = useOrigin(session)
  const seenAt = isSilent(session, now) ? session.runnerSeenAt : undefined
  return (
    <>
      <Trouble>{trouble}</Trouble>
      <div className="flex flex-col divide-y divide-line border-b border-line">
        <Steering
          session={session}
          onTrouble={setTrouble}
          place={(name, control) =>
            (hasMode || name !== "Mode") && (
              <div key={name} className={ROW}>
                <span className={NAME}>{name}</span>
                {control}
              </div>
            )
          }
        />
      </div>
      <dl className="-mt-4 flex flex-col divide-y divide-line">
        <Fact name="Machine">
          <span>
            <MachineName session={session} />
            {seenAt !== undefined && `, as of ${clockTime(Date.parse(seenAt))}`}
          </span>
        </Fact>
        {session.cwd !== null && <Copied name="Folder" text={session.cwd} />}
        {session.branch !== undefined && session.branch !== "" && <Copied name="Branch" text={session.branch} />}
        {session.changes !== undefined && (
          <Fact name="Not committed">
            {plural(session.changes.files, "file")}, +{session.changes.added} −{session.changes.removed}
          </Fact>
        )}
        {session.enforce !== undefined && <Fact name="Policy">{ENFORCE_WORDS[session.enforce]}</Fact>}
        {session.cliVersion !== null && <Fact name="CLI">{oneLine(session.cliVersion, 40)}</Fact>}
        {fill !== undefined && (
          <Fact name="Context">
            <ContextMeter fill={fill} />
          </Fact>
        )}
        {use !== undefined && (
          <Fact name={use.name}>
            <LimitMeter use={use} />
          </Fact>
        )}
        <Fact name="Cost">
          {money(session.costUsd)} in {plural(session.turns, "turn")}
        </Fact>
        {totalTokens(session.tokens) > 0 && (
          <div className="py-2">
            <dt className={NAME}>Tokens</dt>
            <dd>
              <TokenTable name="All turns" tokens={session.tokens} models={session.models} />
            </dd>
          </div>
        )}
        {session.viewers > 1 && <Fact name="Watching">{session.viewers}</Fact>}
        <Fact name="Began">{age(Date.parse(session.createdAt), now)} ago</Fact>
        {origin !== undefined && (
          <Fact name={origin.name}>
            <OriginLink origin={origin} />
          </Fact>
        )}
        <Copied name="Session" text={session.id} />
      </dl>
    </>
  )
}

const ENFORCE_WORDS: Readonly<Record<NonNullable<Session["enforce"]>, string>> = {
  asked: "Judges what the agent asks about",
  everything: "Judges every tool call",
  lost: "Not enforced: a tool call wasn't judged",
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className={ROW}>
      <dt className={NAME}>{name}</dt>
      <dd className="flex min-w-0 items-center gap-2 text-end tabular-nums">{children}</dd>
    </div>
  )
}

/** The end of it tells most: it is shown whole, however many lines that takes. */
function Copied({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <Fact name={name}>
      <bdi className="min-w-0 font-mono text-meta break-all">{oneLine(text, 400)}</bdi>
      <CopyButton text={text} label={`Copy ${name.toLowerCase()}`} className="shrink-0" />
    </Fact>
  )
}
