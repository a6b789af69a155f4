import { isObject } from "../base/wire.ts"
import type { McpServerConfig } from "../types/mcp.ts"
import type { Options } from "../types/options.ts"
import { bad, optionsWith } from "./option-kinds.ts"

const BY_REFERENCE = optionsWith("reference")

/** Our own environment when the options were captured. A symbol, so that it is no option and survives a spread. */
const SURROUNDINGS = Symbol("surroundings")
type Captured = Options & { readonly [SURROUNDINGS]?: Readonly<NodeJS.ProcessEnv> }

/**
 * The options as they are now. A program may use one object for several queries and change it in between: whatever is read
 * later would be the next tenant's.
 */
export function captureOptions(options: Options): Options
export function captureOptions(options: Captured): Captured {
  if (options[SURROUNDINGS] !== undefined) return options
  const captured = Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name, BY_REFERENCE.has(name) ? value : capture(name, value)]),
  )
  return { ...captured, [SURROUNDINGS]: { ...process.env } }
}

/** The base of the agent's environment: the program's own, or ours as it was when the program asked. */
export function environmentOf(options: Options): Readonly<NodeJS.ProcessEnv>
export function environmentOf(options: Captured): Readonly<NodeJS.ProcessEnv> {
  return options.env ?? options[SURROUNDINGS] ?? process.env
}

/** The servers of this program stay the objects they are; all else about a server is copied. */
export function captureServers(servers: Record<string, McpServerConfig>): Record<string, McpServerConfig>
export function captureServers(servers: unknown): unknown
export function captureServers(servers: unknown): unknown {
  if (!isObject(servers)) return servers
  return Object.fromEntries(
    Object.entries(servers).map(([name, config]) => {
      if (!isObject(config) || !isObject(config["instance"])) return [name, copyOf(config)]
      const { instance, ...told } = config
      return [name, { ...copyOf(told), instance }]
    }),
  )
}

/**
 * A copy of data, as JSON would see it: own fields, `toJSON`, each getter read once. Functions, and promises of messages,
 * stay what they are.
 */
export function copyOf<T>(value: T, within?: readonly unknown[]): T
export function copyOf(value: unknown, within: readonly unknown[] = []): unknown {
  if (typeof value !== "object" || value === null) return value
  if (within.includes(value)) throw new ContainsItself("a value that contains itself cannot be sent")
  const inside = [...within, value]
  if (Array.isArray(value)) return value.map((each) => copyOf(each, inside))
  if ("then" in value && typeof value.then === "function") return value
  if ("toJSON" in value && typeof value.toJSON === "function") {
    const plain: unknown = value.toJSON()
    if (plain !== value) return copyOf(plain, inside)
  }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copyOf(each, inside)]))
}

function capture(name: string, value: unknown): unknown {
  try {
    if (name === "mcpServers") return captureServers(value)
    return name === "hooks" ? capturedHooks(value) : copyOf(value)
  } catch (error) {
    if (!(error instanceof ContainsItself)) throw error
    throw bad(name, `${name} contains itself, and cannot be sent`)
  }
}

/** By their fields: a matcher may be an object of a class whose fields are getters. */
function capturedHooks(hooks: unknown): unknown {
  if (!isObject(hooks)) return hooks
  return Object.fromEntries(
    Object.entries(hooks).map(([event, matchers]) => [
      event,
      Array.isArray(matchers) ? matchers.map(capturedMatcher) : matchers,
    ]),
  )
}

function capturedMatcher(given: unknown): unknown {
  if (!isObject(given)) return given
  const { matcher, hooks, timeout, onFailure } = given
  return { matcher, hooks: Array.isArray(hooks) ? [...hooks] : hooks, timeout, onFailure }
}

class ContainsItself extends Error {}
