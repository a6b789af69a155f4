import { z } from "zod"

/**
 * A member that this version does not know. Its discriminator is typed as a pattern that no known literal matches, or
 * else it would survive `block.type === "text"` and turn every field into `unknown`. At run time it is any other string.
 */
export type Unrecognized<Key extends string> = { [field: string]: unknown } & {
  [K in Key]: `${string} (unrecognized)`
}

type Member = z.core.$ZodTypeDiscriminable

/**
 * A discriminated union that lets unknown members through untouched, but still fails a known member of the wrong shape.
 * The overload is what inference cannot give: the pattern of Unrecognized exists in the types alone.
 */
export function openUnion<const M extends Member, const Key extends string>(
  key: Key,
  members: readonly M[],
): z.ZodType<z.output<M> | Unrecognized<Key>, z.input<M> | Unrecognized<Key>>
export function openUnion(key: string, members: readonly Member[]): z.ZodType {
  const [first, ...rest] = members
  if (first === undefined) throw new Error("a union needs a member")
  const known = new Set<unknown>()
  for (const member of members) {
    // oxlint-disable-next-line no-underscore-dangle -- `_zod` is zod's interface for those who build on it
    for (const value of member._zod.propValues?.[key] ?? []) known.add(value)
  }
  const other = z.looseObject({ [key]: z.string().refine((value) => !known.has(value), "known member, wrong shape") })
  return z.union([z.discriminatedUnion(key, [first, ...rest]), other])
}
