import type { Session } from "@signalbox/client"
import { fieldOf } from "@signalbox/protocol/envelope"
import { plural } from "../design/words.ts"

type Changes = NonNullable<Session["changes"]>

interface Progress {
  readonly done: number
  readonly total: number
  /** The task that it is at. */
  readonly step?: string
}

function count(source: object | undefined, name: string): number {
  const value = source === undefined ? undefined : Reflect.get(source, name)
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0
}

/** Lines that its work added and removed. Undefined: nobody knows, or nothing changed. */
export function changesOf({ changes }: Session): Changes | undefined {
  return changes === undefined || changes.files + changes.added + changes.removed === 0 ? undefined : changes
}

export function changesWords({ files, added, removed }: Changes): string {
  return `${plural(added, "line")} added, ${removed} removed in ${plural(files, "file")}`
}

/** How far it is in its own list of tasks. Undefined without such a list. */
export function progressOf(session: Session): Progress | undefined {
  const told = fieldOf(session, "progress")
  const total = count(told, "total")
  const step = told?.["step"]
  if (total === 0) return undefined
  return {
    done: Math.min(count(told, "done"), total),
    total,
    ...(typeof step === "string" && step !== "" ? { step } : {}),
  }
}
