import type { Session } from "@signalbox/client"
import type { PromptRow } from "@signalbox/transcript"
import { useState } from "react"
import { refusalWords } from "../../agent/agent-question.ts"
import { copyText } from "../../app/announcer.tsx"
import { useCanOperate, useHub } from "../../app/hub-context.ts"
import { Button } from "../../design/button.tsx"
import { classes } from "../../design/classes.ts"
import { oneLine } from "../../design/visible-text.tsx"
import { plural } from "../../design/words.ts"
import type { Outgoing } from "./outgoing.ts"

interface WaitingProps {
  readonly session: Session
  /** The log has them, and the agent has not taken them up. */
  readonly queued: readonly PromptRow[]
  readonly waiting: readonly Outgoing[]
  readonly onRetry?: (message: Outgoing) => void
  readonly onDiscard?: (uuid: string) => void
  /** One is taken away whose button had the focus. */
  readonly onGone?: () => void
}

/** Messages that were sent and are not with the agent yet. */
export function WaitingMessages({ session, queued, waiting, onRetry, onDiscard, onGone }: WaitingProps) {
  if (waiting.length === 0 && queued.length === 0) return null
  return (
    <ul aria-label="Pending messages" className="flex max-h-[30vh] flex-col gap-1 overflow-y-auto">
      {queued.map((row) => (
        <QueuedMessage key={row.key} row={row} session={session} {...(onGone === undefined ? {} : { onGone })} />
      ))}
      {waiting.map((message) =>
        message.state.name === "not-sent" ? (
          <li key={message.uuid} className={ROW}>
            <StateMark bad>Not sent</StateMark>
            <bdi className="min-w-0 flex-1 basis-48 truncate">{oneLine(message.text, 200)}</bdi>
            <span className="ms-auto flex gap-2">
              <Button onClick={() => onRetry?.(message)}>Retry</Button>
              <Button look="quiet" onClick={() => copyText(message.text)}>
                Copy
              </Button>
              <Button
                look="quiet"
                onClick={() => {
                  onDiscard?.(message.uuid)
                  onGone?.()
                }}
              >
                Discard
              </Button>
            </span>
            <span className="w-full text-meta text-text-3">{message.state.why}</span>
          </li>
        ) : (
          <li key={message.uuid} className={ROW}>
            <StateMark>{message.state.name === "sending" ? "Sending…" : "Accepted"}</StateMark>
            <bdi className="min-w-0 flex-1 truncate text-text-2">{oneLine(message.text, 200)}</bdi>
          </li>
        ),
      )}
    </ul>
  )
}

const ROW = "flex min-h-8 flex-wrap items-center gap-x-2 text-dense coarse:min-h-11"

function StateMark({ children, bad = false }: { readonly children: string; readonly bad?: boolean }) {
  return (
    <span
      className={classes(
        "shrink-0 rounded-mark px-1.5 text-meta font-medium",
        bad ? "bg-danger-soft text-danger" : "bg-sunken text-text-2",
      )}
    >
      {children}
    </span>
  )
}

/** With Cancel: whether it was still to be had is told by the row itself, why not by the agent. */
function QueuedMessage({
  row,
  session,
  onGone,
}: Pick<WaitingProps, "session" | "onGone"> & { readonly row: PromptRow }) {
  const hub = useHub()
  const canOperate = useCanOperate()
  const [trouble, setTrouble] = useState<string | undefined>(undefined)
  const { uuid } = row

  async function cancel(id: string): Promise<void> {
    try {
      const { cancelled } = await hub.session(session.id).cancel(id)
      setTrouble(cancelled ? undefined : "The agent already has it.")
      if (cancelled) onGone?.()
    } catch (error) {
      setTrouble(refusalWords(error, session))
    }
  }

  return (
    <li className={classes(ROW, "text-text-2")}>
      <StateMark>Queued</StateMark>
      <bdi className="min-w-0 flex-1 truncate">{oneLine(row.text, 200) || plural(row.pictures.length, "picture")}</bdi>
      {uuid !== undefined && canOperate && (
        <Button look="quiet" onClick={() => void cancel(uuid)}>
          Cancel
        </Button>
      )}
      {trouble !== undefined && (
        <span role="alert" className="w-full text-meta text-danger">
          Not cancelled: {trouble}
        </span>
      )}
    </li>
  )
}
