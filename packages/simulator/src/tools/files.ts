import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** The files that simulated tools read and write: those of the disk, or made-up ones. */
export interface Files {
  read(path: string): string | undefined
  write(path: string, text: string): void
  remove(path: string): void
  /** Every file below the folder, with its whole path. */
  list(folder: string): string[]
}

const MAX_LISTED = 10_000

export function diskFiles(): Files {
  return {
    read(path) {
      try {
        return readFileSync(path, "utf8")
      } catch {
        return undefined
      }
    },
    write(path, text) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
    },
    remove: (path) => rmSync(path, { force: true }),
    list(folder) {
      try {
        return readdirSync(folder, { recursive: true, encoding: "utf8" })
          .map((file) => join(folder, file))
          .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true)
          .slice(0, MAX_LISTED)
      } catch {
        return []
      }
    },
  }
}

/** Nothing touches the disk: what one tool wrote another reads. */
export function memoryFiles(): Files {
  const files = new Map<string, string>()
  return {
    read: (path) => files.get(path),
    write: (path, text) => void files.set(path, text),
    remove: (path) => void files.delete(path),
    list: (folder) => [...files.keys()].filter((path) => path.startsWith(`${folder}/`)),
  }
}
