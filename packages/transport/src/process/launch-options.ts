export type JsonObject = Readonly<Record<string, unknown>>

/** What a launch may ask of the CLI on its command line; `flags.ts` says how each is written. */
export interface FlagValues {
  readonly model: string
  readonly fallbackModel: string
  readonly agent: string
  readonly maxTurns: number
  readonly maxBudgetUsd: number
  /** Passed as it is; `thinking` wins when both are given. */
  readonly maxThinkingTokens: number
  readonly thinking: Thinking
  readonly thinkingDisplay: string
  /** low, medium, high, xhigh, max in CLI 2.1.325. */
  readonly effort: string
  readonly taskBudget: { readonly total: number }
  readonly betas: readonly string[]
  readonly jsonSchema: JsonObject
  readonly debug: boolean
  /** Implies `debug`. */
  readonly debugFile: string
  readonly debugToStderr: boolean
  /** `stdio` makes the CLI ask over the wire (`can_use_tool`); any other name is an MCP tool. */
  readonly permissionPromptTool: string
  readonly permissionPrompts: "host" | "none"
  readonly permissionMode: string
  readonly allowDangerouslySkipPermissions: boolean
  readonly continue: boolean
  readonly resume: string
  readonly forkSession: boolean
  readonly resumeSessionAt: string
  /** The id of the message whose turn is dropped; the CLI wants `resumeSessionAt` with it. */
  readonly resumeDropsTurn: string
  readonly sessionId: string
  /** Only `false` is written: the CLI keeps sessions unless it is told not to. */
  readonly persistSession: boolean
  readonly allowedTools: readonly string[]
  readonly disallowedTools: readonly string[]
  /** An empty list switches every built-in tool off. */
  readonly tools: readonly string[] | { readonly type: "preset"; readonly preset: "default" }
  /** The whole configuration, `{ mcpServers: … }`, or the path of a file. */
  readonly mcpConfig: string | JsonObject
  readonly strictMcpConfig: boolean
  /** An empty list is passed on, and means no settings file at all. */
  readonly settingSources: readonly string[]
  /** An object, or what the CLI takes: JSON text or the path of a file. */
  readonly settings: string | JsonObject
  /** Becomes the key `sandbox` of `settings`. */
  readonly sandbox: JsonObject
  readonly managedSettings: string | JsonObject
  readonly projectConfigRoot: string
  readonly additionalDirectories: readonly string[]
  readonly pluginDirs: readonly string[]
  readonly pluginDirsNoMcp: readonly string[]
  readonly channels: readonly string[]
  readonly includePartialMessages: boolean
  readonly includeHookEvents: boolean
  /** Makes the CLI tell how its sign-in goes (`auth_status`). */
  readonly enableAuthStatus: boolean
  readonly replayUserMessages: boolean
  readonly sessionMirror: boolean
  readonly awaitInitialize: boolean
  readonly systemPrompt: string
  readonly appendSystemPrompt: string
  /** The CLI dials this address instead of using stdio; only up to 2.1.120. */
  readonly sdkUrl: string
  readonly print: boolean
}

export type Thinking =
  | { readonly type: "adaptive" }
  | { readonly type: "enabled"; readonly budgetTokens?: number | undefined }
  | { readonly type: "disabled" }

/** The options that have a flag. `undefined` is the same as absent, so that callers can pass their own options through. */
export type FlagOptions = { readonly [K in keyof FlagValues]?: FlagValues[K] | undefined }

/** How a flag and its value stand in argv: `--flag value` (as SDKs 0.1 and 0.2 write it) or `--flag=value` (0.3). */
export type ArgumentStyle = "separate" | "equals"

export interface ClaudeFlags extends FlagOptions {
  readonly style?: ArgumentStyle | undefined
  /** Any other flag, named without its dashes; `null` stands for no value. Written last, so that they win. */
  readonly extraArgs?: Readonly<Record<string, string | null>> | undefined
}
