import { newUuid, type Session } from "@signalbox/client"
import { type FormEvent, useEffect, useRef, useState } from "react"
import { announce } from "../app/announcer.tsx"
import { useFleet, useHubStore } from "../app/hub-context.ts"
import { isEditable, useKeys } from "../app/keyboard.ts"
import { useValue } from "../app/value-store.ts"
import { Button, IconButton } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { Confirm, Dialog } from "../design/dialog.tsx"
import { INPUT } from "../design/field.tsx"
import { CloseIcon } from "../design/icons.tsx"
import { plural } from "../design/words.ts"
import { type BulkResult, clearSelection, inBulk, selection } from "./selection.ts"
import {
  type BulkAction,
  bulkConsequence,
  progressWords,
  refusalWords,
  resultWords,
  targetsOf,
} from "./selection-words.ts"

type Work =
  | { readonly name: "none" }
  | { readonly name: "doing"; readonly action: BulkAction; readonly finished: number; readonly total: number }
  | { readonly name: "done"; readonly action: BulkAction; readonly result: BulkResult }

const ACTIONS: readonly { readonly action: BulkAction; readonly label: string }[] = [
  { action: "archive", label: "Archive" },
  { action: "unarchive", label: "Unarchive" },
  { action: "message", label: "Message…" },
  { action: "stop", label: "Stop…" },
]

/** Below the list while sessions are selected: what can be done to all of them, and what came of it. */
export function SelectionBar() {
  const { sessions } = useFleet()
  const { ids } = useValue(selection)
  const chosen = [...ids].flatMap((id) => sessions.get(id) ?? [])
  const { work, run, forget } = useBulkWork()
  const [asking, setAsking] = useState<"none" | "archive" | "stop" | "message">("none")
  useKeys({
    Escape: ({ target }) => (ids.size === 0 || isEditable(target) ? "not-here" : clearSelection()),
  })
  const isOver = chosen.length === 0
  useEffect(() => {
    // The buttons went with the selection: who was at one goes on in the list.
    const isLost = document.activeElement === document.body || document.activeElement === null
    if (isOver && isLost) document.querySelector<HTMLElement>("[data-roving] [tabindex='0']")?.focus()
  }, [isOver])
  const isBusy = work.name === "doing"
  // Kept while somebody did not get it: it can be sent again.
  const [text, setText] = useState("")
  const sendAll = async () => {
    const { refused } = await run("message", chosen, text.trim())
    if (refused.length === 0) setText("")
  }
  const start = (action: BulkAction) => {
    const isAsked = action === "message" || action === "stop" || bulkConsequence(action, chosen) !== ""
    if (isAsked && action !== "unarchive") setAsking(action)
    else void run(action, targetsOf(action, chosen))
  }
  if (chosen.length === 0 && work.name === "none") return null
  return (
    <section
      aria-label="Selected sessions"
      className="flex shrink-0 flex-col gap-1 border-t border-line bg-surface px-4 py-2 tablet:px-6"
    >
      <WorkLine work={work} sessions={sessions} onDismiss={forget} />
      {chosen.length > 0 && (
        <div className="mx-auto flex w-full max-w-5xl flex-wrap items-center gap-1.5">
          <IconButton label="Clear selection" onClick={clearSelection} className="-ms-2">
            <CloseIcon />
          </IconButton>
          <span className="me-auto font-medium tabular-nums">{chosen.length} selected</span>
          {ACTIONS.filter(({ action }) => targetsOf(action, chosen).length > 0).map(({ action, label }) => (
            <Button
              key={action}
              aria-disabled={isBusy}
              className={classes("max-tablet:px-2!", action === "stop" && !isBusy && "text-danger!")}
              onClick={() => !isBusy && start(action)}
            >
              {label}
            </Button>
          ))}
        </div>
      )}
      {(["archive", "stop"] as const).map((action) => {
        const targets = targetsOf(action, chosen)
        return (
          <Confirm
            key={action}
            title={`${action === "stop" ? "Stop" : "Archive"} ${plural(targets.length, "session")}?`}
            consequence={bulkConsequence(action, targets)}
            action={action === "stop" ? "Stop" : "Archive"}
            open={asking === action}
            onClose={() => setAsking("none")}
            onConfirm={() => void run(action, targets)}
          />
        )
      })}
      <MessageAll
        count={chosen.length}
        open={asking === "message"}
        onClose={() => setAsking("none")}
        text={text}
        onText={setText}
        onSend={() => void sendAll()}
      />
    </section>
  )
}

function useBulkWork() {
  const store = useHubStore()
  const [work, setWork] = useState<Work>({ name: "none" })
  /** A message that is sent again after a failure is the same message: the hub takes it once. */
  const sent = useRef({ text: "", uuids: new Map<string, string>() })
  const { hub } = store
  const acts: Readonly<Record<BulkAction, (id: string) => Promise<unknown>>> = {
    archive: async (id) => store.takeSession(await hub.session(id).change({ archived: true })),
    unarchive: async (id) => store.takeSession(await hub.session(id).change({ archived: false })),
    stop: (id) => hub.session(id).stop(),
    message: (id) => {
      const { text, uuids } = sent.current
      const uuid = uuids.get(id) ?? newUuid()
      uuids.set(id, uuid)
      return hub.session(id).send(text, { uuid })
    },
  }
  async function run(action: BulkAction, targets: readonly Session[], text = ""): Promise<BulkResult> {
    const ids = targets.map(({ id }) => id)
    if (action === "message" && text !== sent.current.text) sent.current = { text, uuids: new Map() }
    setWork({ name: "doing", action, finished: 0, total: ids.length })
    const result = await inBulk(ids, acts[action], (finished) =>
      setWork({ name: "doing", action, finished, total: ids.length }),
    )
    if (action === "message") for (const id of result.done) sent.current.uuids.delete(id)
    // Those that were refused stay selected, to be tried again.
    const done = new Set(result.done)
    selection.set({ ids: new Set([...selection.get().ids].filter((id) => !done.has(id))) })
    setWork({ name: "done", action, result })
    announce(resultWords(action, result))
    return result
  }
  return { work, run, forget: () => setWork({ name: "none" }) }
}

interface WorkLineProps {
  readonly work: Work
  readonly sessions: ReadonlyMap<string, Session>
  readonly onDismiss: () => void
}

function WorkLine({ work, sessions, onDismiss }: WorkLineProps) {
  if (work.name === "none") return null
  if (work.name === "doing") {
    return (
      <p className="mx-auto w-full max-w-5xl text-dense text-text-2 tabular-nums">
        {progressWords(work.action, work.finished, work.total)}
      </p>
    )
  }
  return (
    <div className="mx-auto flex w-full max-w-5xl items-start gap-2 text-dense">
      <div className="min-w-0 flex-1 py-1">
        <p className="font-medium tabular-nums">{resultWords(work.action, work.result)}</p>
        {refusalWords(work.result, sessions).map(({ names, why }) => (
          <p key={why} className="line-clamp-2 text-danger">
            <bdi>{names}</bdi>: {why}
          </p>
        ))}
      </div>
      <IconButton label="Dismiss" onClick={onDismiss}>
        <CloseIcon />
      </IconButton>
    </div>
  )
}

interface MessageAllProps {
  readonly count: number
  readonly open: boolean
  readonly onClose: () => void
  readonly text: string
  readonly onText: (text: string) => void
  readonly onSend: () => void
}

function MessageAll({ count, open, onClose, text, onText, onSend }: MessageAllProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (open) field.current?.focus()
  }, [open])
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (text.trim() === "") return field.current?.focus()
    onClose()
    return onSend()
  }
  return (
    <Dialog title={`Message ${plural(count, "session")}`} open={open} onClose={onClose} className="max-w-lg">
      <form onSubmit={submit} className="flex flex-col gap-3 px-4 pb-4">
        <textarea
          ref={field}
          aria-label="Message"
          rows={4}
          value={text}
          onChange={(event) => onText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit()
          }}
          className={`${INPUT} py-2`}
        />
        <p className="text-dense text-text-2">
          Each session gets this message. Running agents get it after their turn; ended ones resume on their machine.
        </p>
        <div className="flex justify-end gap-3">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit">
            Send
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
