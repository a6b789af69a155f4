import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import { parseObject, textOf } from "@signalbox/protocol/envelope"
import { textIn } from "../json.ts"
import type { CommandInfo, OwnPage, OwnPages, PluginInfo } from "../profiles/profile.ts"
import { isRead, type Launch } from "./launch.ts"

// The skills, commands and agents that a user or a project keeps in files, where the launch reads their settings.

export function readOwnPages(launch: Launch): OwnPages {
  const folders = (["user", "project"] as const)
    .filter((owner) => isRead(launch, `${owner}Settings`))
    .map((owner) => ({ owner, folder: owner === "user" ? launch.configDir : join(launch.cwd, ".claude") }))
    // A user who works in the home folder has one folder for both.
    .filter(({ folder }, at, all) => all.findIndex((each) => each.folder === folder) === at)
  const ownedBy = (owner: string) => (name: string, description: string) => ({
    name,
    description: `${description} (${owner})`,
  })
  return {
    skills: folders.flatMap(({ owner, folder }) => skillsIn(join(folder, "skills"), ownedBy(owner))),
    commands: folders.flatMap(({ owner, folder }) => commandsIn(join(folder, "commands"), ownedBy(owner))),
    agents: folders.flatMap(({ folder }) =>
      agentsIn(join(folder, "agents")).flatMap(({ name, description, model }) => {
        // Without these two a file is none.
        if (name === undefined || description === undefined) return []
        return [{ name, description, ...(model === undefined ? {} : { model }) }]
      }),
    ),
  }
}

/** Names and describes a page, by who keeps it. */
type Naming = (name: string, description: string) => Pick<CommandInfo, "name" | "description">

function skillsIn(folder: string, naming: Naming): (OwnPage & { folder: string })[] {
  return namesIn(folder)
    .filter((name) => existsSync(join(folder, name, "SKILL.md")))
    .map((name) => ({ ...pageAt(join(folder, name, "SKILL.md"), name, naming), folder: join(folder, name) }))
}

/** One in a folder is called by both: `git:push`. */
function commandsIn(folder: string, naming: Naming, prefix = ""): OwnPage[] {
  return namesIn(folder).flatMap((name) => {
    if (name.endsWith(".md")) return [pageAt(join(folder, name), `${prefix}${name.slice(0, -3)}`, naming)]
    return prefix === "" && !name.includes(".") ? commandsIn(join(folder, name), naming, `${name}:`) : []
  })
}

function pageAt(path: string, name: string, naming: Naming): OwnPage {
  const { head, body } = readPage(path)
  // Without a word of what it is for, its first line says it.
  const description = head["description"] ?? body.trim().split("\n")[0] ?? ""
  return { info: { ...naming(name, description), argumentHint: head["argument-hint"] ?? "" }, body }
}

function agentsIn(folder: string): (Page["head"] & { file: string })[] {
  return pagesIn(folder).map((file) => ({ ...readPage(join(folder, file)).head, file: file.slice(0, -3) }))
}

function pagesIn(folder: string): string[] {
  return namesIn(folder).filter((file) => file.endsWith(".md"))
}

// Plugins named by `--plugin-dir`, as an agent tells its host of them: their names, commands, skills and agents. The
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
  const plugin = textOf(manifest, "name") ?? basename(path)
  const version = textOf(manifest, "version")
  const naming: Naming = (name, about) => ({ name: `${plugin}:${name}`, description: `(${plugin}) ${about}` })
  return {
    name: plugin,
    path,
    ...(version === undefined ? {} : { version }),
    commands: pagesIn(join(path, "commands")).map(
      (file) => pageAt(join(path, "commands", file), file.slice(0, -3), naming).info,
    ),
    skills: skillsIn(join(path, "skills"), naming).map(({ info, folder }) => ({
      ...info,
      aliases: [basename(folder)],
    })),
    agents: agentsIn(join(path, "agents")).map(({ file, name = file, description = "" }) => {
      return { name: `${plugin}:${name}`, description }
    }),
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

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).toSorted().slice(0, MAX_FILES) : []
}
