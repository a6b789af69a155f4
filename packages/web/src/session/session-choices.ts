import { isObject, textOf } from "@signalbox/protocol/envelope"
import type { Choice } from "../design/field.tsx"
import { oneLine } from "../design/visible-characters.ts"

const MODES: readonly Choice[] = [
  { value: "default", label: "Ask" },
  { value: "acceptEdits", label: "Accept edits" },
  { value: "plan", label: "Plan" },
  { value: "dontAsk", label: "Deny what would ask" },
]
/** The way around every question. */
export const BYPASS = "bypassPermissions"
const BYPASS_CHOICE: Choice = { value: BYPASS, label: "Bypass permissions" }

/** The modes there are, and the one it is in, also when we do not know it. */
export function modeChoices(current: string | null, isAdmin: boolean): readonly Choice[] {
  const known = isAdmin ? [...MODES, BYPASS_CHOICE] : MODES
  return withCurrent(known, current)
}

export function modelChoices(current: string | null, offered: readonly Choice[] | undefined): readonly Choice[] {
  return withCurrent(offered ?? [], current ?? "")
}

function withCurrent(known: readonly Choice[], current: string | null): readonly Choice[] {
  if (current === null || known.some(({ value }) => value === current)) return known
  return [{ value: current, label: current === "" ? "Default model" : current }, ...known]
}

/** What the agent offers, from what it said when it started. None: it is asked again the next time. */
export async function readModels(reply: Promise<unknown>): Promise<readonly Choice[] | undefined> {
  try {
    const body = await reply
    const models: unknown = isObject(body) ? body["models"] : undefined
    if (!Array.isArray(models)) return undefined
    return models.flatMap((model: unknown) => {
      const value = textOf(model, "value")
      return value === undefined ? [] : [{ value, label: oneLine(textOf(model, "displayName") ?? value, 60) }]
    })
  } catch {
    return undefined
  }
}
