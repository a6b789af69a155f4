import { z } from "zod"
import { HOOK_EVENTS_BY_GENERATION } from "./hooks.ts"
import { PERMISSION_MODES } from "./permission.ts"
import { messages, type Side, type SubtypePath } from "./registry.ts"
import { RESULT_SUBTYPES } from "./result.ts"
import { CAPABILITIES } from "./system-session.ts"

/** For each type its subtypes, or null where the type alone decides. */
type KnownTypes = Record<string, readonly string[] | null>

function knownTypes(side: Side): KnownTypes {
  return Object.fromEntries(
    Object.entries(messages[side]).map(([type, entry]) => [
      type,
      entry instanceof z.ZodType ? null : Object.keys(entry.schemas),
    ]),
  )
}

function subtypePaths(): Record<string, SubtypePath> {
  const paths: Record<string, SubtypePath> = {}
  for (const side of [messages.agent, messages.host]) {
    for (const [type, entry] of Object.entries(side)) if (!(entry instanceof z.ZodType)) paths[type] = entry.by
  }
  return paths
}

/** What `known.generated.ts` holds, so that the main entry knows the wire without loading zod. */
export function describeKnown() {
  return {
    known: { agent: knownTypes("agent"), host: knownTypes("host") },
    subtypePath: subtypePaths(),
    hookEvents: HOOK_EVENTS_BY_GENERATION,
    permissionModes: PERMISSION_MODES,
    resultSubtypes: RESULT_SUBTYPES,
    capabilities: CAPABILITIES,
  }
}
