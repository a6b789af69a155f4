import { z } from "zod"

/** The `request` of a control request of one subtype. */
export function controlRequest<const Subtype extends string, Fields extends z.core.$ZodLooseShape>(
  subtype: Subtype,
  fields: Fields,
) {
  return z.looseObject({ subtype: z.literal(subtype), ...fields })
}

/** A success without content: some versions write `{}`, some leave the payload out. */
export const EmptyReply = z.looseObject({}).nullish()
export type EmptyReply = z.infer<typeof EmptyReply>

/** A reply whose shape nobody published: an object if anything. */
export const OpaqueReply = z.looseObject({}).nullish()
export type OpaqueReply = z.infer<typeof OpaqueReply>
