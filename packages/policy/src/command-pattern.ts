import { ANY, accepts, GAP, type Match, textPattern, UNKNOWN } from "./pattern.ts"
import { readCommand } from "./shell-reader.ts"

/** A command as an allow rule sees it. `problem` is to be read after "because". */
export type SimpleCommand =
  | { readonly simple: true; readonly text: string }
  | { readonly simple: false; readonly problem: string }

const ASSIGNMENT = /^[A-Za-z_]\w*(?:\[.*\])?\+?=/
const RESERVED = new Set(
  "if then elif else fi for while until do done case esac select function time coproc repeat foreach noglob nocorrect [[ ]]".split(
    " ",
  ),
)
/** Programs that run what stands behind them, somewhere. */
const RUNNERS = new Set(
  (
    "bash sh zsh dash ksh fish eval exec command builtin env sudo doas su nohup nice ionice timeout stdbuf setsid " +
    "chroot xargs parallel watch find busybox script strace time"
  ).split(" "),
)
const MAX_STARTS = 32

/** Words are joined by one blank; a blank inside a word is another character, so that quotes cannot move a border. */
export function simpleCommand(text: string, kind: "command" | "pattern" = "command"): SimpleCommand {
  const { parts, problem } = readCommand(text, kind)
  const [words] = parts
  const [first] = words ?? []
  if (problem !== undefined) return { simple: false, problem }
  if (words === undefined || first === undefined || first === "") return { simple: false, problem: "it is empty" }
  if (ASSIGNMENT.test(first)) return { simple: false, problem: "it sets a variable first" }
  if (RESERVED.has(first)) return { simple: false, problem: `"${first}" is a word of the shell's own` }
  return { simple: true, text: words.join(" ") }
}

/** Everything that some shell gives a meaning: another shell than Bash may quote otherwise, and hide an operator from us. */
const SPECIAL = /["'\\`$;&|<>(){}!#%^\n\r]/

/** A command that is not for Bash, as an allow rule sees it: without quotes and operators of any kind, or not at all. */
export function plainCommand(text: string): SimpleCommand {
  if (!SPECIAL.test(text)) return simpleCommand(text)
  return { simple: false, problem: "it contains quotes or operators, and only Bash's are known" }
}

/** For an allow: a pattern covers one simple command and nothing else. */
export function commandIsCovered(pattern: string, command: SimpleCommand): boolean {
  if (!command.simple) return false
  const wanted = simpleCommand(pattern, "pattern")
  return wanted.simple && accepts(wanted.text, command.text)
}

/** The forms of a command that a deny or an ask is tried on. */
export interface CommandForms {
  readonly whole: string
  readonly starts: readonly string[]
}

/**
 * Generous: every command in a compound one, whether the quotes are taken for quotes or for nothing (`bash -c "…"`),
 * without the variables set before it, with and without the folder of its program, and at every word behind a program that
 * runs others.
 */
export function commandForms(text: string): CommandForms {
  const readings = [readCommand(text), readCommand(text.replace(/["']/g, " "))]
  const starts = readings.flatMap(({ parts }) => parts.flatMap((words) => startsOf(words)))
  return { whole: collapse(text), starts: [...new Set(starts)] }
}

/** For a deny or an ask. */
export function commandIsTouched(pattern: string, forms: CommandForms): Match {
  if (accepts(textPattern(collapse(pattern)), forms.whole)) return "yes"
  const { parts, problem } = readCommand(pattern, "pattern")
  const [words, ...more] = parts
  if (words === undefined || more.length > 0) return "no"
  const wanted = words.join(" ").replaceAll(GAP, " ").replaceAll(UNKNOWN, ANY)
  if (problem === undefined && forms.starts.some((start) => accepts(wanted, start))) return "yes"
  return forms.starts.some((start) => accepts(wanted, start, true)) ? "maybe" : "no"
}

function startsOf(words: readonly string[]): string[] {
  const skipped = words.findIndex((word) => !ASSIGNMENT.test(word) && !RESERVED.has(word))
  if (skipped === -1) return []
  const command = words.slice(skipped)
  const count = RUNNERS.has(programOf(command[0] ?? "")) ? command.length : 1
  const starts = command.slice(0, Math.min(count, MAX_STARTS)).flatMap((first, index) => {
    const rest = command.slice(index + 1)
    return [...new Set([first, programOf(first)])].map((word) => [word, ...rest].join(" ").replaceAll(GAP, " "))
  })
  return count > MAX_STARTS ? [...starts, UNKNOWN] : starts
}

function programOf(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1)
}

function collapse(text: string): string {
  return text.slice(0, MAX_WHOLE_CHARS).replace(/\s+/g, " ").trim()
}

const MAX_WHOLE_CHARS = 8192
