import type { Model } from "../model/model.ts"
import type { PermissionState } from "../permissions/permission-state.ts"
import type { Fields, WireProfile } from "../profiles/profile.ts"
import type { Transcript } from "../sessions/transcript.ts"
import type { Toolbox } from "../tools/toolbox.ts"
import type { AgentClock } from "./clock.ts"
import type { Hooks } from "./hooks.ts"
import type { HostRequests } from "./host-requests.ts"
import type { Launch } from "./launch.ts"
import type { Ledger } from "./ledger.ts"
import type { McpServers } from "./mcp-servers.ts"
import type { MessageQueue } from "./message-queue.ts"
import type { Randomness } from "./randomness.ts"
import type { Tasks } from "./tasks.ts"
import type { Wire } from "./wire.ts"

/** The parts of an agent, for those that play one of them. */
export interface AgentCore {
  readonly profile: WireProfile
  readonly launch: Launch
  readonly clock: AgentClock
  readonly random: Randomness
  readonly wire: Wire
  readonly host: HostRequests
  readonly hooks: Hooks
  readonly mcp: McpServers
  readonly queue: MessageQueue
  readonly ledger: Ledger
  readonly model: Model
  readonly toolbox: Toolbox
  readonly tasks: Tasks
  readonly transcript: Transcript
  /** The conversation as the model is told it. */
  readonly history: Fields[]
  readonly state: AgentState
}

/** What changes while an agent lives. */
interface AgentState {
  permissions: PermissionState
  /** Resolved: a name the API knows. */
  model: string
  results: number
  /** Whether the last result was an error: the exit code tells it. */
  lastFailed: boolean
  title?: string
  subagents: number
  promptId: string
  agents: Readonly<Record<string, Fields>>
  jsonSchema: Readonly<Fields> | undefined
}

/** The model's full name, from what a flag or a host calls it. */
export function resolveModel(profile: WireProfile, name: string | undefined): string {
  const wanted = name === undefined || name === null || name === "" ? "default" : name
  const known = profile.catalog.models.find(({ value }) => value === wanted)
  if (known !== undefined) return known.resolvedModel
  const alias = { sonnet: /sonnet/, opus: /opus/, haiku: /haiku/ }[wanted]
  const similar = alias && profile.catalog.models.find(({ resolvedModel }) => alias.test(resolvedModel))
  return similar?.resolvedModel.replace("[1m]", "") ?? wanted
}

/** The tools of this launch, in the order of `system/init`. */
export function toolsOf(core: AgentCore): string[] {
  const { launch, profile } = core
  const base = launch.tools === undefined ? profile.catalog.tools : launch.tools
  const allowed = base.filter((tool) => tool !== "" && !launch.disallowedTools.includes(tool))
  const own = core.state.jsonSchema === undefined ? allowed : withOutputTool(allowed, profile.generation)
  return [...own, ...core.mcp.toolNames()]
}

/** Newer generations sort their tools, but for the first. */
function withOutputTool(tools: readonly string[], generation: 37 | 120 | 325): string[] {
  const name = "StructuredOutput"
  const at = tools.findIndex((tool, index) => index > 0 && tool > name)
  return generation === 37 || at === -1 ? [...tools, name] : tools.toSpliced(at, 0, name)
}
