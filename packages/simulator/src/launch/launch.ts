import type { Fields, NamedServer, OwnPages, PluginInfo } from "../profiles/profile.ts"

/** What an agent was started with: the flags and variables that change what it says. */
export interface Launch {
  readonly cwd: string
  /** `CLAUDE_CONFIG_DIR`: sessions and plans are kept there. */
  readonly configDir: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pid: number
  readonly model?: string | undefined
  readonly permissionMode: string
  readonly maxTurns?: number | undefined
  readonly maxBudgetUsd?: number | undefined
  readonly includePartialMessages: boolean
  readonly replayUserMessages: boolean
  readonly includeHookEvents: boolean
  readonly allowedTools: readonly string[]
  readonly disallowedTools: readonly string[]
  /** The only tools there are; left out, all of the version. */
  readonly tools?: readonly string[] | undefined
  readonly settings?: Readonly<Fields> | undefined
  /** Left out: all of them. */
  readonly settingSources?: readonly string[] | undefined
  readonly jsonSchema?: Readonly<Fields> | undefined
  readonly addDirs: readonly string[]
  readonly mayBypassPermissions: boolean
  /** Whether permission is asked over the wire; else what needs it is refused. */
  readonly asksHost: boolean
  /** An MCP tool that is asked instead of the host, such as `mcp__desk__ask`. */
  readonly permissionPromptTool?: string | undefined
  /** One of the agents plays the main part: its tools are the session's. */
  readonly agent?: string | undefined
  /** The host is told what is written into the transcript. */
  readonly mirrorsSession: boolean
  /** MCP servers to start or dial. Those that live in the host name themselves. */
  readonly mcpServers: readonly NamedServer[]
  /** Told of by the newest generation. */
  readonly plugins: readonly PluginInfo[]
  /** Skills, commands and agents of the user and the project. */
  readonly pages: OwnPages
  readonly session: SessionLaunch
}

export interface SessionLaunch {
  readonly resume?: string | undefined
  readonly continueLast?: boolean
  readonly fork?: boolean
  readonly resumeAt?: string | undefined
  readonly sessionId?: string | undefined
  readonly persist: boolean
}

/** A launch without any flag, with what is given laid over it. */
export function createLaunch(given: Partial<Launch> & Pick<Launch, "cwd" | "configDir">): Launch {
  return {
    env: {},
    pid: process.pid,
    permissionMode: "default",
    includePartialMessages: false,
    replayUserMessages: false,
    includeHookEvents: false,
    allowedTools: [],
    disallowedTools: [],
    addDirs: [],
    mayBypassPermissions: false,
    asksHost: true,
    mirrorsSession: false,
    mcpServers: [],
    plugins: [],
    pages: { skills: [], commands: [], agents: [] },
    session: { persist: true },
    ...given,
  }
}

/** As a CLI reads a variable that turns something on: any other word leaves it off. */
export function isOn(value: string | undefined): boolean {
  return ["1", "true", "yes", "on"].includes(value?.trim().toLowerCase() ?? "")
}
