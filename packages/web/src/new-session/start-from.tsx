import { Field, Select } from "../design/field.tsx"
import { oneLine } from "../design/visible-characters.ts"
import { clockTime } from "../design/words.ts"
import type { Recorded } from "./use-folder.ts"
import type { ForkPoint } from "./use-fork-point.ts"

export interface Start {
  readonly resume: string | undefined
  readonly isFork: boolean
}

interface StartFromProps {
  readonly start: Start
  readonly recorded: readonly Recorded[]
  /** What the address asked for, by its title. */
  readonly asked: { readonly id: string; readonly title: string } | undefined
  /** Where in it. */
  readonly point: ForkPoint
  readonly onChange: (start: Start) => void
}

/** Anew, or from a conversation that was had in that folder. Absent where there is none. */
export function StartFrom({ start, recorded, asked, point, onChange }: StartFromProps) {
  if (recorded.length === 0 && asked === undefined) return null
  const isRecorded = recorded.some(({ sessionId }) => sessionId === asked?.id)
  const choices = [
    { value: "", label: "A new conversation" },
    ...(asked === undefined || isRecorded ? [] : [{ value: asked.id, label: asked.title }]),
    ...recorded.map(({ sessionId, summary, updatedAt, inUse }) => ({
      value: sessionId,
      label: `${oneLine(summary ?? sessionId.slice(0, 8), 60)} · ${whenWords(updatedAt)}${inUse ? " · in use" : ""}`,
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
              As a session of its own (fork)
            </label>
          )}
        </div>
      )}
    </Field>
  )
}

function pointWords(point: ForkPoint, { title, isFork }: { title: string; isFork: boolean }): string | undefined {
  if (point.name === "missing") return "There is no message of the agent at that place: it goes on from the end."
  if (point.name !== "found") return undefined
  if (!isFork) return "Only a fork can leave out what came after: it goes on from the end."
  return `Fork of “${oneLine(title, 60)}”, as it was ${pointTime(point.at)}. What was said after that is left out.`
}

function pointTime(at: string | undefined): string {
  if (at === undefined) return "at the message that was chosen"
  const time = new Date(at)
  const isToday = time.toDateString() === new Date().toDateString()
  return isToday ? `at ${clockTime(time.getTime())}` : `on ${time.toLocaleDateString()} at ${clockTime(time.getTime())}`
}

function whenWords(at: string): string {
  const time = new Date(at)
  const isToday = time.toDateString() === new Date().toDateString()
  return isToday ? clockTime(time.getTime()) : time.toLocaleDateString()
}
