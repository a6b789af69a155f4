import { z } from "zod"

/**
 * A member that this version does not know. Its discriminator is typed as a pattern that no known literal matches, or
 * else it would survive `block.type === "text"` and turn every field into `unknown`. At run time it is any other string.
 */
export type Unrecognized<Key extends string> = { [field: string]: unknown } & {
  [K in Key]: `${string} (unrecognized)`
}

type Options = readonly [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]]
export type OpenUnion<Members extends Options, Key extends string> = z.ZodType<
  z.output<Members[number]> | Unrecognized<Key>,
  z.input<Members[number]> | Unrecognized<Key>
>

/**
 * A discriminated union that lets unknown members through untouched, but still fails a known member of the wrong shape.
 */
export function openUnion<const Members extends Options, const Key extends string>(
  key: Key,
  members: Members,
): OpenUnion<Members, Key> {
  const known = new Set<unknown>()
  for (const member of members) {
    for (const value of member._zod.propValues?.[key] ?? []) known.add(value)
  }
  const other = z.looseObject({ [key]: z.string().refine((value) => !known.has(value), "known member, wrong shape") })
  const union = z.union([z.discriminatedUnion(key, members), other])
  // The pattern of Unrecognized exists in the types alone, so no schema can produce it by inference.
  return union as unknown as OpenUnion<Members, Key>
}
