import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import { textOf } from "@signalbox/protocol/envelope"
import { parseObject, textIn } from "../json.ts"
import type { AgentInfo, CommandInfo, OwnPage, OwnPages, PluginInfo } from "../profiles/profile.ts"
import { isRead, type Launch } from "./launch.ts"

// The skills, commands and agents that a user or a project keeps in files, where the launch reads their settings.

type Owner = "user" | "project"

export function readOwnPages(launch: Launch): OwnPages {
  const owners: readonly Owner[] = ["user", "project"]
  const folders = owners
    .filter((owner) => isRead(launch, `${owner}Settings`))
    .map((owner) => ({ owner, folder: owner === "user" ? launch.configDir : join(launch.cwd, ".claude") }))
    // Who works in the home folder has one folder for both.
    .filter(({ folder }, at, all) => all.findIndex((each) => each.folder === folder) === at)
  return {
    skills: folders.flatMap(({ owner, folder }) => skillsIn(join(folder, "skills"), owner)),
    commands: folders.flatMap(({ owner, folder }) => commandsIn(join(folder, "commands"), owner)),
    agents: folders.flatMap(({ folder }) => agentsIn(join(folder, "agents"))),
  }
}

function skillsIn(folder: string, owner: Owner): OwnPage[] {
  return namesIn(folder)
    .filter((name) => existsSync(join(folder, name, "SKILL.md")))
    .map((name) => ({ ...pageAt(join(folder, name, "SKILL.md"), name, owner), folder: join(folder, name) }))
}

/** One in a folder is called by both: `git:push`. */
function commandsIn(folder: string, owner: Owner, prefix = ""): OwnPage[] {
  return namesIn(folder).flatMap((name) => {
    if (name.endsWith(".md")) return [pageAt(join(folder, name), `${prefix}${name.slice(0, -3)}`, owner)]
    return prefix === "" && !name.includes(".") ? commandsIn(join(folder, name), owner, `${name}:`) : []
  })
}

function pageAt(path: string, name: string, owner: Owner): OwnPage {
  const page = readPage(path)
  const description = `${descriptionOf(page)} (${owner})`
  return { info: { name, description, argumentHint: page.head["argument-hint"] ?? "" }, body: page.body }
}

function agentsIn(folder: string): AgentInfo[] {
  return namesIn(folder)
    .filter((name) => name.endsWith(".md"))
    .flatMap((file) => {
      const { name, description, model } = readPage(join(folder, file)).head
      // Without these two a file is none.
      if (name === undefined || description === undefined) return []
      return [{ name, description, ...(model === undefined ? {} : { model }) }]
    })
}

// What an agent tells its host about plugins named by `--plugin-dir`: their names, commands, skills and agents. The
// scenario says what they do.

export function readPlugins(folders: readonly string[], cwd: string): PluginInfo[] {
  return folders
    .map((folder) => resolve(cwd, folder))
    .filter((path) => existsSync(path))
    .map(readPlugin)
}

function readPlugin(path: string): PluginInfo {
  // A plugin without one is called by its folder.
  const manifest = parseObject(textIn(join(path, ".claude-plugin", "plugin.json")) ?? "")
  const name = textOf(manifest, "name") ?? basename(path)
  const version = textOf(manifest, "version")
  const pages = (folder: string) => namesIn(join(path, folder)).filter((file) => file.endsWith(".md"))
  const page = (folder: string, file: string) => readPage(join(path, folder, file))
  return {
    name,
    path,
    ...(version === undefined ? {} : { version }),
    commands: pages("commands").map((file) => commandOf(name, file.slice(0, -3), page("commands", file))),
    skills: namesIn(join(path, "skills"))
      .filter((skill) => existsSync(join(path, "skills", skill, "SKILL.md")))
      .map((skill) => ({ ...commandOf(name, skill, page(`skills/${skill}`, "SKILL.md")), aliases: [skill] })),
    agents: pages("agents").map((file) => {
      const { head } = page("agents", file)
      return { name: `${name}:${head["name"] ?? file.slice(0, -3)}`, description: head["description"] ?? "" }
    }),
  }
}

function commandOf(plugin: string, name: string, page: Page): CommandInfo {
  return {
    name: `${plugin}:${name}`,
    description: `(${plugin}) ${descriptionOf(page)}`,
    argumentHint: page.head["argument-hint"] ?? "",
  }
}

const MAX_FILES = 1000

/** A text with `key: value` lines between dashes at its head: what skills, commands and agents are written in. */
interface Page {
  readonly head: Readonly<Record<string, string>>
  readonly body: string
}

function readPage(path: string): Page {
  const text = readFileSync(path, "utf8")
  const [, lines = "", body = ""] = /^---\n([\s\S]*?)\n---\n?([\s\S]*)$/.exec(text) ?? [undefined, "", text]
  const fields = lines.split("\n").flatMap((line): [string, string][] => {
    const [, key, value] = /^([\w-]+): *["']?(.*?)["']? *$/.exec(line) ?? []
    return key === undefined || value === undefined ? [] : [[key, value]]
  })
  return { head: Object.fromEntries(fields), body }
}

/** What it says it is for; without a word of it, its first line. */
function descriptionOf({ head, body }: Page): string {
  return head["description"] ?? body.trim().split("\n")[0] ?? ""
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).toSorted().slice(0, MAX_FILES) : []
}
