import type { Session } from "@signalbox/client"
import { isObject, textOf } from "@signalbox/protocol/envelope"
import type { Delivery, Row } from "@signalbox/transcript"
import { useEffect, useMemo, useState } from "react"
import { refusalWords } from "../agent/agent-question.ts"
import { announce } from "../app/announcer.tsx"
import { useHub } from "../app/hub-context.ts"
import { whileOpen } from "../app/value-store.ts"
import { Button } from "../design/button.tsx"
import { Field, Select } from "../design/field.tsx"
import { Empty, Notice, Skeleton, Trouble } from "../design/notice.tsx"
import { oneLine } from "../design/visible-text.tsx"
import { plural } from "../design/words.ts"
import { useTranscript } from "../transcript/rows/transcript-context.tsx"

/** The agent's forecast for the files, before anything is done. */
type DryRun =
  | { readonly name: "asking" }
  | { readonly name: "listed"; readonly files: readonly string[]; readonly words: string }
  | { readonly name: "cannot"; readonly why: string }

const MAX_MESSAGES = 100

/** Puts files back to what they were before a message. The list comes first; until it is there nothing can be confirmed. */
export function RewindFiles({ session, onClose }: { readonly session: Session; readonly onClose: () => void }) {
  const hub = useHub()
  const { feed } = useTranscript()
  const messages = useMemo(() => messagesOf(feed.laneRows(null)), [feed])
  const [uuid, setUuid] = useState(messages[0]?.value ?? "")
  const dryRun = useDryRun(session, uuid)
  const [trouble, setTrouble] = useState<string | undefined>(undefined)
  const [isRewinding, setRewinding] = useState(false)
  const isReady = dryRun.name === "listed" && dryRun.files.length > 0 && !isRewinding

  async function rewind(): Promise<void> {
    if (!isReady) return
    setTrouble(undefined)
    setRewinding(true)
    try {
      await hub.session(session.id).control({ subtype: "rewind_files", user_message_id: uuid })
      announce("Files rewound")
      onClose()
    } catch (error) {
      setTrouble(refusalWords(error, session))
    } finally {
      setRewinding(false)
    }
  }

  if (messages.length === 0) return <Empty>No messages to rewind to.</Empty>
  return (
    <>
      <Field label="Rewind to before">
        {(ids) => <Select {...ids} value={uuid} choices={messages} onChange={({ target }) => setUuid(target.value)} />}
      </Field>
      <WhatWouldChange dryRun={dryRun} />
      <Trouble>{trouble !== undefined && `Couldn't rewind: ${trouble}`}</Trouble>
      <p className="text-dense text-text-2">
        Only changes made with file tools are undone, not those made by commands. The conversation is kept.
      </p>
      <div className="flex justify-end gap-3">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="danger" aria-disabled={!isReady} onClick={() => void rewind()}>
          {isRewinding ? "Rewinding…" : isReady ? `Rewind ${plural(dryRun.files.length, "file")}` : "Rewind"}
        </Button>
      </div>
    </>
  )
}

function WhatWouldChange({ dryRun }: { readonly dryRun: DryRun }) {
  switch (dryRun.name) {
    case "asking":
      return <Skeleton rows={2} />
    case "cannot":
      return <Notice tone="neutral">{dryRun.why}</Notice>
    case "listed":
      return (
        <div className="flex flex-col gap-1">
          <p className="text-dense font-medium">{dryRun.words}</p>
          <ul aria-label="Files to rewind" className="flex max-h-60 flex-col overflow-y-auto font-mono text-dense">
            {dryRun.files.map((path) => (
              <li key={path}>
                <bdi>{oneLine(path, 300)}</bdi>
              </li>
            ))}
          </ul>
        </div>
      )
  }
}

/** Before these nothing was done. */
const NOT_TAKEN: ReadonlySet<Delivery> = new Set<Delivery>(["queued", "cancelled", "discarded", "refused"])

function messagesOf(rows: readonly Row[]) {
  return rows
    .flatMap((row) =>
      row.kind === "prompt" && row.uuid !== undefined && !NOT_TAKEN.has(row.delivery)
        ? [{ value: row.uuid, label: oneLine(row.text, 80) }]
        : [],
    )
    .slice(-MAX_MESSAGES)
    .toReversed()
}

function useDryRun(session: Session, uuid: string): DryRun {
  const hub = useHub()
  const { id, cliVersion } = session
  const [told, setTold] = useState<{ readonly uuid: string; readonly run: DryRun }>()
  useEffect(
    () =>
      whileOpen(
        hub.session(id).control({ subtype: "rewind_files", user_message_id: uuid, dry_run: true }),
        (reply) => setTold({ uuid, run: readDryRun(reply) }),
        (error) => setTold({ uuid, run: { name: "cannot", why: refusalWords(error, { cliVersion }) } }),
      ),
    [hub, id, cliVersion, uuid],
  )
  return told?.uuid === uuid ? told.run : { name: "asking" }
}

function readDryRun(reply: unknown): DryRun {
  if (!isObject(reply) || reply["canRewind"] !== true)
    return { name: "cannot", why: textOf(reply, "error") ?? "The agent can't rewind to this message." }
  const list: readonly unknown[] = Array.isArray(reply["filesChanged"]) ? reply["filesChanged"] : []
  const files = list.filter((path) => typeof path === "string")
  const count = (name: string) => (typeof reply[name] === "number" ? reply[name] : 0)
  if (files.length === 0) return { name: "cannot", why: "No files changed since." }
  const lines = `+${count("insertions")} −${count("deletions")} lines`
  return { name: "listed", files, words: `${plural(files.length, "file")} would change, ${lines}:` }
}
