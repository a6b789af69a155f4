import { isObject, textOf } from "@signalbox/protocol"
import { inNoFolder } from "./inner.ts"
import { innerOf, programOf } from "./inner-commands.ts"
import { OverBudget, UNKNOWN, Work } from "./matching.ts"
import { isAbsolute, pathForms } from "./path-pattern.ts"
import { SHELL_PROGRAMS } from "./programs.ts"
import { commandCues, namesProduction, namesSecret, targetsOf } from "./risk-programs.ts"
import { readShell, type ShellWord } from "./shell-reading.ts"
import { writtenText } from "./shell-text.ts"
import type { PolicyRequest } from "./subject.ts"

/** Every runtime has it, though the language does not: an address as a program would go to it, whatever its spelling. */
declare const URL: { canParse(text: string): boolean; new (text: string): { readonly host: string } }

/** The kinds of things that a person should look at twice. */
export type RiskKind =
  | "deletes"
  | "forces"
  | "production"
  | "superuser"
  | "outside"
  | "secret"
  | "network"
  | "runs-download"
  | "unread"

/** A fact about a request, with the part that shows it. It says what is there, never whether that is right. */
export interface RiskCue {
  readonly kind: RiskKind
  /** The words of the request that it was found in, on one line. */
  readonly found: string
}

interface Place {
  readonly cwd?: string | undefined
}

/** Many of one kind must not push out the one of another that matters. */
const MAX_OF_KIND = 3
const MAX_DEPTH = 4
const MAX_COMMANDS = 200
const WRITING: ReadonlySet<string> = new Set(["Write", "Edit", "MultiEdit", "NotebookEdit"])

/** Cues for a request, by plain rules: the same request always has the same. Bounded, and never throws for what stands in it. */
export function riskCues({ tool, input }: PolicyRequest, { cwd }: Place = {}): readonly RiskCue[] {
  const cues = new Cues(cwd)
  try {
    if (tool === "Bash") cues.command(textOf(input, "command") ?? "", 0)
    else cues.fields(tool, input)
  } catch (error) {
    if (!(error instanceof OverBudget || error instanceof RangeError)) throw error
    cues.add("unread", "too much to check")
  }
  return cues.list
}

class Cues {
  readonly #cwd: string | undefined
  readonly #work = new Work()
  readonly #found = new Map<RiskKind, Set<string>>()
  #commands = 0

  constructor(cwd: string | undefined) {
    this.#cwd = cwd
  }

  get list(): readonly RiskCue[] {
    return [...this.#found].flatMap(([kind, lines]) => [...lines].map((found) => ({ kind, found })))
  }

  add(kind: RiskKind, found: string): void {
    const line = oneLine(found)
    const ofKind = this.#found.get(kind) ?? new Set()
    if (ofKind.size < MAX_OF_KIND) this.#found.set(kind, ofKind.add(line))
  }

  command(text: string, depth: number): void {
    const { parts, isBroken, problem, hasInput } = readShell(text, this.#work)
    if (isBroken) return this.add("unread", problem?.because ?? "it can't be read as a command")
    const programs = new Set<string>()
    for (const part of parts) {
      if (part.kind === "command") {
        programs.add(programOf(part.words[0]?.text ?? ""))
        this.#words(part.words, hasInput, depth)
      } else if (part.kind === "redirection") {
        this.#secret(part.target)
        const isCopy = part.operator.includes("&") && /^\d*-?$/.test(part.target)
        if (part.operator.includes(">") && !isCopy) this.#written(part.target)
      } else if (namesProduction(part.text) && part.name !== "NODE_ENV") this.add("production", part.text)
    }
    const [downloads, runs] = [hasAny(programs, DOWNLOADS), hasAny(programs, SHELL_PROGRAMS)]
    if (hasInput && downloads !== undefined && runs !== undefined) this.add("runs-download", `${downloads} | ${runs}`)
    for (const [name] of text.matchAll(SECRET_VARIABLE)) this.add("secret", name)
  }

  #words(words: readonly ShellWord[], hasInput: boolean, depth: number): void {
    if (++this.#commands > MAX_COMMANDS) throw new OverBudget("too many commands")
    const texts = words.map((word) => writtenText(word.text))
    const name = programOf(texts[0] ?? "")
    const own = commandCues(name, texts)
    for (const { kind, found } of own) this.add(kind, found)
    for (const target of targetsOf(name, texts)) this.#written(target)
    for (const text of texts.slice(1)) {
      this.#secret(text)
      if (namesProduction(text)) this.add("production", `${name} ${text}`)
    }
    const [first] = words
    if (first === undefined || first.isGlob || first.text.includes(UNKNOWN)) return this.add("unread", texts.join(" "))
    const inner = innerOf(words, inNoFolder(hasInput))
    // A program with a cue of its own is looked at anyway.
    const isHidden = inner?.kind === "never" || (inner?.kind === "closed" && own.length === 0)
    if (isHidden || (inner !== undefined && inner.kind !== "writes" && depth >= MAX_DEPTH))
      return this.add("unread", texts.join(" "))
    if (inner?.kind === "script") this.command(inner.text, depth + 1)
    if (inner?.kind === "commands") for (const each of inner.commands) this.#words(each, hasInput, depth + 1)
  }

  /** Tools with fields: paths, addresses, and the fields of any other tool. */
  fields(tool: string, input: Readonly<Record<string, unknown>>): void {
    for (const field of ["file_path", "notebook_path", "path"]) {
      const path = textOf(input, field)
      if (path === undefined) continue
      this.#secret(path)
      if (WRITING.has(tool)) this.#written(path)
    }
    const url = textOf(input, "url")
    if (url !== undefined) this.add("network", URL.canParse(url) ? new URL(url).host || url : url)
    else if (tool === "WebSearch") this.add("network", textOf(input, "query") ?? "a search")
    if (url !== undefined && namesProduction(url)) this.add("production", url)
    // Tools of MCP servers call their fields as they like.
    if (!tool.startsWith("mcp__")) return
    const verb = /(?:^|_)(?:delete|remove|drop|destroy|purge)(?:_|$)/i.exec(tool.slice(tool.lastIndexOf("__") + 1))
    if (verb !== null) this.add("deletes", tool)
    for (const value of Object.values(isObject(input) ? input : {}).slice(0, MAX_COMMANDS))
      if (typeof value === "string" && value.length < 200 && namesProduction(value)) this.add("production", value)
  }

  #secret(path: string): void {
    if (namesSecret(path)) this.add("secret", path)
  }

  #written(path: string): void {
    if (DEVICES.test(path) || path === "") return
    if (path.startsWith(UNKNOWN)) return this.add("unread", path)
    const home = HOME.exec(this.#cwd ?? "")?.[0]
    const place = home !== undefined && /^~(?:\/|$)/.test(path) ? `${home}${path.slice(1)}` : path
    if (place.startsWith("~")) return this.add("outside", path)
    const { certain, cwd } = pathForms(place, this.#cwd, this.#work)
    if (certain === undefined || cwd === undefined || (!isAbsolute(place) && !place.includes(".."))) return
    if (cwd.some((segment, index) => certain[index] !== segment)) this.add("outside", path)
  }
}

/** The home folder of whoever works in a folder, where its path tells. */
const HOME = /^\/(?:root|(?:home|Users)\/[^/]+)(?=\/|$)/
const DEVICES = /^\/dev\/(?:null|std(?:in|out|err)|tty|fd\/\d+)$/
const DOWNLOADS: ReadonlySet<string> = new Set(["curl", "wget", "fetch", "aria2c", "http"])
const SECRET_VARIABLE = /\$\{?\w{0,60}(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|PRIVATE_KEY|CREDENTIALS)\w{0,60}\}?/g

function hasAny(names: ReadonlySet<string>, wanted: ReadonlySet<string>): string | undefined {
  return [...names].find((name) => wanted.has(name))
}

const MAX_CHARS = 80

function oneLine(text: string): string {
  const line = writtenText(text)
    .slice(0, 4 * MAX_CHARS)
    .replaceAll(UNKNOWN, "…")
    .replace(/\s+/g, " ")
    .trim()
  return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS - 1)}…` : line
}
