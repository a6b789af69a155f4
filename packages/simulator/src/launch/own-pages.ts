import { existsSync } from "node:fs"
import { join } from "node:path"
import type { AgentInfo, OwnPage, OwnPages } from "../profiles/profile.ts"
import type { Launch } from "./launch.ts"
import { descriptionOf, namesIn, readPage } from "./page.ts"
import { isRead } from "./settings-files.ts"

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
