import { existsSync, readFileSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { basename, dirname, join, resolve } from "node:path"
import type { CommandContext } from "../base/context.ts"
import { CliError, oneLine } from "../base/failure.ts"
import { readAll } from "../terminal/input.ts"
import { onOneLine } from "../terminal/text.ts"

/** Settings of Claude Code. */
export interface SettingsFile {
  readonly path: string
  /** The ids of its rules begin with it. */
  readonly id: string
  /** The project that they hold in. Without one they are a person's own, and hold everywhere. */
  readonly cwd: string | undefined
  readonly settings: unknown
}

type Place = Omit<SettingsFile, "settings">

/** Settings that people write have a few kilobytes. */
const MAX_BYTES = 1024 * 1024
const MAX_NAME_CHARS = 40
const LOCAL = "settings.local.json"

/** The file that was named; otherwise the person's own settings and those of the project here, as far as there are any. */
export async function readSettings(
  named: string | undefined,
  { cwd, context }: { readonly cwd: string | undefined; readonly context: CommandContext },
): Promise<readonly SettingsFile[]> {
  const own = join(configFolder(context.env), "settings.json")
  if (named !== undefined) {
    const place = placeOf(named === "-" ? named : resolve(named), { own, cwd })
    return [{ ...place, settings: await readFile(place.path, context) }]
  }
  const here = ["settings.json", LOCAL].map((name) => resolve(".claude", name))
  const found = [...new Set([own, ...here])].filter((path) => existsSync(path))
  if (found.length === 0)
    throw new CliError("cli/failed", `no settings of Claude Code in ${own} or ${here.join(" or ")}: name the file`)
  const read = async (path: string) => ({
    ...placeOf(path, { own, cwd }),
    settings: await readFile(path, context),
  })
  return Promise.all(found.map(read))
}

function placeOf(path: string, { own, cwd }: { readonly own: string; readonly cwd: string | undefined }): Place {
  const above = dirname(path)
  const isProject = path !== own && basename(above) === ".claude"
  const project = path === own ? undefined : (cwd ?? (isProject ? dirname(above) : undefined))
  const name = project === undefined ? "user" : basename(project)
  const words = [name, ...(basename(path) === LOCAL ? ["local"] : [])].join(" ").toLowerCase()
  const slug = words.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "")
  return { path, cwd: project, id: `settings-${slug.slice(0, MAX_NAME_CHARS)}` }
}

/** Where Claude Code keeps a person's own settings. */
function configFolder(env: NodeJS.ProcessEnv): string {
  const named = env["CLAUDE_CONFIG_DIR"]
  return resolve(named === undefined || named === "" ? join(homedir(), ".claude") : named)
}

async function readFile(path: string, { stdin }: CommandContext): Promise<unknown> {
  const text = path === "-" ? await readAll(stdin) : readText(path)
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""))
  } catch (error) {
    // The message quotes the file.
    throw new CliError("cli/failed", `${path} is not JSON: ${onOneLine(oneLine(error), "decision")}`)
  }
}

function readText(path: string): string {
  const problem = problemOf(path)
  if (problem !== undefined) throw new CliError("cli/failed", `${path} ${problem}: name a settings.json of Claude Code`)
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    throw new CliError("cli/failed", `can't read ${path}: ${oneLine(error)}`)
  }
}

function problemOf(path: string): string | undefined {
  const file = statSync(path, { throwIfNoEntry: false })
  if (file === undefined) return "doesn't exist"
  // Reading a pipe or a device may never end.
  if (!file.isFile()) return "is not a file"
  return file.size > MAX_BYTES ? `is larger than ${MAX_BYTES / 1024} KB` : undefined
}
