import { type Hub, HubClientError, type HubEvent, type RecordedSession } from "@signalbox/client"
import { textOf } from "@signalbox/protocol/envelope"
import { useEffect, useState } from "react"
import { hubNow } from "../app/clock.ts"
import { useHub } from "../app/hub-context.ts"
import { whileOpen } from "../app/value-store.ts"
import { Field, Select } from "../design/field.tsx"
import { oneLine } from "../design/visible-text.tsx"
import { clockTime, shortPath } from "../design/words.ts"

export interface Start {
  readonly resume: string | undefined
  readonly isFork: boolean
}

interface StartFromProps {
  readonly start: Start
  readonly recorded: readonly Offered[]
  /** The session that the address asked for, by its title. */
  readonly asked: { readonly id: string; readonly title: string } | undefined
  /** The point in that session. */
  readonly point: ForkPoint
  readonly onChange: (start: Start) => void
}

/** Anew, or from a conversation that was had on that machine. Absent where there is none. */
export function StartFrom({ start, recorded, asked, point, onChange }: StartFromProps) {
  if (recorded.length === 0 && asked === undefined) return null
  const isRecorded = recorded.some(({ sessionId }) => sessionId === asked?.id)
  const choices = [
    { value: "", label: "New conversation" },
    ...(asked === undefined || isRecorded ? [] : [{ value: asked.id, label: asked.title }]),
    ...recorded.map(({ sessionId, summary, updatedAt, inUse, elsewhere }) => ({
      value: sessionId,
      label: [
        oneLine(summary ?? sessionId.slice(0, 8), 60),
        whenWords(updatedAt),
        ...(elsewhere === undefined ? [] : [oneLine(shortPath(elsewhere, 2), 40)]),
        ...(inUse ? ["in use"] : []),
      ].join(" · "),
    })),
  ]
  const isAsked = asked !== undefined && start.resume === asked.id
  return (
    <Field label="Start from" hint={isAsked ? pointWords(point, { title: asked.title, ...start }) : undefined}>
      {(ids) => (
        <div className="flex flex-wrap items-center gap-3">
          <Select
            {...ids}
            value={start.resume ?? ""}
            choices={choices}
            onChange={({ target }) => onChange({ ...start, resume: target.value === "" ? undefined : target.value })}
            className="min-w-0 flex-1"
          />
          {start.resume !== undefined && (
            <label className="flex min-h-8 items-center gap-2 text-dense text-text-2 coarse:min-h-11">
              <input
                type="checkbox"
                checked={start.isFork}
                onChange={() => onChange({ ...start, isFork: !start.isFork })}
                className="size-4"
              />
              Fork into a new session
            </label>
          )}
        </div>
      )}
    </Field>
  )
}

function pointWords(point: ForkPoint, { title, isFork }: { title: string; isFork: boolean }): string | undefined {
  if (point.name === "missing") return "No agent message at that point. Continues from the end."
  if (point.name !== "found") return undefined
  if (!isFork) return "Only a fork can start from an earlier message. Continues from the end."
  return `Fork of “${oneLine(title, 60)}” ${pointTime(point.at)}. Later messages are left out.`
}

function pointTime(at: string | undefined): string {
  if (at === undefined) return "at the chosen message"
  const time = new Date(at)
  const isToday = time.toDateString() === new Date(hubNow()).toDateString()
  return isToday ? `at ${clockTime(time.getTime())}` : `on ${time.toLocaleDateString()} at ${clockTime(time.getTime())}`
}

function whenWords(at: string): string {
  const time = new Date(at)
  const isToday = time.toDateString() === new Date(hubNow()).toDateString()
  return isToday ? clockTime(time.getTime()) : time.toLocaleDateString()
}

/** The point in a session that a fork begins at: after something that its agent said. */
type ForkPoint =
  | { readonly name: "end" }
  | { readonly name: "looking" }
  /** Without a time where only the message is known, from a launch before. */
  | { readonly name: "found"; readonly message: string; readonly at?: string }
  | { readonly name: "missing" }
  /** Nobody knows: what was meant to be left out must not be gone on from. */
  | { readonly name: "failed"; readonly why: string }

const END: ForkPoint = { name: "end" }
/** The address may name any event; what the agent said last before it is not far. */
const LOOKED_THROUGH = 200

/** `seq` is looked up; without one it is `message`, if that is known. */
export function useForkPoint(session: string | undefined, wanted: { seq: number; message: string | undefined }) {
  const { seq, message } = wanted
  const hub = useHub()
  const isLookedUp = session !== undefined && Number.isSafeInteger(seq) && seq > 0
  const known: ForkPoint = message === undefined ? END : { name: "found", message }
  const [point, setPoint] = useState<ForkPoint>(isLookedUp ? { name: "looking" } : known)
  const [tries, setTries] = useState(0)
  useEffect(() => {
    if (!isLookedUp) return undefined
    return whileOpen(findPoint(hub, session, seq), setPoint)
  }, [hub, session, seq, isLookedUp, tries])
  function retry(): void {
    setPoint({ name: "looking" })
    setTries(tries + 1)
  }
  return { point, retry }
}

export async function findPoint(hub: Pick<Hub, "session">, session: string, seq: number): Promise<ForkPoint> {
  try {
    const { events } = await hub.session(session).events({ before: seq + 1, limit: LOOKED_THROUGH })
    return forkPointIn(events)
  } catch (error) {
    // The hub has no such session: it is one that only the CLI knows.
    if (error instanceof HubClientError && error.status === 404) return { name: "missing" }
    return { name: "failed", why: error instanceof Error ? error.message : String(error) }
  }
}

/** The last of them that a conversation can be cut after. */
export function forkPointIn(events: readonly HubEvent[]): ForkPoint {
  const said = events.findLast(
    ({ from, message }) =>
      from === "agent" && message.type === "assistant" && message["parent_tool_use_id"] == null && hasUuid(message),
  )
  const uuid = said === undefined ? undefined : textOf(said.message, "uuid")
  return said === undefined || uuid === undefined ? { name: "missing" } : { name: "found", message: uuid, at: said.at }
}

function hasUuid(message: HubEvent["message"]): boolean {
  return textOf(message, "uuid") !== undefined
}

/** A conversation that `claude` recorded on that machine. */
type Recorded = Pick<RecordedSession, "sessionId" | "summary" | "updatedAt" | "inUse">

/** `elsewhere`: its folder, where that is not the one in the form. */
type Offered = Recorded & { readonly elsewhere?: string }

/** Conversations of the folder first, then those of the machine's other folders; each once. */
export function offeredOf(known: {
  readonly here: readonly Recorded[]
  readonly everywhere: readonly RecordedSession[]
  readonly cwd: string
  readonly asked: string | undefined
}): readonly Offered[] {
  const { here, everywhere, cwd, asked } = known
  const ids = new Set([...here.map(({ sessionId }) => sessionId), asked])
  const others = everywhere.filter(({ sessionId }) => !ids.has(sessionId))
  return [
    ...here,
    ...others.map((one) => (one.cwd === null || one.cwd === cwd ? one : { ...one, elsewhere: one.cwd })),
  ].slice(0, MAX_RECORDED)
}

interface FolderFacts {
  /** The folders within it. */
  readonly inside: readonly string[]
  readonly recorded: readonly Recorded[]
  readonly isMissing: boolean
}

const NOTHING: FolderFacts = { inside: [], recorded: [], isMissing: false }
/** Somebody who types is not asked about every letter. */
const PAUSE_MS = 300
const MAX_RECORDED = 30

/** A machine's facts about a folder; none while it is asked, and none when it does not answer. */
export function useFolder(machine: string | undefined, path: string): FolderFacts {
  const hub = useHub()
  const key = JSON.stringify([machine, path])
  const [found, setFound] = useState({ of: "", facts: NOTHING })
  useEffect(() => {
    if (machine === undefined || path === "") return undefined
    let stop: (() => void) | undefined
    const timer = setTimeout(() => {
      stop = whileOpen(readFolder(hub, machine, path), (facts) => setFound({ of: key, facts }))
    }, PAUSE_MS)
    return () => {
      stop?.()
      clearTimeout(timer)
    }
  }, [hub, machine, path, key])
  // Facts of the folder before say nothing about this one.
  return found.of === key ? found.facts : NOTHING
}

async function readFolder(hub: Hub, machine: string, path: string): Promise<FolderFacts> {
  try {
    const { folders } = await hub.runners.folders(machine, { path })
    const { sessions } = await hub.runners.recorded(machine, { cwd: path })
    // As it was typed: from the home or from the root.
    const inside = folders.map(({ name }) => `${path.replace(/\/+$/, "")}/${name}`)
    return { inside, recorded: sessions.slice(0, MAX_RECORDED), isMissing: false }
  } catch (error) {
    return { ...NOTHING, isMissing: error instanceof HubClientError && error.code === "runner/no-folder" }
  }
}
