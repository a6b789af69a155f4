import type { JsonRpcMessage } from "@signalbox/protocol"
import { within } from "../base/deadline.ts"
import { fieldOf, isObject } from "../base/wire.ts"
import type { McpBridge } from "./bridge.ts"

/** A server of this process, as it describes itself before the agent asks. Names of fields are the wire's. */
export interface McpManifest {
  readonly initializeResult: Readonly<Record<string, unknown>>
  /** Left out if the server has no tools, or lists them in pages: then the agent asks itself. */
  readonly toolsListResult?: Readonly<Record<string, unknown>>
}

/** The servers of this process, as `initialize` tells them. Names of fields are the wire's. */
export interface McpDescription {
  readonly sdkMcpServers?: readonly string[]
  readonly sdkMcpServerConfigs?: Readonly<Record<string, unknown>>
  readonly sdkMcpServerManifests?: Readonly<Record<string, McpManifest>>
}

/** The agent's first line waits for this, so that a server that takes longer is asked by the agent, as ever. */
const TIME_MS = 250

/** The version that CLI 2.1.325 asks its servers for; it sets aside what was said to another one. */
const PROTOCOL_VERSION = "2025-11-25"

/** A server may look at who asks; it is told what the agent would tell it. */
const CLIENT = {
  name: "claude-code",
  title: "Claude Code",
  description: "Anthropic's agentic coding tool",
  websiteUrl: "https://claude.com/claude-code",
  version: "0.3.325",
}

/** Undefined if the server does not answer in time, or not well. Never rejects. */
export function manifestOf(bridge: McpBridge): Promise<McpManifest | undefined> {
  return within(TIME_MS, ask(bridge), () => undefined)
}

async function ask(bridge: McpBridge): Promise<McpManifest | undefined> {
  const params = { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo: CLIENT }
  const initializeResult = await resultOf(bridge, {
    id: "sdk-manifest-capture:initialize",
    method: "initialize",
    params,
  })
  if (initializeResult === undefined) return undefined
  await bridge.receive({ jsonrpc: "2.0", method: "notifications/initialized" })
  if (!isObject(fieldOf(initializeResult, "capabilities")?.["tools"])) return { initializeResult }
  const toolsListResult = await resultOf(bridge, { id: "sdk-manifest-capture:tools-list", method: "tools/list" })
  if (toolsListResult === undefined) return undefined
  return toolsListResult["nextCursor"] === undefined ? { initializeResult, toolsListResult } : { initializeResult }
}

async function resultOf(
  bridge: McpBridge,
  request: Pick<JsonRpcMessage, string>,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  return fieldOf(await bridge.receive({ jsonrpc: "2.0", ...request }), "result")
}
