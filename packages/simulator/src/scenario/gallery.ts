import { existsSync, readdirSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { SimulatorError } from "../simulator-error.ts"
import { readScenarioFile } from "./scenario-file.ts"
import type { Scenario } from "./schema.ts"

/** The scenarios that come with the simulator, each under the name of its file. */
const folder = new URL("../../gallery/", import.meta.url)
const ENDING = ".yaml"

export interface GalleryEntry {
  readonly name: string
  /** The first sentence of its description. */
  readonly about: string
}

export function galleryNames(): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(ENDING))
    .map((file) => file.slice(0, -ENDING.length))
    .sort()
}

export function galleryFile(name: string): string {
  return fileURLToPath(new URL(`${name}${ENDING}`, folder))
}

/** Without checking them: the list is there at once. */
export async function listGallery(): Promise<GalleryEntry[]> {
  return Promise.all(
    galleryNames().map(async (name) => {
      const text = await readFile(galleryFile(name), "utf8")
      return { name, about: /^description: (.+)$/m.exec(text)?.[1] ?? "" }
    }),
  )
}

/** A scenario of the gallery by its name, or one in a file. A file of that name goes first. */
export async function loadScenario(nameOrFile: string): Promise<Scenario> {
  if (existsSync(nameOrFile)) return readScenarioFile(nameOrFile)
  const names = galleryNames()
  if (names.includes(nameOrFile)) return readScenarioFile(galleryFile(nameOrFile))
  const { nearest } = await import("./nearest.ts")
  const meant = nearest(nameOrFile, names)
  const hint = meant === undefined ? "claude-sim --list names those that come with it" : `did you mean ${meant}?`
  throw new SimulatorError("scenario/invalid", `${nameOrFile}: no such file, and no such scenario: ${hint}`, {
    details: { path: nameOrFile, problems: [] },
  })
}
