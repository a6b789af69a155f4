import { z } from "zod"
import { spanMs } from "./span.ts"

/** ISO 8601, UTC. */
export const Moment = z.iso.datetime()
export const Id = z.string().min(1).max(200)
export const Seq = z.int().nonnegative()

/** A number in a query: the text of one, within its bounds. */
export function numberInQuery(bounds: { min: number; max: number }) {
  const { min, max } = bounds
  const error = `expected a whole number from ${min} to ${max}`
  const digits = z.string().regex(/^\d{1,16}$/, { error })
  return digits.transform(Number).pipe(z.int({ error }).min(min, { error }).max(max, { error }))
}

/** A switch in a query. */
export const flagInQuery = z
  .enum(["true", "false"])
  .transform((text) => text === "true")
  .pipe(z.boolean())

/** A moment in the past, or how long ago it was: `30d`, `12h`, `15m`. Read as a moment. */
export const Since = z
  .string()
  .max(40)
  .transform((text, context) => {
    const span = spanMs(text)
    const ms = span === undefined ? Date.parse(text) : Date.now() - span
    if (Number.isFinite(ms) && (span !== undefined || /^\d{4}-\d\d-\d\d/.test(text))) return new Date(ms).toISOString()
    context.addIssue({
      code: "custom",
      message: "expected a time such as 2030-01-31T12:00:00Z, or how long ago: 30d, 12h",
    })
    return z.NEVER
  })
  .pipe(Moment)
  .meta({ description: "A time such as 2030-01-31T12:00:00Z, or how long ago: 30d, 12h, 15m" })

/** A length of time as people write it. Read as it is: whoever keeps it works out the moment each time. */
export const Span = z
  .string()
  .refine((text) => (spanMs(text) ?? 0) > 0, { error: "expected a length of time such as 90d, 12h or 15m" })
  .meta({ description: "A length of time: 90d, 12h, 15m" })

/** Whatever the wire brought, as it came. */
export const WireObject = z.record(z.string(), z.unknown())

/** Checked to be an object, but typed as unknown: the wire's own types have no index signature, and callers pass those. */
export const AnyObject: z.ZodType = z.record(z.string(), z.unknown())

export const NoBody = z.strictObject({})

export const ErrorBody = z
  .object({ error: z.object({ code: z.string(), message: z.string() }) })
  .meta({ id: "Error", description: "Codes are stable, messages are prose. Details may stand beside `error`." })

/** The type of something the hub tells: what a schema infers, with everything in it read-only. */
export type Told<T> = T extends readonly (infer Item)[]
  ? readonly Told<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Told<T[Name]> }
    : T
