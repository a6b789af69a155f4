import { z } from "zod"

/** What every message of an agent carries unless stated otherwise. Not `z.uuid()`: the SDK writes `session_id: ""`. */
export const identity = { uuid: z.string(), session_id: z.string() }

/** For messages outside the published types, whose identity nobody promises. */
export const maybeIdentity = { uuid: z.string().optional(), session_id: z.string().optional() }

/** Which user messages a line answers (2.1.325). */
export const answered = {
  user_message_uuid: z.string().nullish(),
  user_message_uuids: z.array(z.string()).nullish(),
  resume_reason: z.string().nullish(),
}

/** What the API refused with, on the line that reports it (2.1.325). */
export const apiError = {
  api_error_status: z.number().nullish(),
  // Seen on 2.1.325, not published.
  api_error_type: z.string().nullish(),
  /** The limit that was reached, such as `usage_limit_reached`. */
  api_error: z.string().nullish(),
  /** Details of that limit, such as `rate_limit_info`. */
  api_error_params: z.record(z.string(), z.unknown()).nullish(),
}

/** Who spoke when it was a sub-agent (2.1.325). */
export const subagent = {
  agent_id: z.string().nullish(),
  subagent_type: z.string().nullish(),
  task_description: z.string().nullish(),
}
