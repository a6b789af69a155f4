import { type CommandForms, collapse } from "./command-forms.ts"
import { partsMatch } from "./form-parts.ts"
import { ASSIGNMENT } from "./inner-commands.ts"
import { ANY, type Glob, globMatches, globOf, LOOK, type Match, most, textGlob, UNKNOWN, Work } from "./matching.ts"
import { type PathForms, type PathPattern, pathIsTouched, pathPattern } from "./path-pattern.ts"
import { readShell, type ShellPart, type ShellReading, type Span } from "./shell-reading.ts"
import { plainText, writtenText } from "./shell-text.ts"

type RedirectionPart = ShellPart & { readonly kind: "redirection" }

/** The part that an allow pattern covers: one simple command, one variable, or one redirection. */
export type CoverPattern =
  | { readonly kind: "command"; readonly glob: Glob; readonly words: readonly string[] }
  | { readonly kind: "assignment"; readonly name: string; readonly glob: Glob }
  | RedirectionPattern

interface RedirectionPattern {
  readonly kind: "redirection"
  readonly operator: string
  readonly text: Glob
  /** Undefined where the target is no file: `2>&1`, `<<<`. */
  readonly path: PathPattern | undefined
}

/** A pattern for commands, read once. */
export interface CommandPattern {
  /** Undefined if an allow can cover nothing with it. */
  readonly covers: CoverPattern | undefined
  readonly whole: Glob
  /** Beginnings of commands. `isCertain`: the pattern is one simple command. */
  readonly start: { readonly glob: Glob; readonly isCertain: boolean } | undefined
  readonly assignment: { readonly name: string; readonly glob: Glob } | undefined
  readonly redirections: readonly RedirectionPattern[]
}

type PatternReading =
  | { readonly ok: true; readonly covers: CoverPattern }
  /** To be read after "because". */
  | { readonly ok: false; readonly problem: string }

/** The parts that an allow covers by a pattern. */
export function readPattern(source: string): PatternReading {
  return coverOf(source, readShell(source, new Work(Number.POSITIVE_INFINITY), "pattern"))
}

function coverOf(source: string, { parts, problem }: ShellReading): PatternReading {
  if (/^\s*<<-?\s*\*?\s*$/.test(source)) return { ok: true, covers: hereDocument() }
  if (problem !== undefined) return { ok: false, problem: problem.because }
  const [part, ...more] = parts
  if (part === undefined) return { ok: false, problem: "it is empty" }
  if (more.length > 0) return { ok: false, problem: whyMore(parts) }
  switch (part.kind) {
    case "assignment":
      return { ok: true, covers: { kind: "assignment", name: part.name, glob: globOf(part.text) } }
    case "redirection":
      return { ok: true, covers: redirectionPattern(part) }
    case "command": {
      const words = part.words.map((word) => word.text)
      if (words[0] === "") return { ok: false, problem: "it is empty" }
      return { ok: true, covers: { kind: "command", glob: globOf(words.join(" ")), words } }
    }
  }
}

function whyMore(parts: readonly ShellPart[]): string {
  if (parts.some((part) => part.kind === "assignment")) return "it sets a variable first"
  if (parts.some((part) => part.kind === "redirection")) return "it contains a redirection"
  return "it contains more than one command"
}

const isFile = (operator: string, target: string) =>
  !operator.endsWith("<<<") && !(operator.endsWith("&") && /^(?:\d+-?|-)$/.test(target))

function redirectionPattern({ operator, target }: RedirectionPart): RedirectionPattern {
  const source = writtenText(target).replaceAll("*", "\\*").replaceAll(ANY, "*")
  return {
    kind: "redirection",
    operator,
    text: globOf(target),
    path: isFile(operator, writtenText(target)) ? pathPattern(source) : undefined,
  }
}

const hereDocument = (): RedirectionPattern => ({
  kind: "redirection",
  operator: "<<",
  text: globOf(ANY),
  path: undefined,
})

export function commandPattern(source: string): CommandPattern {
  const reading = readShell(source, new Work(Number.POSITIVE_INFINITY), "pattern")
  const covered = coverOf(source, reading)
  const commands = reading.parts.filter((part) => part.kind === "command")
  const redirections = reading.parts.filter((part) => part.kind === "redirection").map(redirectionPattern)
  const assignments = reading.parts.filter((part) => part.kind === "assignment")
  const [command, ...more] = commands
  const start =
    command === undefined || more.length > 0 ? undefined : command.words.map((word) => plainText(word.text)).join(" ")
  const [assignment] = assignments
  return {
    covers: covered.ok ? covered.covers : undefined,
    whole: textGlob(collapse(source)),
    start:
      start === undefined
        ? undefined
        : {
            glob: globOf(start.replaceAll(UNKNOWN, ANY)),
            isCertain: reading.problem === undefined && redirections.length === 0,
          },
    assignment:
      assignment === undefined || command !== undefined
        ? undefined
        : { name: assignment.name, glob: globOf(assignment.text.replaceAll(UNKNOWN, ANY)) },
    redirections,
  }
}

/** Units of work to look at the file of a redirection. */
const TARGET = 128

/** A command with everything that a deny or an ask may find in it. */
export interface TouchedCommand {
  readonly forms: CommandForms
  readonly reading: ShellReading
  readonly path: (text: string) => PathForms
}

interface Touch {
  readonly match: Match
  /** Where it was found, if in one place. */
  readonly span?: Span | undefined
}

/** For a deny or an ask. */
export function commandIsTouched(pattern: CommandPattern, command: TouchedCommand, work: Work): Touch {
  const { whole, start, assignment, redirections } = pattern
  if (globMatches(whole, command.forms.whole, work)) return { match: "yes" }
  if (assignment !== undefined) return assignmentTouched(assignment, command.reading, work)
  const redirected = redirections.map((each) => redirectionTouched(each, command, work))
  if (redirected.some(({ match }) => match === "no")) return { match: "no" }
  if (start === undefined) return redirected[0] ?? { match: "no" }
  const found = partsMatch(start.glob, command.forms.parts, work)
  return found.match === "yes" && !start.isCertain ? { ...found, match: "maybe" } : found
}

function assignmentTouched({ name, glob }: { name: string; glob: Glob }, { parts }: ShellReading, work: Work): Touch {
  let found: Touch = { match: "no" }
  for (const part of parts) {
    work.spend(LOOK * (part.kind === "command" ? 1 + part.words.length : 1))
    const texts =
      part.kind === "assignment" ? [part.text] : part.kind === "command" ? part.words.map(({ text }) => text) : []
    for (const text of texts) {
      if (!text.startsWith(name) || !ASSIGNMENT.test(text)) continue
      work.spend(text.length)
      if (globMatches(glob, text, work)) return { match: "yes", span: part.span }
      if (text.includes(UNKNOWN)) found = { match: "maybe", span: part.span }
    }
  }
  return found
}

/** Which end of a file a redirection is at: nobody who forbids `>` means to permit `>>`. */
const directionOf = (operator: string) => (operator.includes(">") ? ">" : operator.replace(/^\d+/, ""))

function redirectionTouched(pattern: RedirectionPattern, { reading, path }: TouchedCommand, work: Work): Touch {
  let found: Touch = { match: "no" }
  work.spend(LOOK * reading.parts.length)
  for (const part of reading.parts) {
    if (part.kind !== "redirection" || directionOf(part.operator) !== directionOf(pattern.operator)) continue
    const match = targetTouched(pattern, part, { path, work })
    if (match === "yes") return { match, span: part.span }
    if (match === "maybe") found = { match, span: part.span }
  }
  return found
}

function targetTouched(
  pattern: RedirectionPattern,
  { operator, target }: RedirectionPart,
  { path, work }: { path: (text: string) => PathForms; work: Work },
): Match {
  const text = writtenText(target)
  work.spend(TARGET)
  if (globMatches(pattern.text, target, work)) return "yes"
  if (pattern.path === undefined) return "no"
  if (target.includes(UNKNOWN) || /^~|[*?[]/.test(text)) return "maybe"
  return isFile(operator, text) ? most([pattern.path], (each) => pathIsTouched(each, path(text), work)) : "no"
}
