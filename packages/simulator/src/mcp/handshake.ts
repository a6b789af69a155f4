import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import type { Fields, WireProfile } from "../profiles/profile.ts"
import type { McpLink } from "./link.ts"

/** What a server told of itself. */
export interface Acquaintance {
  readonly info?: Fields
  readonly tools: readonly Fields[]
  /** Names of its prompts, which are commands. */
  readonly prompts: readonly string[]
  readonly hasResources: boolean
  /** The number of the next request. */
  readonly nextId: number
}

export interface HandshakeOptions {
  readonly profile: WireProfile
  /** Lives in the host, which says less of itself and is told less. */
  readonly isHosted: boolean
  readonly timeoutMs: number
}

/** Makes a server's acquaintance. Undefined when it did not answer. */
export async function shakeHands(link: McpLink, options: HandshakeOptions): Promise<Acquaintance | undefined> {
  const { timeoutMs } = options
  const hello = await introduce(link, options)
  if (hello === undefined) return undefined
  const offers = fieldOf(hello, "capabilities") ?? {}
  let nextId = 1
  const listOf = async (what: "tools" | "prompts" | "resources") => {
    const answer = await link.send({ method: `${what}/list`, jsonrpc: "2.0", id: nextId++ }, { timeoutMs })
    const listed = fieldOf(answer, "result")?.[what]
    return Array.isArray(listed) ? listed.filter(isObject).map((each) => ({ ...each })) : []
  }
  const info = fieldOf(hello, "serverInfo")
  const tools = offers["tools"] !== undefined || options.isHosted ? await listOf("tools") : []
  const prompts = offers["prompts"] === undefined ? [] : await listOf("prompts")
  const hasResources = offers["resources"] !== undefined
  if (hasResources) await listOf("resources")
  const named = prompts.flatMap((prompt) => textOf(prompt, "name") ?? [])
  return { ...(info === undefined ? {} : { info }), tools, prompts: named, hasResources, nextId }
}

/** Only the introduction, for a server that is known already and was lost. */
export async function introduce(link: McpLink, options: HandshakeOptions): Promise<Readonly<Fields> | undefined> {
  const { profile, isHosted, timeoutMs } = options
  const capabilities = isHosted ? {} : profile.quirks.mcpCapabilities
  const params = { protocolVersion: "2025-11-25", capabilities, clientInfo: profile.shapes.mcpClient }
  const hello = { method: "initialize", params, jsonrpc: "2.0", id: 0 }
  const result = fieldOf(await link.send(hello, { timeoutMs }), "result")
  if (result === undefined) return undefined
  const method = "notifications/initialized"
  const noted = profile.quirks.notesVersionFirst ? { jsonrpc: "2.0", method } : { method, jsonrpc: "2.0" }
  await link.send(noted, { timeoutMs })
  return result
}
