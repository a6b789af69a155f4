import { existsSync, readFileSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import { isObject, textOf } from "@signalbox/protocol/envelope"
import type { CommandInfo, PluginInfo } from "../profiles/profile.ts"
import { descriptionOf, namesIn, type Page, readPage } from "./page.ts"

// What an agent tells its host about plugins named by `--plugin-dir`: their names, commands, skills and agents. The
// scenario says what they do.

export function readPlugins(folders: readonly string[], cwd: string): PluginInfo[] {
  return folders
    .map((folder) => resolve(cwd, folder))
    .filter((path) => existsSync(path))
    .map(readPlugin)
}

function readPlugin(path: string): PluginInfo {
  const manifest = jsonIn(join(path, ".claude-plugin", "plugin.json"))
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

function jsonIn(path: string): unknown {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"))
    return isObject(value) ? value : undefined
  } catch {
    return undefined // a plugin without one is called by its folder
  }
}
