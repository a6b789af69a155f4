import { defined } from "@signalbox/protocol"
import { MAX_SCRIPT_DEPTH } from "./command-forms.ts"
import type { CommandPattern, CoverPattern } from "./command-pattern.ts"
import { type Around, type Inner, shown } from "./inner.ts"
import { ASSIGNMENT, innerOf, nameOf, textsForShells } from "./inner-commands.ts"
import { ANY, globMatches, LOOK, UNKNOWN, type Work } from "./matching.ts"
import { type PathForms, pathIsCovered } from "./path-pattern.ts"
import { FOLDER_CHANGERS, RUNS_ELSEWHERE } from "./programs.ts"
import {
  readShell,
  type ShellPart,
  type ShellProblem,
  type ShellReading,
  type ShellWord,
  type Span,
} from "./shell-reading.ts"
import { GAP, writtenText } from "./shell-text.ts"

/** One thing that an allow must cover. */
interface Need {
  readonly span: Span
  readonly part: PartNeed
  /** Covered as well if this is: the command without what it runs, and everything that it runs. */
  readonly split?: { readonly prefix: string; readonly needs: readonly Need[] }
  /** Why a pattern that fits may not cover it, to be read after "because". */
  readonly because?: string
}

type PartNeed =
  | {
      readonly kind: "command"
      readonly text: string
      /** A pattern must have so many characters of it before its first star. */
      readonly named: number
      /** A pattern must have these words: whole, or so much of them that the option is told. */
      readonly words: readonly string[]
      readonly names?: (start: string) => boolean
    }
  | { readonly kind: "assignment"; readonly name: string; readonly text: string }
  | { readonly kind: "redirection"; readonly operator: string; readonly target: string }
  /** Covered by no pattern. */
  | { readonly kind: "never" }

/** Everything that a text does, worked out once for all rules. */
export interface CommandNeeds {
  readonly needs: readonly Need[]
  /** Why nothing covers it, to be read after "because". */
  readonly problem?: ShellProblem
  /** A text for another shell in it could not be read. */
  readonly broken?: ShellProblem
  /** Folders that it goes to; undefined if nobody can tell which. */
  readonly folders: readonly string[] | undefined
}

export function needsOf(reading: ShellReading, how: Pick<How, "work" | "isOutside">): CommandNeeds {
  const { parts, hasInput } = reading
  let broken: ShellProblem | undefined
  const onBroken = (problem: ShellProblem) => {
    broken ??= problem
  }
  const needs = needsOfParts(parts, { ...how, depth: 0, hasInput, onBroken })
  const isEmpty = needs.length === 0
  const problem = reading.problem ?? (isEmpty ? { because: "it is empty", span: { start: 0, end: 0 } } : undefined)
  return { needs, folders: foldersOf(reading), ...defined({ problem, broken }) }
}

interface How extends Around {
  readonly depth: number
  readonly work: Work
  readonly onBroken: (problem: ShellProblem) => void
}

function needsOfParts(parts: readonly ShellPart[], how: How): Need[] {
  return parts.map((part): Need => {
    const { span } = part
    if (part.kind === "command") return needOfCommand(part.words, span, how)
    if (part.kind === "assignment") return { span, part: { kind: part.kind, name: part.name, text: part.text } }
    return { span, part: { kind: part.kind, operator: part.operator, target: part.target } }
  })
}

/** Units of work for each character of a command's words. */
const WORDS = 8
/** So many of the words that make a program write are told. */
const SHOWN_WORDS = 4

function needOfCommand(words: readonly ShellWord[], span: Span, how: How): Need {
  const texts = words.map((word) => word.text)
  const text = texts.join(" ")
  how.work.spend(WORDS * text.length)
  const command = (named: number): PartNeed => ({ kind: "command", text, named, words: [] })
  if (texts[0] === "") return { span, part: { kind: "never" }, because: "it is empty" }
  const inner = innerOf(words, how)
  if (inner === undefined) return { span, part: command(0) }
  const lengthOf = (count: number) => texts.slice(0, count).join(" ").length
  switch (inner.kind) {
    case "never":
      for (const script of textsForShells(words)) needsOfScript(script, span, how)
      return { span, part: { kind: "never" }, because: inner.because }
    case "closed":
      for (const script of textsForShells(words)) needsOfScript(script, span, how)
      return {
        span,
        part: command(Number.POSITIVE_INFINITY),
        because: `${inner.because}, and a star does not cover that`,
      }
    case "file":
      return {
        span,
        part: command(lengthOf(inner.named)),
        because: "a star does not cover which file or target is run",
      }
    case "writes":
      return {
        span,
        part: { kind: "command", text, named: lengthOf(inner.named ?? 0), words: inner.words, names: inner.names },
        because: `"${inner.words.slice(0, SHOWN_WORDS).map(shown).join('", "')}" makes it write, and the rule does not name that`,
      }
    case "commands":
    case "script":
      return splitNeed(inner, { span, how, part: (named) => command(named), lengthOf })
  }
}

const TOO_DEEP = "it is nested too deep"
const UNREAD = "a text in it for another shell could not be read"

/** A text for another shell, in the command at this span. */
function needsOfScript(text: string, span: Span, how: How): Pick<CommandNeeds, "needs" | "problem"> {
  const onBroken = () => how.onBroken({ because: UNREAD, span })
  if (how.depth >= MAX_SCRIPT_DEPTH) {
    onBroken()
    return { needs: [] }
  }
  const { parts, isBroken, hasInput, problem } = readShell(text, how.work)
  if (isBroken) onBroken()
  const deeper = { ...how, depth: how.depth + 1, hasInput: how.hasInput || hasInput, onBroken }
  const needs = needsOfParts(parts, deeper).map((need) => ({ ...need, span }))
  return { needs, ...defined({ problem }) }
}

interface Splitting {
  readonly span: Span
  readonly how: How
  readonly part: (named: number) => PartNeed
  readonly lengthOf: (words: number) => number
}

function splitNeed(inner: Inner & { readonly kind: "commands" | "script" }, splitting: Splitting): Need {
  const { span, how, part, lengthOf } = splitting
  const prefix = inner.prefix.join(" ")
  const because = "no rule allows what it runs"
  if (how.depth >= MAX_SCRIPT_DEPTH) {
    how.onBroken({ because: TOO_DEEP, span })
    return { span, part: part(Number.POSITIVE_INFINITY), because: TOO_DEEP }
  }
  const deeper = { ...how, depth: how.depth + 1 }
  if (inner.kind === "script") {
    const { needs, problem } = needsOfScript(inner.text, span, how)
    if (problem !== undefined || needs.length === 0) {
      const why = problem?.because ?? "it is empty"
      return { span, part: part(Number.POSITIVE_INFINITY), because: `of what it runs nothing is known: ${why}` }
    }
    return { span, part: part(Number.POSITIVE_INFINITY), split: { prefix, needs }, because }
  }
  const commands = inner.commands.map((words) => needOfCommand(words, span, deeper))
  const sets: Need[] = inner.sets.map((text) => ({
    span,
    part: { kind: "assignment", name: ASSIGNMENT.exec(text)?.[0].replace(/\+?=$/, "") ?? "", text },
  }))
  // A pattern for the whole may name one command to its end, if that does nothing beyond its own program.
  const [only, ...more] = commands
  const isPlain = only?.part.kind === "command" && only.part.named === 0 && only.part.words.length === 0
  const named = isPlain && more.length === 0 && sets.length === 0 ? lengthOf(inner.named) : Number.POSITIVE_INFINITY
  return { span, part: part(named), split: { prefix, needs: [...sets, ...commands] }, because }
}

/** Variables that change where `cd` leads. */
const LEADS_ELSEWHERE = new Set(["CDPATH", "HOME", "OLDPWD"])

/**
 * `cd` to a folder that is written out; one that is relative is only followed where it is the first and runs once.
 */
function foldersOf({ parts, hasLoop }: ShellReading): string[] | undefined {
  const folders: string[] = []
  for (const part of parts) {
    if (part.kind === "assignment" && LEADS_ELSEWHERE.has(part.name)) return undefined
    if (part.kind !== "command") continue
    const [first, target, ...more] = part.words
    const runs = part.words.some(
      ({ text }) => FOLDER_CHANGERS.has(text) || /(?:^|[^\w-])(?:cd|pushd|popd)(?:[^\w-]|$)/.test(text),
    )
    if (runsElsewhere(part.words)) return undefined
    if (!runs) continue
    const isFollowed = first?.text === "cd" && target !== undefined && more.length === 0 && isPlainFolder(target)
    if (!isFollowed) return undefined
    const path = writtenText(target.text)
    if (!path.startsWith("/") && (hasLoop || folders.length > 0)) return undefined
    folders.push(path)
  }
  return folders
}

function runsElsewhere(words: readonly ShellWord[]): boolean {
  const name = nameOf(words)
  return RUNS_ELSEWHERE.has(name) && (name === "ssh" || words.some(({ text }) => text === "exec"))
}

function isPlainFolder({ text, isGlob }: ShellWord): boolean {
  return !isGlob && !text.includes(UNKNOWN) && text !== "" && !/^[-~]/.test(text)
}

/** A rule whose patterns may cover something. */
export interface Covering<R> {
  readonly rule: R
  readonly patterns: readonly CommandPattern[]
}

interface Covered<R> {
  readonly rule: R
  readonly span: Span
}

export type Coverage<R> =
  | { readonly ok: true; readonly covered: readonly Covered<R>[] }
  /** The part that no rule covers, and the rules that cover something else of it. */
  | {
      readonly ok: false
      readonly covered: readonly Covered<R>[]
      readonly missing: {
        readonly span: Span
        readonly because?: string | undefined
        readonly nearly?: R | undefined
        /** No pattern covers it, however it is written. */
        readonly isUnreadable?: boolean
      }
    }

interface CoverOptions {
  readonly path: (text: string) => PathForms
  readonly work: Work
}

/** Units of work to try a pattern, beside what comparing the text takes. */
const COST: Readonly<Record<CoverPattern["kind"], number>> = { command: 16, assignment: 16, redirection: 96 }

interface KindOfPattern<R> {
  readonly rule: R
  readonly pattern: CoverPattern
}

/** In the order of the rules. */
function patternsByKind<R>(
  rules: readonly Covering<R>[],
  work: Work,
): Readonly<Record<CoverPattern["kind"], readonly KindOfPattern<R>[]>> {
  const byKind: Record<CoverPattern["kind"], KindOfPattern<R>[]> = { command: [], assignment: [], redirection: [] }
  for (const { rule, patterns } of rules) {
    work.spend(LOOK * patterns.length)
    for (const { covers: pattern } of patterns) if (pattern !== undefined) byKind[pattern.kind].push({ rule, pattern })
  }
  return byKind
}

/** Whether every need is covered by some rule, whichever. */
export function coverNeeds<R>(
  { needs, folders }: CommandNeeds,
  rules: readonly Covering<R>[],
  { path, work }: CoverOptions,
): Coverage<R> {
  const covered: Covered<R>[] = []
  let missing: (Coverage<R> & { ok: false })["missing"] | undefined
  const staysHere = folders !== undefined && folders.length === 0
  const byKind = patternsByKind(rules, work)
  const find = (kind: CoverPattern["kind"], test: (pattern: CoverPattern) => boolean): R | undefined =>
    byKind[kind].find(({ pattern }) => {
      work.spend(COST[kind])
      return test(pattern)
    })?.rule

  const cover = (need: Need): boolean => {
    const { part, span, split, because } = need
    work.spend(LOOK)
    const rule =
      part.kind === "never" ? undefined : find(part.kind, (pattern) => covers(pattern, part, { path, work, staysHere }))
    if (rule !== undefined) {
      covered.push({ rule, span })
      return true
    }
    const prefix =
      split === undefined ? undefined : find("command", (pattern) => coversPrefix(pattern, split.prefix, work))
    if (split !== undefined && prefix !== undefined) {
      covered.push({ rule: prefix, span })
      return split.needs.every(cover)
    }
    const nearly = because === undefined ? undefined : find("command", (pattern) => nearlyCovers(pattern, part, work))
    missing ??= nearly === undefined ? { span } : { span, because, nearly }
    return false
  }

  let areCovered = true
  for (const need of needs) {
    areCovered = cover(need) && areCovered
    // The missing part, and a rule that fits beside it: nothing else is told.
    if (!areCovered && covered.length > 0) break
  }
  if (areCovered) return { ok: true, covered }
  return { ok: false, covered, missing: missing ?? { span: { start: 0, end: 0 } } }
}

function coversPrefix(pattern: CoverPattern, prefix: string, work: Work): boolean {
  if (pattern.kind !== "command") return false
  return globMatches(pattern.glob, prefix, work) || globMatches(pattern.glob, `${prefix} `, work)
}

function nearlyCovers(pattern: CoverPattern, part: PartNeed, work: Work): boolean {
  return pattern.kind === "command" && part.kind === "command" && globMatches(pattern.glob, part.text, work)
}

function covers(pattern: CoverPattern, part: PartNeed, how: CoverOptions & { readonly staysHere: boolean }): boolean {
  const { path, work, staysHere } = how
  if (pattern.kind === "command" && part.kind === "command") {
    const { glob, words } = pattern
    const reach = glob.last === undefined ? Number.POSITIVE_INFINITY : glob.first.length
    if (part.named > reach || !globMatches(glob, part.text, work)) return false
    return part.words.every((word) => words.some((each) => namesWord(each, word, part.names)))
  }
  if (pattern.kind === "assignment" && part.kind === "assignment") {
    return pattern.name === part.name && globMatches(pattern.glob, part.text, work)
  }
  if (pattern.kind !== "redirection" || part.kind !== "redirection" || pattern.operator !== part.operator) return false
  if (pattern.path === undefined) return globMatches(pattern.text, part.target, work)
  const isHere = staysHere || !pattern.path.isRelative
  const target = writtenText(part.target)
  if (!isHere || part.target.includes(UNKNOWN) || part.target.includes(GAP)) return false
  if (!target.startsWith("/") && !staysHere) return false
  return pathIsCovered(pattern.path, path(target), work)
}

/** Whether a word of a pattern is that word, or so much of it before its star that the option is told. */
function namesWord(pattern: string, word: string, names?: (start: string) => boolean): boolean {
  const [start = "", ...rest] = pattern.split(ANY)
  if (rest.length === 0) return pattern === word
  return start !== "" && word.startsWith(start) && names?.(start) === true
}
