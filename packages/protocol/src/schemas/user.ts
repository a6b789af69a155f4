import { z } from "zod"
import { ContentBlock } from "./content.ts"
import { identity, subagent } from "./identity.ts"
import { openEnum } from "./open-enum.ts"

export const UserContent = z.union([z.string(), z.array(ContentBlock)])
export type UserContent = z.infer<typeof UserContent>

const common = {
  type: z.literal("user"),
  message: z.looseObject({ role: z.literal("user"), content: UserContent }),
  isSynthetic: z.boolean().nullish(),
  tool_use_result: z.unknown().optional(),
  priority: openEnum(["now", "next", "later"]).nullish(),
  origin: z.unknown().optional(),
  timestamp: z.string().nullish(),
  ...subagent,
}

/** What an agent reports as said by the user: tool results, its own notes, and with `isReplay` what a host sent. */
export const UserMessage = z.looseObject({
  ...common,
  ...identity,
  parent_tool_use_id: z.string().nullable(),
  isReplay: z.boolean().nullish(),
  file_attachments: z.array(z.unknown()).nullish(),
  tool_result_meta: z.array(z.unknown()).nullish(),
})
export type UserMessage = z.infer<typeof UserMessage>

/** A prompt from the host. `shouldQuery: false` appends without starting a turn. */
export const HostUserMessage = z.looseObject({
  ...common,
  uuid: z.string().optional(),
  session_id: z.string().optional(),
  parent_tool_use_id: z.string().nullish(),
  shouldQuery: z.boolean().optional(),
  client_composed: z.boolean().optional(),
  pasted_content: z.unknown().optional(),
  inline_pastes: z.unknown().optional(),
})
export type HostUserMessage = z.infer<typeof HostUserMessage>
