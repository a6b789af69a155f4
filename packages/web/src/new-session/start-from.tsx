import { Field, Select } from "../design/field.tsx"
import { oneLine } from "../design/visible-characters.ts"
import { clockTime } from "../design/words.ts"
import type { Recorded } from "./use-folder.ts"

export interface Start {
  readonly resume: string | undefined
  readonly isFork: boolean
}

interface StartFromProps {
  readonly start: Start
  readonly recorded: readonly Recorded[]
  /** What the address asked for, by its title. */
  readonly asked: { readonly id: string; readonly title: string } | undefined
  readonly onChange: (start: Start) => void
}

/** Anew, or from a conversation that was had in that folder. Absent where there is none. */
export function StartFrom({ start, recorded, asked, onChange }: StartFromProps) {
  if (recorded.length === 0 && asked === undefined) return null
  const choices = [
    { value: "", label: "A new conversation" },
    ...(asked === undefined ? [] : [{ value: asked.id, label: asked.title }]),
    ...recorded.map(({ sessionId, summary, updatedAt, inUse }) => ({
      value: sessionId,
      label: `${oneLine(summary ?? sessionId.slice(0, 8), 60)} · ${whenWords(updatedAt)}${inUse ? " · in use" : ""}`,
    })),
  ]
  return (
    <Field label="Start from">
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

function whenWords(at: string): string {
  const time = new Date(at)
  const isToday = time.toDateString() === new Date().toDateString()
  return isToday ? clockTime(time.getTime()) : time.toLocaleDateString()
}
