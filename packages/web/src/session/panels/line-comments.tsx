import { newUuid, type Session } from "@signalbox/client"
import { useMemo, useState } from "react"
import { announce } from "../../app/announcer.tsx"
import { useHub } from "../../app/hub-context.ts"
import { createValueStore } from "../../app/value-store.ts"
import { Button } from "../../design/button.tsx"
import { Trouble } from "../../design/notice.tsx"
import { plural } from "../../design/words.ts"
import type { DiffLine } from "../../transcript/content/line-diff.ts"

/** A comment on one line of a change. */
export interface LineComment {
  readonly path: string
  /** Line number in the file as it is now; a deleted line has its old number. */
  readonly line: number
  readonly kind: DiffLine["kind"]
  /** The code of that line. */
  readonly code: string
  readonly words: string
}

type Place = Pick<LineComment, "path" | "line" | "kind">

export function isSamePlace(a: Place, b: Place): boolean {
  return a.path === b.path && a.line === b.line && (a.kind === "removed") === (b.kind === "removed")
}

/** One to a line; without words it is taken back. */
export function withComment(comments: readonly LineComment[], comment: LineComment): readonly LineComment[] {
  const others = comments.filter((other) => !isSamePlace(other, comment))
  return comment.words.trim() === "" ? others : [...others, comment]
}

/** All of them as one message, in the order of the files. */
export function messageOf(comments: readonly LineComment[]): string {
  const sorted = comments.toSorted((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1))
  const parts = sorted.map(({ path, line, kind, code, words }) => {
    const place = `${path}:${line}${kind === "removed" ? " (a line that was removed)" : ""}`
    return `${place}\n> ${code.trim()}\n${words.trim()}`
  })
  return [comments.length === 1 ? "A comment on your changes:" : "Comments on your changes:", ...parts].join("\n\n")
}

/** Comments that are not sent yet, of the last few sessions: closing the panel does not lose them. */
export const lineComments = createValueStore<ReadonlyMap<string, readonly LineComment[]>>(new Map())
const MAX_SESSIONS = 20

export function setComments(session: string, comments: readonly LineComment[]): void {
  const others = [...lineComments.get()].filter(([id]) => id !== session).slice(-MAX_SESSIONS + 1)
  lineComments.set(new Map(comments.length === 0 ? others : [...others, [session, comments] as const]))
}

type SendCommentsProps = { readonly session: Session; readonly comments: readonly LineComment[] }

/** The comments as one message to the agent. They stay until it is taken. */
export function SendComments({ session, comments }: SendCommentsProps) {
  const hub = useHub()
  const [sending, setSending] = useState<"sending" | { readonly why: string } | undefined>(undefined)
  const message = messageOf(comments)
  // Sent again after a reply that was lost, it is the same message.
  const uuid = useMemo(() => newUuid(), [message])
  if (comments.length === 0) return null

  async function send(): Promise<void> {
    if (sending === "sending") return
    setSending("sending")
    try {
      await hub.session(session.id).send(message, { uuid })
      setComments(session.id, [])
      announce("Comments sent")
      setSending(undefined)
    } catch (error) {
      setSending({ why: error instanceof Error ? error.message : String(error) })
    }
  }

  return (
    <div className="sticky -bottom-3 -mx-3 flex flex-col gap-2 border-t border-line bg-surface px-3 py-2">
      {typeof sending === "object" && <Trouble>Not sent: {sending.why}</Trouble>}
      <span className="flex items-center justify-end gap-3">
        <Button look="quiet" onClick={() => setComments(session.id, [])}>
          Discard
        </Button>
        <Button look="primary" aria-disabled={sending === "sending"} onClick={() => void send()}>
          Send {plural(comments.length, "comment")}
        </Button>
      </span>
    </div>
  )
}
