import { isObject } from "@signalbox/protocol"
import type { LaunchOptions } from "@signalbox/protocol/launch-options"

/** Fields of an MCP server whose values may be tokens. */
const FIELDS = ["headers", "env"] as const
/** The CLI fills it in itself. A default, as in `${NAME:-text}`, could be a token. */
const REFERENCE = /^(?:[A-Za-z]+ )?\$\{[A-Za-z_]\w*\}$/

/** By name of a variable, the number to try next for another of the same name. Thousands of equal names stay cheap so. */
type Taken = Map<string, number>

/**
 * The options for a command line that people see: a variable, which the CLI reads from its environment, stands for each
 * header or environment value of an MCP server.
 */
export function withNamedSecrets(options: LaunchOptions): { options: LaunchOptions; variables: readonly string[] } {
  if (options.mcpServers === undefined) return { options, variables: [] }
  const taken: Taken = new Map()
  const servers = Object.entries(options.mcpServers).map(([server, config]) => {
    const named = FIELDS.flatMap((field) => {
      const values = config[field]
      if (!isObject(values)) return []
      const name = ([key, value]: [string, unknown]) => [key, reference(`${server}_${key}`, value, taken)]
      return [[field, Object.fromEntries(Object.entries(values).map(name))]]
    })
    return [server, { ...config, ...Object.fromEntries(named) }]
  })
  return { options: { ...options, mcpServers: Object.fromEntries(servers) }, variables: [...taken.keys()] }
}

function reference(name: string, value: unknown, taken: Taken): unknown {
  if (typeof value === "string" && REFERENCE.test(value)) return value
  const plain = `MCP_${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_")}`
  const variable = freeName(plain, taken)
  taken.set(variable, 2)
  return `\${${variable}}`
}

function freeName(plain: string, taken: Taken): string {
  for (let nth = taken.get(plain); nth !== undefined; nth++) {
    const numbered = `${plain}_${nth}`
    taken.set(plain, nth + 1)
    if (!taken.has(numbered)) return numbered
  }
  return plain
}
