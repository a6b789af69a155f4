import { newUuid, type Session } from "@signalbox/client"
import { useMemo, useState } from "react"
import { announce } from "../../app/announcer.tsx"
import { useHub } from "../../app/hub-context.ts"
import { Button } from "../../design/button.tsx"
import { Notice } from "../../design/notice.tsx"
import { plural } from "../../design/words.ts"
import { type LineComment, messageOf, setComments } from "./line-comments.tsx"

interface SendCommentsProps {
  readonly session: Session
  readonly comments: readonly LineComment[]
}

type Sending =
  | { readonly name: "none" }
  | { readonly name: "sending" }
  | { readonly name: "failed"; readonly why: string }

/** The comments as one message to the agent. They stay until it is taken. */
export function SendComments({ session, comments }: SendCommentsProps) {
  const hub = useHub()
  const [sending, setSending] = useState<Sending>({ name: "none" })
  const message = messageOf(comments)
  // Sent again after a reply that was lost, it is the same message.
  const uuid = useMemo(() => newUuid(), [message])
  if (comments.length === 0) return null

  async function send(): Promise<void> {
    if (sending.name === "sending") return
    setSending({ name: "sending" })
    try {
      await hub.session(session.id).send(message, { uuid })
      setComments(session.id, [])
      announce("Comments sent")
      setSending({ name: "none" })
    } catch (error) {
      setSending({ name: "failed", why: error instanceof Error ? error.message : String(error) })
    }
  }

  return (
    <div className="sticky -bottom-3 -mx-3 flex flex-col gap-2 border-t border-line bg-surface px-3 py-2">
      {sending.name === "failed" && (
        <Notice tone="danger" alert>
          Not sent: {sending.why}
        </Notice>
      )}
      <span className="flex items-center justify-end gap-3">
        <Button look="quiet" onClick={() => setComments(session.id, [])}>
          Discard
        </Button>
        <Button look="primary" aria-disabled={sending.name === "sending"} onClick={() => void send()}>
          Send {plural(comments.length, "comment")}
        </Button>
      </span>
    </div>
  )
}
