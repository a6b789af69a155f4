import type { Choice } from "../design/field.tsx"

const MODES: readonly Choice[] = [
  { value: "default", label: "Ask" },
  { value: "acceptEdits", label: "Accept edits" },
  { value: "plan", label: "Plan" },
  { value: "dontAsk", label: "Deny what would ask" },
]
const BYPASS: Choice = { value: "bypassPermissions", label: "Bypass permissions" }

/** The modes there are, and the one it is in, also when we do not know it. */
export function modeChoices(current: string | null, isAdmin: boolean): readonly Choice[] {
  const known = isAdmin ? [...MODES, BYPASS] : MODES
  return withCurrent(known, current)
}

export function modelChoices(current: string | null, offered: readonly Choice[] | undefined): readonly Choice[] {
  return withCurrent(offered ?? [], current ?? "")
}

function withCurrent(known: readonly Choice[], current: string | null): readonly Choice[] {
  if (current === null || known.some(({ value }) => value === current)) return known
  return [{ value: current, label: current === "" ? "Default model" : current }, ...known]
}
