import { hookEvents } from "@signalbox/protocol/known"
import type { HookEvent } from "./types/hooks.ts"

/** Every hook event of CLI 2.1.325. */
export const HOOK_EVENTS: readonly HookEvent[] = hookEvents["2.1.325"]

/** Why a session ended. */
export const EXIT_REASONS = ["clear", "resume", "logout", "prompt_input_exit", "other"] as const
export type ExitReason = (typeof EXIT_REASONS)[number]

/** In a system prompt given as a list: what follows it changes from session to session. */
export { PROMPT_BOUNDARY as SYSTEM_PROMPT_DYNAMIC_BOUNDARY } from "@signalbox/protocol/launch-options"
