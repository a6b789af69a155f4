import { existsSync, readFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { isObject } from "@signalbox/protocol/envelope"
import { SimulatorError } from "../simulator-error.ts"
import { misplacedSteps } from "./calls.ts"
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
  const { nearest } = await import("./parse-scenario.ts")
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
  // The code that explains a mistake takes longer to load than all the rest.
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

type Schema = Readonly<Record<string, unknown>>

/** Whether a value of JSON fits a JSON schema. A keyword it does not know fits nothing: then somebody else must look. */
export function fitsSchema(root: Schema, value: unknown): boolean {
  const defs = isObject(root["$defs"]) ? root["$defs"] : {}
  return fits(defs, root, value)
}

type Keyword = (wanted: unknown, value: unknown, at: { defs: Schema; schema: Schema }) => boolean

const said: Keyword = () => true

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  $schema: said,
  $defs: said,
  title: said,
  description: said,
  $ref: (wanted, value, { defs }) => {
    const target = defs[String(wanted).replace("#/$defs/", "")]
    return isObject(target) && fits(defs, target, value)
  },
  anyOf: (wanted, value, { defs }) => list(wanted).some((member) => isObject(member) && fits(defs, member, value)),
  const: (wanted, value) => wanted === value,
  enum: (wanted, value) => list(wanted).includes(value),
  type: (wanted, value) => isOfType(wanted, value),
  minimum: (wanted, value) => typeof value !== "number" || value >= Number(wanted),
  maximum: (wanted, value) => typeof value !== "number" || value <= Number(wanted),
  minLength: (wanted, value) => typeof value !== "string" || value.length >= Number(wanted),
  pattern: (wanted, value) => typeof value !== "string" || new RegExp(String(wanted)).test(value),
  minItems: (wanted, value) => !Array.isArray(value) || value.length >= Number(wanted),
  maxItems: (wanted, value) => !Array.isArray(value) || value.length <= Number(wanted),
  items: (wanted, value, { defs }) =>
    !Array.isArray(value) || (isObject(wanted) && value.every((item) => fits(defs, wanted, item))),
  required: (wanted, value) => !isObject(value) || list(wanted).every((key) => Object.hasOwn(value, String(key))),
  properties: (wanted, value, { defs }) => {
    if (!isObject(value) || !isObject(wanted)) return isObject(wanted)
    return Object.entries(wanted).every(
      ([key, schema]) => !Object.hasOwn(value, key) || (isObject(schema) && fits(defs, schema, value[key])),
    )
  },
  propertyNames: (wanted, value, { defs }) =>
    !isObject(value) || (isObject(wanted) && Object.keys(value).every((key) => fits(defs, wanted, key))),
  additionalProperties: (wanted, value, { defs, schema }) => {
    if (!isObject(value) || wanted === true) return true
    const named = isObject(schema["properties"]) ? schema["properties"] : {}
    const others = Object.keys(value).filter((key) => !Object.hasOwn(named, key))
    return others.every((key) => isObject(wanted) && fits(defs, wanted, value[key]))
  },
}

function fits(defs: Schema, schema: Schema, value: unknown): boolean {
  return Object.entries(schema).every(([keyword, wanted]) => {
    const test = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined
    return test?.(wanted, value, { defs, schema }) === true
  })
}

function isOfType(type: unknown, value: unknown): boolean {
  if (type === "object") return isObject(value)
  if (type === "array") return Array.isArray(value)
  if (type === "integer") return Number.isInteger(value)
  if (type === "number") return Number.isFinite(value)
  return typeof value === type
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
