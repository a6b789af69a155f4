import type { AgentInfo, SlashCommand as CommandInfo, PermissionDenial } from "@signalbox/protocol"
import type { ModelUse, TokenCount } from "@signalbox/protocol/usage"
import type { DialPresetName } from "@signalbox/transport"
import type { Quirks } from "./quirks.ts"

export type { AgentInfo, SlashCommand as CommandInfo } from "@signalbox/protocol"
export type { Quirks } from "./quirks.ts"

/** Fields of a wire message, in the order in which they are written. */
export type Fields = Record<string, unknown>

/** A plugin that the launch named, by what is told of it. */
export interface PluginInfo {
  readonly name: string
  readonly path: string
  readonly version?: string
  readonly commands: readonly CommandInfo[]
  readonly skills: readonly CommandInfo[]
  readonly agents: readonly AgentInfo[]
}

/** A skill or a command that somebody keeps in a file. */
export interface OwnPage {
  readonly info: CommandInfo
  readonly body: string
  /** The folder of a skill's other files; a command has none. */
  readonly folder?: string
}

/** The pages of a user and a project: the user's first. */
export interface OwnPages {
  readonly skills: readonly OwnPage[]
  readonly commands: readonly OwnPage[]
  readonly agents: readonly AgentInfo[]
}

interface ModelInfo {
  readonly value: string
  readonly resolvedModel: string
  readonly displayName: string
  readonly description: string
  readonly traits: Fields
}

/** The lists that a version tells of itself. */
export interface Catalog {
  /** In the order of `system/init`. */
  readonly tools: readonly string[]
  readonly commands: readonly CommandInfo[]
  readonly skills: readonly string[]
  readonly agents: readonly AgentInfo[]
  readonly models: readonly ModelInfo[]
  readonly outputStyles: readonly string[]
  readonly permissionModes: readonly string[]
  readonly plugins: readonly Fields[]
  readonly terminalCommands?: readonly string[]
  /** Those that the reply to initialize names already. */
  readonly earlyCapabilities?: readonly string[]
}

export interface WireProfile {
  readonly version: string
  /** Comparable: a larger number is a newer generation. */
  readonly generation: 37 | 120 | 325
  /** How it dials `--sdk-url`; none: it refuses addresses that are not its vendor's. */
  readonly dial?: DialPresetName
  readonly catalog: Catalog
  readonly quirks: Quirks
  readonly shapes: Shapes
}

/** The launch, as a session tells it. */
export interface LaunchFacts {
  readonly cwd: string
  /** `CLAUDE_CONFIG_DIR`: sessions and plans are kept there. */
  readonly configDir: string
  readonly pid: number
  /** Told of by the newest generation. */
  readonly plugins: readonly PluginInfo[]
  /** Skills, commands and agents of the user and the project. */
  readonly pages: OwnPages
}

export interface SessionFacts extends LaunchFacts {
  readonly sessionId: string
  readonly model: string
  readonly permissionMode: string
  readonly apiKeySource: string
  readonly tools: readonly string[]
  readonly mcpServers: readonly { name: string; status: string; source: string }[]
  /** Commands that MCP servers bring. */
  readonly mcpPrompts: readonly string[]
  readonly agents: readonly AgentInfo[]
  readonly directories: readonly string[]
  /** The host brought hooks of its own. */
  readonly hooksApplied: boolean
  readonly uuid: string
  /** The host's messages that the turn begins with. */
  readonly userUuids: readonly string[]
}

/** The size of a model, as `modelUsage` tells it. */
export interface ContextWindow {
  readonly contextWindow: number
  readonly maxOutputTokens: number
}

export interface Timing {
  readonly durationMs: number
  readonly apiMs: number
  readonly firstTokenMs?: number
  readonly requestMs?: number
  readonly requestWallMs?: number
}

/** An error of the API that a turn ended with; `code` where there was no answer at all. */
export interface ResultError {
  readonly status: number | null
  readonly type?: string
  readonly code?: string
}

/** Spending by model, of the process and of the turn alone, and the turn's own tokens. */
export interface Bill {
  readonly totalCostUsd: number
  readonly spending: ReadonlyMap<string, ModelUse>
  readonly turnSpending: ReadonlyMap<string, ModelUse>
  readonly turn: TokenCount
}

export interface ResultFacts {
  readonly sessionId: string
  readonly uuid: string
  readonly outcome:
    | { readonly kind: "success"; readonly text: string; readonly apiError?: ResultError | undefined }
    | {
        readonly kind: "error"
        readonly subtype: string
        readonly errors: readonly string[]
        readonly isError: boolean
      }
  readonly numTurns: number
  readonly stopReason: string | null
  /** Left out where the model was not asked. */
  readonly terminalReason?: string | undefined
  readonly localCommand?: string | undefined
  /** The task whose end started the turn. */
  readonly origin?: Fields | undefined
  readonly timing: Timing
  /** No call came to its end in this turn. */
  readonly hasUsage: boolean
  readonly bill: Bill
  readonly denials: readonly PermissionDenial[]
  readonly userUuids: readonly string[]
  readonly index: number
  /** How often something happened since the process began. */
  readonly counts: Readonly<Record<"safetyStops" | "subagents" | "subagentsInFront", number>>
  readonly structuredOutput?: unknown
}

export interface MessageFacts {
  readonly sessionId: string
  readonly uuid: string
  readonly parent: string | null
  readonly timestamp: string
}

export interface AskFacts {
  readonly toolName: string
  readonly toolUseId: string
  readonly input: Fields
  readonly displayName: string
  readonly description?: string | undefined
  readonly suggestions?: readonly Fields[] | undefined
  readonly blockedPath?: string | undefined
  /** A reason without words is told by its type alone. */
  readonly reason?:
    | { readonly text: string | undefined; readonly type: string; readonly hookEvent?: string }
    | undefined
  readonly mcpServer?: { readonly name: string; readonly source: string } | undefined
  readonly policyAskOnly?: boolean | undefined
  readonly needsUser?: boolean | undefined
  readonly agentId?: string | undefined
}

export interface StdioServer {
  readonly type: "stdio"
  readonly command: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

export interface RemoteServer {
  readonly type: "http" | "sse"
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A server that the agent itself starts or dials. Those that live in the host have no more than a name. */
export type McpServerConfig = StdioServer | RemoteServer

/** The place that names a server: it stays for the whole session unless the host itself has set it. */
type McpScope = "dynamic" | "project"

export interface NamedServer {
  readonly name: string
  readonly config: McpServerConfig
  readonly scope: McpScope
}

/** An MCP server; `own`: one that the agent itself starts or dials. */
export interface McpServerFacts {
  readonly name: string
  readonly status: string
  readonly info?: Fields | undefined
  readonly error?: string | undefined
  readonly tools: readonly Fields[]
  readonly own?: { readonly config: McpServerConfig; readonly scope: string } | undefined
}

/** The messages whose fields differ from version to version. */
export interface Shapes {
  readonly init: (facts: SessionFacts) => Fields
  readonly initializeReply: (facts: SessionFacts) => Fields
  readonly assistant: (message: Fields, facts: MessageFacts, extra: Fields) => Fields
  readonly user: (message: Fields, facts: MessageFacts, extra: Fields) => Fields
  readonly result: (facts: ResultFacts) => Fields
  readonly ask: (facts: AskFacts) => Fields
  readonly contextWindow: (model: string) => ContextWindow
  readonly callUsage: (usage: TokenCount) => Fields
  readonly mcpClient: Fields
  readonly mcpServer: (server: McpServerFacts) => Fields
  readonly apiError: (error: { status: number; type: string; message: string; requestId: string }) => string
  readonly syntheticMessage: (id: string, text: string) => Fields
}
