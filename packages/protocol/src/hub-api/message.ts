import { z } from "zod"
import { AnyObject, NoBody, Seq, type Told } from "./fields.ts"
import { Variables } from "./launch.ts"
import { BODY_BYTES, LARGE_BODY_BYTES, type RouteTable } from "./route-table.ts"

const NewMessage = z
  .strictObject({
    content: z.union([z.string().min(1), z.array(AnyObject).min(1)], {
      error: "expected a text that is not empty, or a list of content blocks",
    }),
    /** The same one again is the same message. */
    uuid: z.guid({ error: "expected a uuid" }).exactOptional(),
    priority: z.enum(["now", "next", "later"]).exactOptional(),
  })
  .meta({ id: "NewMessage" })
export type NewMessage = Told<z.output<typeof NewMessage>>

const MessageReceipt = z.object({ uuid: z.string(), seq: Seq })
export type MessageReceipt = Told<z.output<typeof MessageReceipt>>

const ControlCall = z
  .strictObject({
    request: z.looseObject({ subtype: z.string().min(1).max(200) }),
    timeoutMs: z.int().min(1).max(600_000).default(60_000),
    mayRefuse: z.boolean().exactOptional().meta({
      description: "True: an agent that refuses, or says nothing in time, is told as `refused` with status 200.",
    }),
  })
  .meta({ id: "Control" })
export type ControlCall = Told<z.output<typeof ControlCall>>

const ControlReply = z.object({ response: z.unknown(), refused: z.string().exactOptional() })

const VariableNames = z.array(z.string()).nullable()
const EnvironmentReply = z.object({ applied: VariableNames, refused: VariableNames })
/** Both are null when this agent does not tell: an old CLI takes every variable and says nothing. */
export type EnvironmentReply = Told<z.output<typeof EnvironmentReply>>

export const messageRoutes = {
  "POST /api/sessions/:id/messages": {
    access: "operator",
    summary: "Send a message to the agent; the same uuid again is the same message",
    body: NewMessage,
    maxBodyBytes: LARGE_BODY_BYTES,
    status: 202,
    reply: MessageReceipt,
    replies: "taken: it is in the log and will be delivered",
  },
  "DELETE /api/sessions/:id/messages/:uuid": {
    access: "operator",
    summary: "Cancel a message that is still queued",
    reply: z.object({ cancelled: z.boolean() }),
    replies: "whether it was cancelled in time",
  },
  "POST /api/sessions/:id/interrupt": {
    access: "operator",
    summary: "Interrupt the turn; also fine when idle",
    body: NoBody,
    isBodyOptional: true,
    reply: ControlReply,
    replies: "the agent's answer",
  },
  "POST /api/sessions/:id/control": {
    access: "operator",
    summary: "Send a control request to the agent",
    body: ControlCall,
    maxBodyBytes: LARGE_BODY_BYTES,
    reply: ControlReply,
    replies: "the agent's answer",
  },
  "POST /api/sessions/:id/env": {
    access: "admin",
    summary: "Change environment variables of the agent",
    body: z.strictObject({ variables: Variables }).meta({ id: "Environment" }),
    maxBodyBytes: BODY_BYTES,
    reply: EnvironmentReply,
    replies: "which variables the agent took and which it refused; null when it does not tell",
  },
} as const satisfies RouteTable
