import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

export const root: string = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

export interface Snippet {
  readonly page: string
  readonly line: number
  readonly language: string
  readonly text: string
  /** Why it is not run, in the words of the page: ```` ```sh noRun: because … ````. */
  readonly noRun?: string
}

/** Languages that are run or read as what they say they are. */
const RUN: ReadonlySet<string> = new Set(["sh", "js", "yaml", "json"])
/** Configurations of other programs, which test/hub/behind-a-proxy.test.ts runs. */
const CONFIGURES: ReadonlySet<string> = new Set(["nginx", "caddy", "systemd", "compose"])
/** Drawings, output, and text to be copied: nothing in them can be run. */
const READ: ReadonlySet<string> = new Set(["", "text", "md", "diff"])

/** Every page that people read to use Signalbox. */
export function pages(): string[] {
  const own = ["README.md", "CONTRIBUTING.md", "SECURITY.md"]
  const inFolder = (folder: string) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(folder, name))
  const inRooms = ["packages", "examples"].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => join(folder, name, "README.md")),
  )
  return [
    ...own,
    ...inFolder("docs"),
    ...inFolder("docs/spec"),
    ...inRooms.filter((page) => existsSync(join(root, page))),
  ]
}

/** The blocks of a page that can be run. */
export function snippetsOf(page: string): Snippet[] {
  const found: Snippet[] = []
  let open: { info: string; line: number; lines: string[] } | undefined
  for (const [index, line] of readFileSync(join(root, page), "utf8").split("\n").entries()) {
    const fence = /^ *```(.*)$/.exec(line)
    if (fence === null) open?.lines.push(line)
    else if (open === undefined) open = { info: fence[1] ?? "", line: index + 1, lines: [] }
    else {
      const [language = "", ...words] = open.info.trim().split(" ")
      if (CONFIGURES.has(language)) {
        open = undefined
        continue
      }
      const noRun = /^noRun: (.+)$/.exec(words.join(" "))?.[1]
      if (words.length > 0 && noRun === undefined) throw new Error(`${page}:${open.line}: say "noRun: why", or nothing`)
      if (!RUN.has(language) && !READ.has(language))
        throw new Error(`${page}:${open.line}: nobody runs "${language}"; use one of ${[...RUN, ...READ].join(" ")}`)
      const text = `${open.lines.join("\n")}\n`
      if (RUN.has(language))
        found.push({ page, line: open.line, language, text, ...(noRun === undefined ? {} : { noRun }) })
      open = undefined
    }
  }
  if (open !== undefined) throw new Error(`${page}:${open.line}: this block does not end`)
  return found
}

/** A block of a page by the whole of what its fence says. */
export function blockOf(page: string, info: string): string {
  const [, text] = readFileSync(join(root, page), "utf8").split(`\n\`\`\`${info}\n`)
  if (text === undefined) throw new Error(`${page} has no block ${info}`)
  return text.slice(0, text.indexOf("\n```") + 1)
}

/** The commands of a block, one by one; a line that ends in a backslash or a pipe goes on. */
export function commandsOf(text: string): string[] {
  const commands: string[] = []
  let begun = ""
  for (const line of text.split("\n")) {
    begun += begun === "" ? line : `\n${line}`
    if (/[\\|]$/.test(line)) continue
    if (!/^\s*(?:#.*)?$/.test(begun)) commands.push(begun)
    begun = ""
  }
  return commands
}
