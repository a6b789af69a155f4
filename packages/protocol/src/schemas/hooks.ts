import { z } from "zod"
import { EFFORT_LEVELS } from "./catalog.ts"
import { hookEvents } from "./hook-events.ts"
import { byGeneration, isSince, keysOf, openEnum, openUnion, schemasOf } from "./parts.ts"
import { PermissionMode } from "./permission.ts"

export type HookEvent = keyof typeof hookEvents

/** All events, in the table's order. */
export const HOOK_EVENTS: readonly HookEvent[] = keysOf(hookEvents)

/** Events per generation; a CLI ignores registrations for events of a later one. */
export const HOOK_EVENTS_BY_GENERATION = byGeneration(HOOK_EVENTS, (event, generation) =>
  isSince(hookEvents[event].since, generation),
)

export const BaseHookInput = z.looseObject({
  session_id: z.string(),
  transcript_path: z.string(),
  cwd: z.string(),
  permission_mode: PermissionMode.nullish(),
  prompt_id: z.string().nullish(),
  agent_id: z.string().nullish(),
  agent_type: z.string().nullish(),
  effort: z.looseObject({ level: openEnum(EFFORT_LEVELS).nullish() }).nullish(),
})
export type BaseHookInput = z.infer<typeof BaseHookInput>

type Column<Name extends "input" | "output"> = {
  [E in HookEvent as (typeof hookEvents)[E][Name] extends null ? never : E]: (typeof hookEvents)[E][Name]
}
/** One column of the table, without the events that have nothing in it. The overload says which those are. */
function column<Name extends "input" | "output">(name: Name): Column<Name>
function column(name: "input" | "output"): Record<string, unknown> {
  const fields = HOOK_EVENTS.map((event) => [event, hookEvents[event][name]] as const)
  return Object.fromEntries(fields.filter(([, own]) => own !== null))
}

/** The input of each event, base fields included. */
export const hookInputs = schemasOf("hook_event_name", BaseHookInput.shape, column("input"))
export type HookInputOf<E extends keyof typeof hookInputs> = z.infer<(typeof hookInputs)[E]>

/** The `hookSpecificOutput` of each event that has one. */
export const hookSpecificOutputs = schemasOf("hookEventName", {}, column("output"))
export type HookSpecificOutputOf<E extends keyof typeof hookSpecificOutputs> = z.infer<(typeof hookSpecificOutputs)[E]>

export const HookInput = openUnion("hook_event_name", Object.values(hookInputs))

const HookSpecificOutput = openUnion("hookEventName", Object.values(hookSpecificOutputs))
export type HookSpecificOutput = z.infer<typeof HookSpecificOutput>

/** "Do not wait": what the hook finds later cannot be delivered. The unit of `asyncTimeout` is not documented. */
const AsyncHookOutput = z.looseObject({ async: z.literal(true), asyncTimeout: z.number().optional() })
export type AsyncHookOutput = z.infer<typeof AsyncHookOutput>

const SyncHookOutput = z.looseObject({
  async: z.literal(false).optional(),
  continue: z.boolean().optional(),
  suppressOutput: z.boolean().optional(),
  stopReason: z.string().optional(),
  decision: openEnum(["approve", "block"]).optional(),
  systemMessage: z.string().optional(),
  reason: z.string().optional(),
  terminalSequence: z.string().optional(),
  hookSpecificOutput: HookSpecificOutput.optional(),
})
export type SyncHookOutput = z.infer<typeof SyncHookOutput>

export const HookOutput = z.union([AsyncHookOutput, SyncHookOutput])

/** One entry of `initialize.hooks`; `timeout` is in seconds. */
export const HookRegistration = z.looseObject({
  matcher: z.string().nullish(),
  hookCallbackIds: z.array(z.string()),
  timeout: z.number().optional(),
  onFailure: openEnum(["continue", "block"]).optional(),
})
export type HookRegistration = z.infer<typeof HookRegistration>
