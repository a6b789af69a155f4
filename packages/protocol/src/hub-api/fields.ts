import { z } from "zod"

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
