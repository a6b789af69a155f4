import type { AsideStep, Step } from "./schema.ts"

// Apart from the schema, which brings zod along: a player must start without it.

export function isAside(step: Step): step is AsideStep {
  return "rateLimit" in step || "compact" in step || "elicit" in step || "emit" in step
}
