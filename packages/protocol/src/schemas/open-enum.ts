import { z } from "zod"

/** One of the known literals, or a word that a newer CLI added since. `string & {}` keeps the literals in completion. */
export type Open<Literal extends string> = Literal | (string & {})

/**
 * An enumeration that the vendor may extend: any string validates, the known values are for the reader of the type.
 * Discriminators (`type`, `subtype`, `hook_event_name`) are literals instead.
 */
export function openEnum<const Values extends readonly string[]>(
  _known: Values,
): z.ZodType<Open<Values[number]>, Open<Values[number]>> {
  return z.string()
}
