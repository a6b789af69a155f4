import { z } from "zod"
import { identity } from "./identity.ts"

/** A `system` message of one subtype. */
export function systemMessage<const Subtype extends string, Fields extends z.core.$ZodLooseShape>(
  subtype: Subtype,
  fields: Fields,
) {
  return z.looseObject({ type: z.literal("system"), subtype: z.literal(subtype), ...identity, ...fields })
}
