import { isObject } from "@signalbox/protocol/envelope"
import type { LaunchSpec } from "@signalbox/protocol/runner-wire"
import { Refusal } from "../errors.ts"

/** It becomes the name of a folder and a part of an address. */
const SPAWN = /^[A-Za-z0-9_-]{1,100}$/
const TEXTS = ["cwd", "model", "permissionMode", "resume", "resumeAt"] as const
/** Bound on a whole command line; the operating systems' own bounds are close to it. */
const MAX_CHARS = 100_000

/** What the hub asks for, looked at before anything is started with it. */
export function checkLaunchSpec(value: unknown): LaunchSpec {
  if (!isObject(value)) throw invalid("a launch is an object")
  if (typeof value["spawn"] !== "string" || !SPAWN.test(value["spawn"])) throw invalid("spawn is not an id")
  if (typeof value["session"] !== "string" || value["session"] === "") throw invalid("session is missing")
  if (!isAgent(value["agent"])) throw invalid('agent is "claude", "simulator" or { command: [executable, …] }')
  for (const name of TEXTS) {
    const text = value[name]
    if (text !== undefined && (typeof text !== "string" || text === "" || text.includes("\0"))) {
      throw invalid(`${name} is not a text`)
    }
  }
  if (value["args"] !== undefined && !isTexts(value["args"])) throw invalid("args is not a list of texts")
  if (value["env"] !== undefined && !isEnvironment(value["env"])) throw invalid("env is not an object of texts")
  if (value["options"] !== undefined && !isObject(value["options"])) throw invalid("options is not an object")
  if (value["initializes"] !== undefined && !isTexts(value["initializes"])) {
    throw invalid("initializes is not a list of texts")
  }
  if (JSON.stringify(value).length > MAX_CHARS) throw invalid(`it is longer than ${MAX_CHARS} characters`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field that is used as a text or a list was looked at
  return value as unknown as LaunchSpec
}

function isAgent(agent: unknown): boolean {
  if (agent === "claude" || agent === "simulator") return true
  return isObject(agent) && isTexts(agent["command"]) && agent["command"].length > 0
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string" && !item.includes("\0"))
}

function isEnvironment(value: unknown): boolean {
  if (!isObject(value)) return false
  return Object.entries(value).every(
    ([name, text]) => /^[^=\0]+$/.test(name) && typeof text === "string" && !text.includes("\0"),
  )
}

function invalid(what: string): Refusal {
  return new Refusal("runner/invalid", `the launch cannot be done: ${what}`)
}
