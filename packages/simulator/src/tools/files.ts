import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { textIn } from "../json.ts"

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
    read: textIn,
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

export interface Rewind {
  readonly paths: readonly string[]
  readonly insertions: number
  readonly deletions: number
}

const MAX_CHECKPOINTS = 1000

/** Keeps files as they were before each of the user's messages. */
export class Checkpoints {
  readonly #files: Files
  readonly #points: { uuid: string; before: Map<string, string | undefined> }[] = []

  constructor(files: Files) {
    this.#files = files
  }

  begin(uuid: string): void {
    this.#points.push({ uuid, before: new Map() })
    if (this.#points.length > MAX_CHECKPOINTS) this.#points.shift()
  }

  /** Called before a tool changes a file. */
  keep(path: string): void {
    const current = this.#points.at(-1)
    if (current !== undefined && !current.before.has(path)) current.before.set(path, this.#files.read(path))
  }

  /** The effect of going back before this message; undefined for a message nobody knows. */
  plan(uuid: string): Rewind | undefined {
    const states = this.#statesBefore(uuid)
    if (states === undefined) return undefined
    const changes = [...states].map(([path, before]) => lineChanges(this.#files.read(path) ?? "", before ?? ""))
    return {
      paths: [...states.keys()],
      insertions: changes.reduce((sum, { insertions }) => sum + insertions, 0),
      deletions: changes.reduce((sum, { deletions }) => sum + deletions, 0),
    }
  }

  rewind(uuid: string): void {
    for (const [path, before] of this.#statesBefore(uuid) ?? []) {
      if (before === undefined) this.#files.remove(path)
      else this.#files.write(path, before)
    }
  }

  /** The oldest state of each file since the message. */
  #statesBefore(uuid: string): Map<string, string | undefined> | undefined {
    const from = this.#points.findIndex((point) => point.uuid === uuid)
    if (from === -1) return undefined
    const states = new Map<string, string | undefined>()
    for (const { before } of this.#points.slice(from)) {
      for (const [path, text] of before) if (!states.has(path)) states.set(path, text)
    }
    return states
  }
}

function lineChanges(from: string, to: string): { insertions: number; deletions: number } {
  const lines = (text: string) => (text === "" ? [] : text.split("\n"))
  const [a, b] = [lines(from), lines(to)]
  const common = new Set(a.filter((line) => b.includes(line)))
  return {
    insertions: b.filter((line) => !common.has(line)).length,
    deletions: a.filter((line) => !common.has(line)).length,
  }
}
