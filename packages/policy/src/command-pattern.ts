import { type CommandForms, collapse, formsMatch } from "./command-forms.ts"
import { EVALUATORS, PREFIXES, RESERVED } from "./command-words.ts"
import { ANY, type Glob, globMatches, globOf, textGlob, UNKNOWN } from "./glob.ts"
import type { Match } from "./pattern.ts"
import { ASSIGNMENT, plainText, readCommand, writtenText } from "./shell-reader.ts"
import type { Work } from "./work.ts"

/** A command as an allow rule sees it. `problem` is to be read after "because". */
export type SimpleCommand =
  | { readonly simple: true; readonly text: string }
  | { readonly simple: false; readonly problem: string }

/** Words are joined by one blank; a blank inside a word is another character, so that quotes cannot move a border. */
export function simpleCommand(text: string, kind: "command" | "pattern" = "command"): SimpleCommand {
  const { parts, problem } = readCommand(text, kind)
  const [words] = parts
  const [first] = words ?? []
  if (problem !== undefined) return { simple: false, problem }
  if (words === undefined || first === undefined || first === "") return { simple: false, problem: "it is empty" }
  if (ASSIGNMENT.test(first)) return { simple: false, problem: "it sets a variable first" }
  if (RESERVED.has(first)) return { simple: false, problem: `"${first}" is a word of the shell's own` }
  const builtin = kind === "command" ? evaluatingBuiltin(words) : undefined
  if (builtin !== undefined) return { simple: false, problem: `"${builtin}" may run what stands in its arguments` }
  return { simple: true, text: words.join(" ") }
}

/** Everything that some shell gives a meaning: another shell than Bash may quote otherwise, and hide an operator from us. */
const SPECIAL = /["'\\`$;&|<>(){}!#%^\n\r]/

/** A command that is not for Bash, as an allow rule sees it: without quotes and operators of any kind, or not at all. */
export function plainCommand(text: string): SimpleCommand {
  if (!SPECIAL.test(text)) return simpleCommand(text)
  return { simple: false, problem: "it contains quotes or operators, and only Bash's are known" }
}

/** Builtins that carry out one of their arguments as a command. */
const CARRIES_OUT = new Set("eval trap mapfile readarray compgen complete bind".split(" "))

/** The builtin that would find a command in its arguments although quotes hide it from the shell itself. */
function evaluatingBuiltin(words: readonly string[]): string | undefined {
  const at = words.findIndex((word, index) => !PREFIXES.has(word) && (index === 0 || !word.startsWith("-")))
  const name = words[at]
  if (name === undefined || !(EVALUATORS.has(name) || CARRIES_OUT.has(name))) return undefined
  const given = words.slice(at + 1)
  // Only the name of a variable is evaluated there, and everybody prints signs.
  if (name === "printf" && !given.some((word) => word.startsWith("-v"))) return undefined
  return given.some((word) => /[;&|<>()$`\n]/.test(writtenText(word))) ? name : undefined
}

/** A pattern for commands, read once. */
export interface CommandPattern {
  /** Commands that an allow covers, if it can cover any. */
  readonly covers: Glob | undefined
  readonly whole: Glob
  /** Beginnings of commands. `isCertain`: the pattern is one simple command. */
  readonly start: { readonly glob: Glob; readonly isCertain: boolean } | undefined
}

export function commandPattern(source: string): CommandPattern {
  const simple = simpleCommand(source, "pattern")
  const { parts, problem } = readCommand(source, "pattern")
  const [words, ...more] = parts
  const start = words === undefined || more.length > 0 ? undefined : words.map(plainText).join(" ")
  return {
    covers: simple.simple ? globOf(simple.text) : undefined,
    whole: textGlob(collapse(source)),
    start:
      start === undefined
        ? undefined
        : { glob: globOf(start.replaceAll(UNKNOWN, ANY)), isCertain: problem === undefined },
  }
}

/** For an allow: a pattern covers one simple command and nothing else. */
export function commandIsCovered({ covers }: CommandPattern, command: SimpleCommand, work: Work): boolean {
  return covers !== undefined && command.simple && globMatches(covers, command.text, work)
}

/** For a deny or an ask. */
export function commandIsTouched({ whole, start }: CommandPattern, forms: CommandForms, work: Work): Match {
  if (globMatches(whole, forms.whole, work)) return "yes"
  return start === undefined ? "no" : formsMatch(start.glob, start.isCertain, forms, work)
}
