import { z } from "zod"
import { Seq } from "./fields.ts"
import { Variables } from "./session.ts"

export const NewMessageBody = z
  .strictObject({
    content: z.union([z.string().min(1), z.array(z.record(z.string(), z.unknown())).min(1)], {
      error: "expected a text that is not empty, or a list of content blocks",
    }),
    uuid: z.guid({ error: "expected a uuid" }).exactOptional(),
    priority: z.enum(["now", "next", "later"]).exactOptional(),
  })
  .meta({ id: "NewMessage" })

export const MessageReceipt = z.object({ uuid: z.string(), seq: Seq })
export const MessageCancelled = z.object({ cancelled: z.boolean() })

export const ControlBody = z
  .strictObject({
    request: z.looseObject({ subtype: z.string().min(1).max(200) }),
    timeoutMs: z.int().min(1).max(600_000).default(60_000),
  })
  .meta({ id: "Control" })

export const ControlReply = z.object({ response: z.unknown() })

export const EnvironmentBody = z.strictObject({ variables: Variables }).meta({ id: "Environment" })

const VariableNames = z.array(z.string()).nullable()
export const EnvironmentReply = z.object({ applied: VariableNames, refused: VariableNames })

export const NoBody = z.strictObject({})
