import type { Session } from "@signalbox/client"
import type { PromptRow, Row } from "@signalbox/protocol/transcript"
import {
  type ClipboardEvent,
  type DragEvent,
  type FormEvent,
  type KeyboardEvent,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react"
import { useCanOperate, useHub } from "../app/hub-context.ts"
import { Button, IconButton } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { CloseIcon, DownIcon, SendIcon } from "../design/icons.tsx"
import { Menu } from "../design/menu.tsx"
import { oneLine } from "../design/visible-characters.ts"
import { type Attachment, contentOf, readImages } from "./attachments.ts"
import { CommandList } from "./command-list.tsx"
import { keepDraft, readDraft } from "./drafts.ts"
import type { Outgoing } from "./outgoing.ts"
import type { SessionFeed } from "./session-feed.ts"
import { useCommandCompletion } from "./use-command-completion.ts"
import { useOutgoing } from "./use-outgoing.ts"

interface ComposerProps {
  readonly session: Session
  readonly feed: SessionFeed
  readonly rows: readonly Row[]
  readonly onSent: () => void
}

export function Composer({ session, feed, rows, onSent }: ComposerProps) {
  if (!useCanOperate()) {
    return (
      <p data-region="composer" className="shrink-0 border-t border-line bg-surface px-4 py-3 text-center text-text-2">
        You are viewing. Operators can send messages.
      </p>
    )
  }
  return <OpenComposer key={session.id} session={session} feed={feed} rows={rows} onSent={onSent} />
}

function OpenComposer({ session, feed, rows, onSent }: ComposerProps) {
  const [text, setText] = useState(() => readDraft(session.id))
  const [images, setImages] = useState<readonly Attachment[]>([])
  const { waiting, send, retry, discard } = useOutgoing(session.id, rows)
  const isBusy = session.state === "running" || session.state === "waiting"
  const isEmpty = text.trim() === "" && images.length === 0
  const field = useRef<HTMLTextAreaElement>(null)
  const [caret, setCaret] = useState(text.length)
  const commands = useCommandCompletion({ session, feed, text, caret, onText: putText })

  useEffect(() => keepDraft(session.id, text), [session.id, text])

  function submit(priority?: "now"): void {
    if (isEmpty) return
    const words = text.trim() === "" ? "(image)" : text
    send({ content: contentOf(text, images), text: words, ...(priority === undefined ? {} : { priority }) })
    setText("")
    setImages([])
    onSent()
    field.current?.focus()
  }

  function putText(next: string): void {
    setText(next)
    setCaret(next.length)
    field.current?.focus()
  }

  function onKey(event: KeyboardEvent<HTMLTextAreaElement>): void {
    if (commands.onKey(event)) return
    const isPhone = matchMedia("(pointer: coarse)").matches
    const sends = event.key === "Enter" && !event.shiftKey && !event.altKey && !event.nativeEvent.isComposing
    if (!sends || (isPhone && !event.ctrlKey && !event.metaKey)) return
    event.preventDefault()
    if (!event.repeat) submit()
  }

  async function attach(event: ClipboardEvent | DragEvent, list: DataTransfer | null): Promise<void> {
    const files = [...(list?.files ?? [])].filter(({ type }) => type.startsWith("image/"))
    if (files.length === 0) return
    event.preventDefault()
    const added = await readImages(files)
    setImages((before) => [...before, ...added].slice(0, 10))
  }

  return (
    <div data-region="composer" className="shrink-0 border-t border-line bg-surface pb-[env(safe-area-inset-bottom)]">
      <div className="mx-auto flex max-w-4xl flex-col gap-2 px-3 py-2 tablet:px-6">
        <WaitingMessages session={session} rows={rows} waiting={waiting} onRetry={retry} onDiscard={discard} />
        {images.length > 0 && (
          <Attachments images={images} onRemove={(id) => setImages(images.filter((image) => image.id !== id))} />
        )}
        <form
          onSubmit={(event: FormEvent) => {
            event.preventDefault()
            submit()
          }}
          className="relative flex items-end gap-2"
        >
          {commands.list !== undefined && <CommandList {...commands.list} />}
          <textarea
            ref={field}
            aria-label="Message"
            placeholder="Message…  (/ for commands)"
            rows={1}
            value={text}
            data-region-focus
            {...commands.field}
            onChange={({ target }) => {
              setText(target.value)
              setCaret(target.selectionStart)
            }}
            onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
            onKeyDown={onKey}
            onPaste={(event) => void attach(event, event.clipboardData)}
            onDragOver={(event) => event.preventDefault()}
            onDrop={(event) => void attach(event, event.dataTransfer)}
            className="field-sizing-content max-h-[min(40vh,20rem)] min-h-9 w-full min-w-0 resize-none rounded-control border border-edge bg-canvas px-3 py-1.5 text-input coarse:min-h-11"
          />
          <div className="flex shrink-0">
            <Button
              type="submit"
              look="primary"
              aria-disabled={isEmpty}
              className={classes("min-h-9 coarse:min-h-11", isBusy && "rounded-e-none!")}
            >
              <SendIcon size={16} />
              {isBusy ? "Queue" : "Send"}
            </Button>
            {isBusy && (
              <Menu
                label="Other ways to send"
                trigger={<DownIcon size={14} />}
                className="h-9! w-7! rounded-s-none! border border-s-0 border-edge coarse:h-11!"
                entries={[
                  { label: "Queue", onSelect: () => submit() },
                  { label: "Send now (interrupts)", onSelect: () => submit("now") },
                ]}
              />
            )}
          </div>
        </form>
      </div>
    </div>
  )
}

interface WaitingProps {
  readonly session: Session
  readonly rows: readonly Row[]
  readonly waiting: readonly Outgoing[]
  readonly onRetry: (message: Outgoing) => void
  readonly onDiscard: (uuid: string) => void
}

/** What was sent and is not with the agent yet. */
function WaitingMessages({ session, rows, waiting, onRetry, onDiscard }: WaitingProps) {
  const hub = useHub()
  const queued = useMemo(() => queuedIn(rows, session), [rows, session])
  if (waiting.length === 0 && queued.length === 0) return null
  return (
    <ul aria-label="Messages on their way" className="flex flex-col gap-1">
      {queued.map((row) => (
        <li key={row.key} className="flex items-center gap-2 text-dense text-text-2">
          <span className="shrink-0 rounded-[4px] bg-sunken px-1.5 text-meta font-medium">Queued</span>
          <bdi className="min-w-0 flex-1 truncate">{oneLine(row.text, 200)}</bdi>
          {row.uuid !== undefined && (
            // Whether it was still to be had is told by the row itself.
            <Button
              look="quiet"
              onClick={() =>
                void hub
                  .session(session.id)
                  .cancel(row.uuid ?? "")
                  .catch(() => undefined)
              }
            >
              Cancel
            </Button>
          )}
        </li>
      ))}
      {waiting.map((message) => (
        <li key={message.uuid} className="flex flex-wrap items-center gap-2 text-dense">
          {message.state.name === "not-sent" ? (
            <>
              <span className="shrink-0 rounded-[4px] bg-danger-soft px-1.5 text-meta font-medium text-danger">
                Not sent
              </span>
              <bdi className="min-w-0 flex-1 truncate">{oneLine(message.text, 200)}</bdi>
              <Button onClick={() => onRetry(message)}>Retry</Button>
              <Button look="quiet" onClick={() => void navigator.clipboard.writeText(message.text)}>
                Copy
              </Button>
              <Button look="quiet" onClick={() => onDiscard(message.uuid)}>
                Discard
              </Button>
              <span className="w-full text-meta text-text-3">{message.state.why}</span>
            </>
          ) : (
            <>
              <span className="shrink-0 rounded-[4px] bg-sunken px-1.5 text-meta font-medium text-text-2">
                {message.state.name === "sending" ? "Sending…" : "Accepted"}
              </span>
              <bdi className="min-w-0 flex-1 truncate text-text-2">{oneLine(message.text, 200)}</bdi>
            </>
          )}
        </li>
      ))}
    </ul>
  )
}

function queuedIn(rows: readonly Row[], { state }: Session): readonly PromptRow[] {
  const isAway = state === "starting" || state === "disconnected"
  return rows.filter(
    (row): row is PromptRow =>
      row.kind === "prompt" && (row.delivery === "queued" || (isAway && row.delivery === "sent")),
  )
}

function Attachments({
  images,
  onRemove,
}: {
  readonly images: readonly Attachment[]
  readonly onRemove: (id: string) => void
}) {
  return (
    <ul aria-label="Images" className="flex flex-wrap gap-2">
      {images.map(({ id, name, url }) => (
        <li key={id} className="relative">
          <img src={url} alt={name} className="size-16 rounded-control border border-line object-cover" />
          <IconButton
            label={`Remove ${name}`}
            look="plain"
            onClick={() => onRemove(id)}
            className="absolute -top-2 -right-2 size-6!"
          >
            <CloseIcon size={12} />
          </IconButton>
        </li>
      ))}
    </ul>
  )
}
