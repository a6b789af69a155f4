import { isObject, textOf } from "@signalbox/protocol/envelope"
import type { McpToolResult } from "../mcp/servers.ts"
import type { Fields } from "../profiles/profile.ts"
import { type Tool, type ToolOutcome, type ToolOwner, type ToolRun, toolFailure } from "./toolbox.ts"

// Tools that show what MCP servers have besides their own tools.

export const resourceTools: Record<string, Tool> = {
  ListMcpResourcesTool: { run: listResources },
  ReadMcpResourceTool: { run: readResource },
}

async function listResources({ core, input, signal }: ToolRun) {
  const wanted = textOf(input, "server")
  const servers = core.mcp.withResources()
  if (wanted !== undefined && !core.mcp.has(wanted)) return toolFailure(notFound(wanted, servers))
  const lists = servers
    .filter((server) => wanted === undefined || server === wanted)
    .map(async (server) => {
      const listed = await core.mcp.request(server, { method: "resources/list" }, signal)
      const resources = "failed" in listed ? [] : listed.result["resources"]
      return (Array.isArray(resources) ? resources : []).filter(isObject).map((each) => listedResource(each, server))
    })
  const structured = (await Promise.all(lists)).flat()
  return { content: JSON.stringify(structured), structured }
}

function listedResource({ name, uri, mimeType, ...rest }: Readonly<Fields>, server: string): Fields {
  return { name, uri, ...(mimeType === undefined ? {} : { mimeType }), ...rest, server }
}

async function readResource({ core, input, signal }: ToolRun) {
  const server = textOf(input, "server") ?? ""
  if (!core.mcp.has(server)) return toolFailure(notFound(server, core.mcp.withResources()))
  const params = { uri: textOf(input, "uri") ?? "" }
  const read = await core.mcp.request(server, { method: "resources/read", params }, signal)
  if ("failed" in read) return toolFailure(read.failed)
  const contents = read.result["contents"]
  const structured = { contents: (Array.isArray(contents) ? contents : []).filter(isObject).map(readContent) }
  return { content: JSON.stringify(structured), structured }
}

function readContent({ uri, mimeType, text, ...rest }: Readonly<Fields>): Fields {
  const type = mimeType === undefined ? {} : { mimeType }
  return { uri, ...type, ...(text === undefined ? rest : { text }) }
}

function notFound(server: string, servers: readonly string[]): string {
  return `Server "${server}" not found. Available servers: ${servers.join(", ")}`
}

/** What an MCP server gave, as a tool's result tells it. */
export function mcpOutcome(
  { profile }: ToolOwner,
  result: McpToolResult,
  called: { server: string; name: string },
): ToolOutcome {
  const { content, isError } = result
  if (isError) {
    const text = content.map((block) => textOf(block, "text") ?? "").join("\n")
    return { content: text, isError: true, structured: `Error: ${text}` }
  }
  const shown = { ...result, content: content.map((block) => shownBlock(block, called.server)) }
  if (!profile.quirks.mergesMcpContent) return olderOutcome(shown)
  const outcome = newestOutcome(shown)
  // A model must not be left with nothing.
  return outcome.content.length > 0 ? outcome : { ...outcome, content: `(${called.name} completed with no output)` }
}

/** A picture as the model's API takes it, and a text that came as a resource. */
function shownBlock(block: unknown, server: string): unknown {
  if (!isObject(block)) return block
  if (block["type"] === "image") {
    return { type: "image", source: { data: block["data"], media_type: block["mimeType"], type: "base64" } }
  }
  const text = block["type"] === "resource" ? textOf(block["resource"], "text") : undefined
  if (text === undefined) return block
  return textBlock(`[Resource from ${server} at ${textOf(block["resource"], "uri")}] ${text}`)
}

/** Older generations know structured content or the other, never both. */
function olderOutcome({ content, structuredContent }: McpToolResult): ToolOutcome {
  if (structuredContent === undefined) return { content, structured: content }
  const text = JSON.stringify(structuredContent)
  return { content: text, structured: { content: text, structuredContent } }
}

/** The newest generation writes links out for the model, and lets structured content stand for text. */
function newestOutcome({ content, structuredContent }: McpToolResult): ToolOutcome {
  const links = content.filter(isObject).filter((block) => block["type"] === "resource_link")
  const others = structuredContent === undefined ? content.filter((block) => !isLink(block)) : []
  const told = [
    ...others,
    ...links.map((link) => textBlock(`[Resource link: ${textOf(link, "name")}] ${textOf(link, "uri")}`)),
    ...(structuredContent === undefined ? [] : [textBlock(JSON.stringify(structuredContent))]),
  ]
  if (links.length === 0 && structuredContent === undefined) return { content: told, structured: told }
  const structured: Fields = {
    content: told,
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(links.length === 0 ? {} : { resourceLinks: links.map(({ uri, name }) => ({ uri, name })) }),
  }
  return { content: told, structured }
}

function isLink(block: unknown): boolean {
  return isObject(block) && block["type"] === "resource_link"
}

function textBlock(text: string): Fields {
  return { type: "text", text }
}
