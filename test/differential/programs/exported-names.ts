import * as sdk from "@anthropic-ai/claude-agent-sdk"
import { observe } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** Not for driving an agent, or nobody's business but the vendor's: docs/sdk.md lists each with its reason. */
const LEFT_OUT = [
  "CommandMatcher",
  "DirectConnectError",
  "DirectConnectTransport",
  "FileIndex",
  "ORG_POLICY_LIMIT_PREFIXES",
  "USAGE_LIMIT_ERROR_PREFIXES",
  "USAGE_TRANSITION_PREFIXES",
  "USAGE_WARNING_PREFIXES",
  "filterEscalatingDefaultMode",
  "matchDeniedModels",
  "parseDirectConnectUrl",
  "resolveSettings",
]
/** Ours alone, some of them from earlier releases of the official package. */
const OURS = [
  "SdkError",
  "SessionError",
  "spawnOnHub",
  "unstable_v2_createSession",
  "unstable_v2_prompt",
  "unstable_v2_resumeSession",
]

/** Every name the package exports at run time, with its kind; the lists with what is in them. */
export async function run(): Promise<void> {
  const names = Object.entries(sdk).filter(([name]) => !LEFT_OUT.includes(name) && !OURS.includes(name))
  observe(
    "names",
    names.map(([name, value]) => `${name}: ${typeof value}`),
  )
  for (const [name, value] of names) if (typeof value !== "function") observe(name, value)
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(new sdk.InMemorySessionStore()))
  observe("methods of a store", methods.filter((name) => name !== "constructor" && name !== "keyToString").sort())
}
