import { join } from "node:path"
import { fieldOf, parseObject, textOf } from "@signalbox/protocol/envelope"
import { textIn } from "../json.ts"
import { readRule, showRule } from "../permissions/rules.ts"
import type { Fields, LaunchFacts, NamedServer } from "../profiles/profile.ts"

/** The flags and variables of an agent's start that change what it says. */
export interface Launch extends LaunchFacts {
  readonly env: Readonly<Record<string, string | undefined>>
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

type SettingsSource = "userSettings" | "projectSettings" | "localSettings" | "flagSettings"

/** Settings of one place. */
export interface SourcedSettings {
  readonly source: SettingsSource
  readonly settings: Readonly<Fields>
}

/** The place of settings files: the disk, or made-up files. */
interface SettingsStore {
  read(path: string): string | undefined
  write(path: string, text: string): void
}

const FILES: readonly SettingsSource[] = ["userSettings", "projectSettings", "localSettings"]

/** Every settings file this launch reads, then what the command line said. A later one counts for more. */
export function readSettings(launch: Launch): SourcedSettings[] {
  const read = FILES.filter((source) => isRead(launch, source)).flatMap((source) => {
    // No such file, or one that cannot be read: a CLI goes on without it.
    const settings = parseObject(textIn(pathOf(launch, source)) ?? "")
    return settings === undefined ? [] : [{ source, settings }]
  })
  return launch.settings === undefined ? read : [...read, { source: "flagSettings", settings: launch.settings }]
}

/** Whether `--setting-sources` lets this launch read that file. Anything else is always read. */
export function isRead({ settingSources }: Launch, source: string): boolean {
  const name = source.replace(/Settings$/, "")
  return settingSources === undefined || !FILES.some((file) => file === source) || settingSources.includes(name)
}

/** Writes down what "always allow" allowed, where the update says it belongs; a session's own rules are in no file. */
export function writeRules(launch: Launch, files: SettingsStore, update: Readonly<Fields>): void {
  const source = FILES.find((file) => file === textOf(update, "destination"))
  const behavior = textOf(update, "behavior")
  if (source === undefined || behavior === undefined || !Array.isArray(update["rules"])) return
  const path = pathOf(launch, source)
  const settings = parseObject(files.read(path) ?? "") ?? {}
  const permissions = fieldOf(settings, "permissions") ?? {}
  const before = permissions[behavior]
  const kept = Array.isArray(before) && update["type"] !== "replaceRules" ? before : []
  const named = update["rules"].flatMap((rule) => readRule(rule) ?? []).map(showRule)
  const others = kept.filter((rule) => !named.includes(String(rule)))
  const rules = update["type"] === "removeRules" ? others : [...others, ...named]
  files.write(path, `${JSON.stringify({ ...settings, permissions: { ...permissions, [behavior]: rules } }, null, 2)}\n`)
}

function pathOf({ cwd, configDir }: Launch, source: SettingsSource): string {
  if (source === "userSettings") return join(configDir, "settings.json")
  return join(cwd, ".claude", source === "projectSettings" ? "settings.json" : "settings.local.json")
}
