import { z } from "zod"
import { EFFORT_LEVELS } from "./catalog.ts"
import { hookEvents } from "./hook-events.ts"
import { byGeneration, isSince, keysOf, openEnum, openUnion } from "./parts.ts"
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

type InputShape<E extends HookEvent> = Omit<(typeof BaseHookInput)["shape"], keyof (typeof hookEvents)[E]["input"]> & {
  hook_event_name: z.ZodLiteral<E>
} & (typeof hookEvents)[E]["input"]
type InputSchemas = { [E in HookEvent]: z.ZodObject<InputShape<E>, z.core.$loose> }

// The overloads of both builders say what a loop over the table cannot: which key has which schema.
function buildInputs(): InputSchemas
function buildInputs(): Record<string, z.ZodType> {
  return Object.fromEntries(
    HOOK_EVENTS.map((event) => [
      event,
      BaseHookInput.extend({ hook_event_name: z.literal(event), ...hookEvents[event].input }),
    ]),
  )
}

/** The input of each event, base fields included. */
export const hookInputs = buildInputs()
export type HookInputOf<E extends HookEvent> = z.infer<InputSchemas[E]>

type EventWithOutput = { [E in HookEvent]: (typeof hookEvents)[E]["output"] extends null ? never : E }[HookEvent]
type OutputShape<E extends EventWithOutput> = { hookEventName: z.ZodLiteral<E> } & Extract<
  (typeof hookEvents)[E]["output"],
  z.core.$ZodShape
>
type OutputSchemas = { [E in EventWithOutput]: z.ZodObject<OutputShape<E>, z.core.$loose> }

function buildOutputs(): OutputSchemas
function buildOutputs(): Record<string, z.ZodType> {
  const schemas: Record<string, z.ZodType> = {}
  for (const event of HOOK_EVENTS) {
    const { output } = hookEvents[event]
    if (output !== null) schemas[event] = z.looseObject({ hookEventName: z.literal(event), ...output })
  }
  return schemas
}

/** The `hookSpecificOutput` of each event that has one. */
export const hookSpecificOutputs = buildOutputs()
export type HookSpecificOutputOf<E extends EventWithOutput> = z.infer<OutputSchemas[E]>

export const HookInput = openUnion("hook_event_name", Object.values(hookInputs))
export type HookInput = z.infer<typeof HookInput>

export const HookSpecificOutput = openUnion("hookEventName", Object.values(hookSpecificOutputs))
export type HookSpecificOutput = z.infer<typeof HookSpecificOutput>

/** "Do not wait": what the hook finds later cannot be delivered. The unit of `asyncTimeout` is not documented. */
export const AsyncHookOutput = z.looseObject({ async: z.literal(true), asyncTimeout: z.number().optional() })
export type AsyncHookOutput = z.infer<typeof AsyncHookOutput>

export const SyncHookOutput = z.looseObject({
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
export type HookOutput = z.infer<typeof HookOutput>

/** One entry of `initialize.hooks`; `timeout` is in seconds. */
export const HookRegistration = z.looseObject({
  matcher: z.string().nullish(),
  hookCallbackIds: z.array(z.string()),
  timeout: z.number().optional(),
  onFailure: openEnum(["continue", "block"]).optional(),
})
export type HookRegistration = z.infer<typeof HookRegistration>
