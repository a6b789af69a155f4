import type { HubSession } from "@signalbox/client"
import { isObject, textOf } from "@signalbox/protocol/envelope"
import { AUTO_MODE } from "@signalbox/protocol/launch-options"
import { modeName } from "@signalbox/transcript"
import type { ModeRights } from "../app/hub-context.ts"
import type { Choice } from "../design/field.tsx"
import { oneLine } from "../design/visible-text.tsx"
import { refusesUnknown } from "./agent-question.ts"

const named = (mode: string): Choice => ({ value: mode, label: modeName(mode) })
const MODES: readonly Choice[] = ["default", "acceptEdits", "plan", "dontAsk"].map(named)
/** The way around every question. */
export const BYPASS = "bypassPermissions"
/** 2.0.77 and 2.1.37 know the mode *Delegate*; newer CLIs refuse it. */
const OLD_VERSION = /^2\.(?:0\.\d+|1\.\d{1,2})$/

/** The modes that an agent of this version has, and the one it is in, also when we do not know it. */
export function modeChoices(
  current: string | null,
  { isAdmin, mayUseAuto }: ModeRights,
  cliVersion: string | null = null,
): readonly Choice[] {
  const hasOld = cliVersion !== null && OLD_VERSION.test(cliVersion)
  // Modes that ask nobody are an admin's, but for auto where the hub's settings give it to operators.
  const more = [...(hasOld ? ["delegate"] : []), ...(mayUseAuto ? [AUTO_MODE] : []), ...(isAdmin ? [BYPASS] : [])]
  return withCurrent([...MODES, ...more.map(named)], current)
}

/** The mode as people call it, or by its own name when we do not know it. */
export function modeWords(mode: string): string {
  return oneLine(modeName(mode), 40)
}

export function modelChoices(current: string | null, offered: readonly Choice[] | undefined): readonly Choice[] {
  return withCurrent(offered ?? [], current ?? "")
}

function withCurrent(known: readonly Choice[], current: string | null): readonly Choice[] {
  if (current === null || known.some(({ value }) => value === current)) return known
  return [{ value: current, label: current === "" ? "Default model" : current }, ...known]
}

/** Reads the agent's list of models, given now or at its start. An empty one counts as none and is requested again. */
function readModels(body: unknown): readonly Choice[] | undefined {
  const models: unknown = isObject(body) ? body["models"] : undefined
  if (!Array.isArray(models)) return undefined
  return models.flatMap((model: unknown) => {
    const value = textOf(model, "value")
    return value === undefined ? [] : [{ value, label: oneLine(textOf(model, "displayName") ?? value, 60) }]
  })
}

/** Nobody looks at a list of one entry for longer. */
const TIMEOUT_MS = 5000

/** The models there are now, where the CLI can be asked; else those it named when it started. */
export async function askModels(
  agent: Pick<HubSession, "control">,
  cliVersion: string | null,
): Promise<readonly Choice[] | undefined> {
  const ask = async (subtype: string) =>
    readModels(await agent.control({ subtype }, { timeoutMs: TIMEOUT_MS }).catch(() => undefined))
  const listed = refusesUnknown(cliVersion) ? await ask("list_models") : undefined
  return listed ?? (await ask("initialize"))
}
