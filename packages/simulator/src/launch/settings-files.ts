import { join } from "node:path"
import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import { parseObject, textIn } from "../json.ts"
import { readRule, showRule } from "../permissions/rules.ts"
import type { Fields } from "../profiles/profile.ts"
import type { Launch } from "./launch.ts"

type SettingsSource = "userSettings" | "projectSettings" | "localSettings" | "flagSettings"

/** Settings of one place. */
export interface SourcedSettings {
  readonly source: SettingsSource
  readonly settings: Readonly<Fields>
}

/** Where settings files are written: the disk, or made-up files. */
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
