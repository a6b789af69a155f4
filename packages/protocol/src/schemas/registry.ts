import { z } from "zod"
import { StreamEventMessage } from "./content.ts"
import { ControlCancelRequest, ControlResponse, requestSchemas } from "./control.ts"
import { AssistantMessage, HostUserMessage, UpdateEnvironmentVariables, UserMessage } from "./conversation.ts"
import { HOOK_EVENTS_BY_GENERATION } from "./hooks.ts"
import { PERMISSION_MODES } from "./permission.ts"
import { KeepAlive, plainMessages } from "./progress.ts"
import { RESULT_SUBTYPES, results } from "./result.ts"
import { CAPABILITIES, systemMessages } from "./system.ts"

/** Where a message of the type says which kind it is. */
export type SubtypePath = "subtype" | "request.subtype"
type RegistryEntry = z.ZodType | { by: SubtypePath; schemas: Readonly<Record<string, z.ZodType>> }

/** Every message once, by who sends it. Known types, unions and lookups are derived from here. */
export const messages = {
  agent: {
    system: { by: "subtype", schemas: systemMessages },
    assistant: AssistantMessage,
    user: UserMessage,
    stream_event: StreamEventMessage,
    result: { by: "subtype", schemas: results },
    ...plainMessages,
    control_request: { by: "request.subtype", schemas: requestSchemas("agent") },
    control_response: ControlResponse,
    control_cancel_request: ControlCancelRequest,
    keep_alive: KeepAlive,
  },
  host: {
    user: HostUserMessage,
    control_request: { by: "request.subtype", schemas: requestSchemas("host") },
    control_response: ControlResponse,
    control_cancel_request: ControlCancelRequest,
    keep_alive: KeepAlive,
    update_environment_variables: UpdateEnvironmentVariables,
  },
} as const satisfies Record<"agent" | "host", Record<string, RegistryEntry>>

type Registry = typeof messages
export type Side = keyof Registry

type SchemaOf<Entry> = Entry extends z.ZodType ? Entry : Entry extends { schemas: infer S } ? S[keyof S] : never
type MessageOf<Entry> = SchemaOf<Entry> extends infer S ? (S extends z.ZodType ? z.infer<S> : never) : never

/** Messages of an agent. */
export type AgentMessage = MessageOf<Registry["agent"][keyof Registry["agent"]]>
/** Messages of a host. */
export type HostMessage = MessageOf<Registry["host"][keyof Registry["host"]]>
export type WireMessage = AgentMessage | HostMessage

export type AgentControlRequest = MessageOf<Registry["agent"]["control_request"]>

function subtypeAt(path: SubtypePath, message: Readonly<Record<string, unknown>>): unknown {
  if (path === "subtype") return message["subtype"]
  const { request } = message
  return typeof request === "object" && request !== null && "subtype" in request ? request.subtype : undefined
}

function schemaIn(side: Side, message: Readonly<Record<string, unknown>> & { type: string }): z.ZodType | undefined {
  const entries: Readonly<Record<string, RegistryEntry>> = messages[side]
  // Types come off the wire: `constructor` must not find what every object inherits.
  const entry = Object.hasOwn(entries, message.type) ? entries[message.type] : undefined
  if (entry === undefined || entry instanceof z.ZodType) return entry
  const subtype = subtypeAt(entry.by, message)
  return typeof subtype === "string" && Object.hasOwn(entry.schemas, subtype) ? entry.schemas[subtype] : undefined
}

/**
 * The schema of a message by its type and subtype, or undefined if this version does not know them. Without a side, the
 * host's comes first: where both sides speak, the host's schema is the laxer one.
 * The overload holds because every schema of the registry yields one member of the union derived from it.
 */
export function schemaFor(
  message: Readonly<Record<string, unknown>> & { type: string },
  from?: Side,
): z.ZodType<WireMessage> | undefined
export function schemaFor(
  message: Readonly<Record<string, unknown>> & { type: string },
  from?: Side,
): z.ZodType | undefined {
  return from === undefined ? (schemaIn("host", message) ?? schemaIn("agent", message)) : schemaIn(from, message)
}

/** For each type its subtypes, or null where the type alone decides. */
type KnownTypes = Record<string, readonly string[] | null>

function knownTypes(side: Side): KnownTypes {
  return Object.fromEntries(
    Object.entries(messages[side]).map(([type, entry]) => [
      type,
      entry instanceof z.ZodType ? null : Object.keys(entry.schemas),
    ]),
  )
}

function subtypePaths(): Record<string, SubtypePath> {
  const paths: Record<string, SubtypePath> = {}
  for (const side of [messages.agent, messages.host]) {
    for (const [type, entry] of Object.entries(side)) if (!(entry instanceof z.ZodType)) paths[type] = entry.by
  }
  return paths
}

/** The contents of `known.generated.ts`, so that the main entry knows the wire without loading zod. */
export function describeKnown() {
  return {
    known: { agent: knownTypes("agent"), host: knownTypes("host") },
    subtypePath: subtypePaths(),
    hookEvents: HOOK_EVENTS_BY_GENERATION,
    permissionModes: PERMISSION_MODES,
    resultSubtypes: RESULT_SUBTYPES,
    capabilities: CAPABILITIES,
  }
}
