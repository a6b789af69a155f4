import { isObject, textOf } from "@signalbox/protocol/envelope"
import type { Fields } from "../profiles/profile.ts"
import { type Tool, type ToolRun, toolFailure } from "./tool.ts"

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
