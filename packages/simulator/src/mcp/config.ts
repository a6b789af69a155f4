import { join, resolve } from "node:path"
import { fieldOf, isObject, parseJson, textOf } from "@signalbox/protocol/envelope"
import { textIn } from "../json.ts"
import type { Fields, McpServerConfig, NamedServer } from "../profiles/profile.ts"
import { refused, type SimulatorError } from "../simulator-error.ts"

type Environment = Readonly<Record<string, string | undefined>>

/** The servers of `--mcp-config`: JSON, or files of it. Throws `launch/refused` in the CLI's words. */
export function readMcpFlags(texts: readonly string[], { cwd, env }: { cwd: string; env: Environment }): NamedServer[] {
  return texts.flatMap((text) => {
    const source = text.trimStart().startsWith("{") ? parseJson(text) : undefined
    const config = source ?? readFile(resolve(cwd, text))
    const servers = fieldOf(config, "mcpServers")
    if (servers === undefined) throw wrong("mcpServers: Does not adhere to MCP server configuration schema")
    return Object.entries(servers).flatMap(([name, server]) => {
      // A host names its own servers there too.
      if (textOf(server, "type") === "sdk") return []
      const read = readServerConfig(server, env)
      if (read === undefined) throw wrong(`mcpServers.${name}: Does not adhere to MCP server configuration schema`)
      const config = read.type === "stdio" ? { args: [], ...read } : read
      return [{ name, config, scope: "dynamic" as const }]
    })
  })
}

/** The project's own `.mcp.json`, where there is one that can be read. */
export function readProjectServers(cwd: string, env: Environment): NamedServer[] {
  const servers = fieldOf(parseJson(textIn(join(cwd, ".mcp.json")) ?? ""), "mcpServers") ?? {}
  return Object.entries(servers).flatMap(([name, server]) => {
    const config = readServerConfig(server, env)
    return config === undefined ? [] : [{ name, config, scope: "project" as const }]
  })
}

/** `${NAME}` and `${NAME:-otherwise}` stand for variables. Undefined for what is no server. */
export function readServerConfig(value: unknown, env: Environment): McpServerConfig | undefined {
  if (!isObject(value)) return undefined
  const type = textOf(value, "type") ?? "stdio"
  const filled = (text: string) => expand(text, env)
  if (type === "stdio") {
    const command = textOf(value, "command")
    const args = value["args"]
    if (command === undefined || (args !== undefined && !isTextList(args))) return undefined
    const given = args === undefined ? {} : { args: args.map(filled) }
    return { type, command: filled(command), ...given, ...texts(value, "env", filled) }
  }
  const url = textOf(value, "url")
  if ((type !== "http" && type !== "sse") || url === undefined) return undefined
  return { type, url: filled(url), ...texts(value, "headers", filled) }
}

function texts(value: Readonly<Fields>, field: string, filled: (text: string) => string): Fields {
  const entries = Object.entries(fieldOf(value, field) ?? {})
  if (entries.length === 0) return {}
  return { [field]: Object.fromEntries(entries.map(([name, text]) => [name, filled(String(text))])) }
}

function expand(text: string, env: Environment): string {
  return text.replaceAll(/\$\{(\w+)(?::-([^}]*))?\}/g, (whole, name: string, otherwise?: string) => {
    return env[name] ?? otherwise ?? whole
  })
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string")
}

function readFile(path: string): unknown {
  const text = textIn(path)
  if (text === undefined) throw wrong(`MCP config file not found: ${path}`)
  return parseJson(text) ?? {}
}

function wrong(what: string): SimulatorError {
  return refused(`Error: Invalid MCP configuration:\n${what}`)
}
