import { existsSync, readFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { isObject } from "@signalbox/protocol/envelope"
import { SimulatorError } from "../simulator-error.ts"
import { misplacedSteps } from "./calls.ts"
import { fitsSchema } from "./fits-schema.ts"
import type { Scenario } from "./schema.ts"

/** The scenarios that come with the simulator, made from the YAML beside it and checked when they were. */
const galleryFile = new URL("../../gallery/gallery.json", import.meta.url)
const schemaFile = new URL("../../schema/scenario.schema.json", import.meta.url)

export interface GalleryEntry {
  readonly name: string
  /** The first sentence of its description. */
  readonly about: string
}

// Small files of our own are read at once sooner than by way of other threads.
let gallery: ReadonlyMap<string, Scenario> | undefined
let schema: unknown

function openGallery(): ReadonlyMap<string, Scenario> {
  gallery ??= new Map(Object.entries<Scenario>(JSON.parse(readFileSync(galleryFile, "utf8"))))
  return gallery
}

export function galleryNames(): string[] {
  return [...openGallery().keys()]
}

export async function listGallery(): Promise<GalleryEntry[]> {
  return [...openGallery()].map(([name, { description = "" }]) => ({ name, about: description }))
}

/** A scenario of the gallery by its name, or one in a file. A file of that name goes first. */
export async function loadScenario(nameOrFile: string): Promise<Scenario> {
  if (existsSync(nameOrFile)) return readScenarioFile(nameOrFile)
  const known = openGallery().get(nameOrFile)
  if (known !== undefined) return known
  const { nearest } = await import("./problem-words.ts")
  const meant = nearest(nameOrFile, galleryNames())
  const hint = meant === undefined ? "claude-sim --list names those that come with it" : `did you mean ${meant}?`
  throw new SimulatorError("scenario/invalid", `${nameOrFile}: no such file, and no such scenario: ${hint}`, {
    details: { path: nameOrFile, problems: [] },
  })
}

/** The scenario in a file, or a `scenario/invalid` that says file, line, what is wrong and what would be right. */
export async function readScenarioFile(path: string): Promise<Scenario> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new SimulatorError("scenario/invalid", `${path}: cannot be read (${reasonOf(cause)})`, {
      cause,
      details: { path, problems: [] },
    })
  })
  const quick = await quickScenario(text)
  if (quick !== undefined) return quick
  // What explains a mistake takes longer to load than all the rest.
  const { readScenarioText } = await import("./parse-scenario.ts")
  return readScenarioText(text, path)
}

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown"
  return code === "ENOENT" ? "there is no such file" : code
}

/**
 * The scenario in this text; undefined where there is a doubt, which is for the real check to settle. Almost every
 * scenario that is loaded is a good one: it is held against the published schema, which is made from the zod schema, so
 * that zod is loaded only to explain what is wrong with a bad one.
 */
export async function quickScenario(text: string): Promise<Scenario | undefined> {
  const value = valueOfJson(text) ?? (await import("./yaml.ts")).readYaml(text).value
  schema ??= JSON.parse(readFileSync(schemaFile, "utf8"))
  const isScenario = (found: unknown): found is Scenario => isObject(schema) && fitsSchema(schema, found)
  if (!isScenario(value) || misplacedSteps(value).length > 0) return undefined
  return (await areFaults(value.faults ?? [])) ? value : undefined
}

/** Undefined for what is no JSON, and for JSON with a key that stands twice in one object, which nobody means. */
function valueOfJson(text: string): unknown {
  if (!text.trimStart().startsWith("{")) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return countKeys(value) === writtenKeys(text) ? value : undefined
  } catch {
    return undefined // YAML may begin like this too
  }
}

function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0
  const own = Array.isArray(value) ? 0 : Object.keys(value).length
  return Object.values(value).reduce<number>((sum, item) => sum + countKeys(item), own)
}

/** In JSON, a text before a colon is a key. */
function writtenKeys(text: string): number {
  return [...text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter(([, colon]) => colon !== undefined).length
}

async function areFaults(specs: readonly string[]): Promise<boolean> {
  if (specs.length === 0) return true
  const { parseFault } = await import("../faults/parse-fault.ts")
  try {
    return specs.map(parseFault).length > 0
  } catch {
    return false // the real check says what is wrong with it
  }
}
