import type { Session } from "@signalbox/client"
import { textOf } from "@signalbox/protocol/envelope"
import type { PromptRow, Row } from "@signalbox/transcript"
import { type FormEvent, type KeyboardEvent, useLayoutEffect, useMemo, useRef, useState } from "react"
import { useCanOperate } from "../../app/hub-context.ts"
import { isCoarse } from "../../app/screen.tsx"
import { Button } from "../../design/button.tsx"
import { classes } from "../../design/classes.ts"
import { DownIcon, SendIcon } from "../../design/icons.tsx"
import { Menu } from "../../design/menu.tsx"
import { oneLine } from "../../design/visible-text.tsx"
import { MachineName } from "../../fleet/machine-store.tsx"
import type { SessionFeed } from "../../transcript/window/session-feed.ts"
import { AttachButton, AttachmentList, contentOf, useImages } from "./attachments.tsx"
import { CompletionList, useCompletion } from "./completion.tsx"
import { useDraft } from "./drafts.ts"
import { useOutgoing } from "./outgoing.ts"
import { WaitingMessages } from "./waiting-messages.tsx"

interface ComposerProps {
  readonly session: Session
  readonly feed: SessionFeed
  readonly rows: readonly Row[]
  readonly queued: readonly PromptRow[]
  readonly onSent: () => void
}

export function Composer(props: ComposerProps) {
  if (useCanOperate()) return <OpenComposer key={props.session.id} {...props} />
  return <ClosedComposer {...props} />
}

/** For a viewer, who sees the messages that wait and can send none. */
function ClosedComposer({ session, queued }: ComposerProps) {
  return (
    <div data-region="composer" className="shrink-0 border-t border-line bg-surface px-4 py-3 text-text-2">
      <WaitingMessages session={session} queued={queued} waiting={NONE} />
      <p className="text-center">View only</p>
    </div>
  )
}

const NONE: readonly never[] = []

function OpenComposer({ session, feed, rows, queued, onSent }: ComposerProps) {
  const [text, setText] = useDraft(session.id)
  const { images, left, attach, take, remove, clear } = useImages(session.id)
  const { waiting, send, retry, discard } = useOutgoing(session, rows)
  const isBusy = session.state === "running" || session.state === "waiting"
  const isEmpty = text.trim() === "" && images.length === 0
  const field = useRef<HTMLTextAreaElement>(null)
  const [caret, setCaret] = useState(text.length)
  const moveCaret = useCaret(field)
  const completion = useCompletion({ session, feed, text, caret, onText: putText })

  function submit(priority?: "now"): void {
    if (isEmpty) return
    const words = text.trim() === "" ? "(image)" : text
    send({ content: contentOf(text, images), text: words, ...(priority === undefined ? {} : { priority }) })
    setText("")
    clear()
    onSent()
    field.current?.focus()
  }

  function putText(next: string, at: number): void {
    setText(next)
    setCaret(at)
    moveCaret(at)
    field.current?.focus()
  }

  function onKey(event: KeyboardEvent<HTMLTextAreaElement>): void {
    if (completion.onKey(event)) return
    const sends = event.key === "Enter" && !event.shiftKey && !event.altKey && !event.nativeEvent.isComposing
    if (!sends || (isCoarse() && !event.ctrlKey && !event.metaKey)) return
    event.preventDefault()
    if (!event.repeat) submit()
  }

  return (
    <div data-region="composer" className="shrink-0 border-t border-line bg-surface pb-[env(safe-area-inset-bottom)]">
      <div className="mx-auto flex max-w-4xl flex-col gap-2 px-3 py-2 tablet:px-6">
        <WaitingMessages
          session={session}
          queued={queued}
          waiting={waiting}
          onRetry={retry}
          onDiscard={discard}
          onGone={() => field.current?.focus()}
        />
        {isEmpty && !isBusy && <Suggestion rows={rows} onTake={(taken) => putText(taken, taken.length)} />}
        {canResume(session) && (
          <p className="text-dense text-text-2">
            Send a message to resume on <MachineName session={session} />.
          </p>
        )}
        <AttachmentList
          images={images}
          onRemove={(id) => {
            remove(id)
            field.current?.focus()
          }}
        />
        {left !== undefined && (
          <p role="alert" className="text-dense text-danger">
            {left}
          </p>
        )}
        <form
          onSubmit={(event: FormEvent) => {
            event.preventDefault()
            submit()
          }}
          // The field stands above the buttons where there is no room beside them.
          className="relative flex flex-wrap items-end justify-end gap-2"
        >
          {completion.list !== undefined && <CompletionList {...completion.list} />}
          <textarea
            ref={field}
            aria-label="Message"
            placeholder={placeholderOf(isBusy)}
            rows={1}
            value={text}
            data-region-focus
            {...completion.field}
            onChange={({ target }) => {
              setText(target.value)
              setCaret(target.selectionStart)
            }}
            onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
            onKeyDown={onKey}
            onPaste={(event) => attach(event, event.clipboardData)}
            onDragOver={(event) => event.preventDefault()}
            onDrop={(event) => attach(event, event.dataTransfer)}
            className="field-sizing-content max-h-[min(40vh,20rem)] min-h-9 min-w-0 flex-[1_1_9rem] resize-none rounded-control border border-edge bg-canvas px-3 py-1.5 text-input placeholder:whitespace-nowrap coarse:min-h-11"
          />
          <AttachButton
            onFiles={(files) => {
              take(files)
              field.current?.focus()
            }}
          />
          <SendButton isBusy={isBusy} isEmpty={isEmpty} onSend={submit} />
        </form>
      </div>
    </div>
  )
}

/** On a phone there is room for what happens to the message, and no more. */
function placeholderOf(isBusy: boolean): string {
  const what = isBusy ? "Queue a message…" : "Message…"
  return isCoarse() ? what : `${what}  (@ files, / commands)`
}

/** One that has ended on a machine goes on there; one that was started elsewhere has nobody to start it. */
function canResume({ state, runner, next }: Pick<Session, "state" | "runner" | "next">): boolean {
  return state === "ended" && runner !== null && next === undefined
}

interface SendButtonProps {
  readonly isBusy: boolean
  readonly isEmpty: boolean
  readonly onSend: (priority?: "now") => void
}

/** While it works a message waits for the turn's end, unless somebody says otherwise. */
function SendButton({ isBusy, isEmpty, onSend }: SendButtonProps) {
  return (
    <div className={classes("flex shrink-0", isBusy && "rounded-control border border-edge")}>
      <Button
        type="submit"
        look="primary"
        aria-disabled={isEmpty}
        className={classes("coarse:min-h-11", isBusy ? "min-h-8.5 rounded-e-none! border-0!" : "min-h-9")}
      >
        <SendIcon size={16} />
        {/* A phone has no room for a word that its picture says. */}
        <span className="max-tablet:sr-only">{isBusy ? "Queue" : "Send"}</span>
      </Button>
      {isBusy && (
        <Menu
          label="Other ways to send"
          trigger={<DownIcon size={14} />}
          className="h-8.5! w-7! rounded-s-none! border-s border-edge coarse:h-11! coarse:w-11!"
          entries={[
            { label: "Queue", onSelect: () => onSend() },
            { label: "Send now (interrupts)", onSelect: () => onSend("now") },
          ]}
        />
      )}
    </div>
  )
}

/** Puts the caret where a completion wants it, once the field holds the new text. */
function useCaret(field: React.RefObject<HTMLTextAreaElement | null>): (at: number) => void {
  const wanted = useRef<number | undefined>(undefined)
  useLayoutEffect(() => {
    if (wanted.current === undefined) return
    field.current?.setSelectionRange(wanted.current, wanted.current)
    wanted.current = undefined
  })
  return (at) => {
    wanted.current = at
  }
}

/** It comes with the end of a turn: further back there is none that still fits. */
const MAX_ROWS_BACK = 20

/** The agent's idea of the next message; none once something has been said. */
function suggestionIn(rows: readonly Row[]): string | undefined {
  for (const row of rows.slice(-MAX_ROWS_BACK).toReversed()) {
    if (row.kind === "prompt") return undefined
    if (row.kind === "note" && row.topic === "prompt_suggestion") return textOf(row.details, "suggestion")
  }
  return undefined
}

/** Taken into the field to be read and changed, never sent by itself: the agent wrote it. */
function Suggestion({ rows, onTake }: { readonly rows: readonly Row[]; readonly onTake: (text: string) => void }) {
  const suggestion = useMemo(() => suggestionIn(rows), [rows])
  if (suggestion === undefined || suggestion.trim() === "") return null
  return (
    <Button
      aria-label={`Take the suggestion: ${oneLine(suggestion, 200)}`}
      onClick={() => onTake(suggestion)}
      className="max-w-full self-start rounded-full!"
    >
      <bdi className="truncate font-normal">{oneLine(suggestion, 120)}</bdi>
    </Button>
  )
}
