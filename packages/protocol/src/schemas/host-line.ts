import { z } from "zod"

/** Lines of a host that are neither prompt nor control. */

/** 2.1.37 takes any key, 2.1.325 only those on its list, and answers `{applied}` if a `request_id` is given. */
export const UpdateEnvironmentVariables = z.looseObject({
  type: z.literal("update_environment_variables"),
  variables: z.record(z.string(), z.string()),
  request_id: z.string().optional(),
})
export type UpdateEnvironmentVariables = z.infer<typeof UpdateEnvironmentVariables>

export const UpdateEnvironmentVariablesReply = z.looseObject({ applied: z.array(z.string()) })
export type UpdateEnvironmentVariablesReply = z.infer<typeof UpdateEnvironmentVariablesReply>

/** The first line of the official browser client. It is meant for the server it connects to and never reaches a CLI. */
export const AuthLine = z.looseObject({
  type: z.literal("auth"),
  credential: z.looseObject({ type: z.literal("oauth"), token: z.string() }),
})
export type AuthLine = z.infer<typeof AuthLine>
