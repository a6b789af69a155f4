import {
  ANY,
  type Glob,
  globCouldMatch,
  globMatches,
  globMatchesAt,
  globOf,
  type Match,
  textGlob,
  UNKNOWN,
  type Work,
} from "./matching.ts"
import { ASSIGNMENT, MAX_COMMAND_CHARS, plainText, READING, readCommand, writtenText } from "./shell-reader.ts"

/** The shell's own words. Behind those of them that take a command stands one. */
const RESERVED: ReadonlySet<string> = new Set(
  "if then elif else fi for while until do done case esac select function time coproc repeat foreach noglob nocorrect [[ ]]".split(
    " ",
  ),
)

/** Programs, builtins and words of the shell that run what stands behind them, somewhere. */
const RUNNERS: ReadonlySet<string> = new Set(
  // Shells, and what carries out text as one.
  (
    "bash sh zsh dash ksh mksh ash csh tcsh fish rbash pwsh busybox toybox eval trap exec command builtin time coproc repeat - " +
    // Builtins that take a command as an option's value.
    "jobs mapfile readarray compgen complete bind " +
    // As somebody else.
    "env sudo doas su runuser pkexec run0 gosu su-exec setpriv setuidgid chpst softlimit envuidgid capsh sg newgrp " +
    // In another way.
    "nohup nice ionice timeout gtimeout stdbuf unbuffer setsid chrt taskset numactl cpulimit prlimit setarch linux32 linux64 " +
    "catchsegv eatmydata fakeroot fakechroot faketime proot torsocks proxychains proxychains4 xvfb-run dbus-run-session " +
    "dbus-launch ssh-agent flock lockf daemonize start-stop-daemon systemd-run systemd-inhibit systemd-nspawn machinectl " +
    // Somewhere else.
    "chroot unshare nsenter bwrap firejail ssh autossh sshpass rsh mosh ip tmux screen script expect at batch " +
    // Under observation, again and again, or once for each.
    "strace ltrace perf gdb lldb valgrind rr watch watchexec entr nodemon hyperfine xargs gxargs parallel rush find gfind fd fdfind " +
    // From a set of packages or variables.
    "npx bunx uvx pipx nix-shell direnv cross-env dotenv env-cmd"
  ).split(" "),
)

/** Builtins that evaluate names and numbers: `a[$(command)]` among their arguments runs the command. */
const EVALUATORS: ReadonlySet<string> = new Set(
  "printf test [ read declare typeset local export readonly unset let wait getopts print integer float".split(" "),
)

/** `command` and `builtin` are followed by the builtin itself. */
const PREFIXES: ReadonlySet<string> = new Set(["command", "builtin"])

/** The forms of a command that a deny or an ask is tried on. They are worked out once for all rules. */
export interface CommandForms {
  /** As it is written, with single blanks. */
  readonly whole: string
  readonly parts: readonly CommandPart[]
}

/** One command among others, and the places in it where a program may begin. */
interface CommandPart {
  readonly text: string
  readonly starts: readonly number[]
  /** For each start, where the first UNKNOWN behind it is, or -1. */
  readonly unknowns: readonly number[]
  readonly lastUnknown: number
}

/** Commands within commands (`bash -c "bash -c …"`) deeper than this are not read. */
const MAX_DEPTH = 8
/** In `-lc"rm x"` the command begins somewhere in the first word. */
const MAX_GLUED_CHARS = 16

/**
 * Generous: every command in a compound one, whether the quotes are taken for quotes or for nothing, without the
 * variables set before it, with and without the folder of its program, at every word behind a program that runs others,
 * and what such a program is given to run as one word.
 */
export function commandForms(text: string, work: Work): CommandForms {
  const parts: CommandPart[] = []
  const add = (part: CommandPart) => void parts.push(part)
  readParts({ text, depth: 0 }, add, work)
  // As if there were no quotes: some program behind them may not know them.
  if (text.length <= MAX_COMMAND_CHARS && /["']/.test(text))
    readParts({ text: text.replace(/\\*["']/g, " ") }, add, work)
  return { whole: collapse(text), parts }
}

/** For a deny or an ask. `isCertain`: the pattern is one simple command. */
function formsMatch(glob: Glob, isCertain: boolean, { parts }: CommandForms, work: Work): Match {
  const isFound = parts.some(({ text, starts }) => globMatchesAt(glob, text, starts, work))
  if (isFound) return isCertain ? "yes" : "maybe"
  return parts.some((part) => couldMatch(glob, part, work)) ? "maybe" : "no"
}

function couldMatch(glob: Glob, { text, starts, unknowns, lastUnknown }: CommandPart, work: Work): boolean {
  if (lastUnknown === -1) return false
  return starts.some((from, index) => {
    const firstUnknown = unknowns[index] ?? -1
    return firstUnknown !== -1 && globCouldMatch(glob, { text, from, firstUnknown, lastUnknown }, work)
  })
}

function collapse(text: string): string {
  return text.slice(0, MAX_COMMAND_CHARS).replace(/\s+/g, " ").trim()
}

/** Text to read: the request itself, or a word in it that some program may run. */
interface Inner {
  readonly text: string
  /** How many programs stand around it; undefined if words in it are only words. */
  readonly depth?: number
  /** The first part is no command, or begins somewhere in its first word. */
  readonly first?: "text" | "glued"
}

type Add = (part: CommandPart) => void

function readParts({ text, depth, first }: Inner, add: Add, work: Work): void {
  work.spend(READING * Math.min(text.length, MAX_COMMAND_CHARS))
  const { parts, globbed } = readCommand(text)
  for (const [index, words] of parts.entries()) {
    if (index === 0 && first === "text") continue
    const skipped = words.findIndex((word) => !ASSIGNMENT.test(word) && (!RESERVED.has(word) || RUNNERS.has(word)))
    if (skipped === -1) continue
    const command = words.slice(skipped)
    const program = programOf(command[0] ?? "")
    const isRunner = RUNNERS.has(program)
    if (isRunner)
      add(
        partOf(
          command.map((word) => (globbed.has(word) ? unclearGlob(word) : word)),
          "all",
        ),
      )
    else add(partOf(command, index === 0 && first === "glued" ? "glued" : "first"))
    if (depth === undefined || (!isRunner && !EVALUATORS.has(program))) continue
    for (const word of command.slice(1)) readInner(word, { isRunner, depth: depth + 1 }, add, work)
  }
}

/** Reads a word that a program may run as a command. */
function readInner(word: string, how: { isRunner: boolean; depth: number }, add: Add, work: Work): void {
  const { isRunner, depth } = how
  const text = writtenText(word)
  if (!/[\s;&|<>()$`\\'"]/.test(text)) return
  if (depth > MAX_DEPTH) return add({ text: UNKNOWN, starts: [0], unknowns: [0], lastUnknown: 0 })
  if (!isRunner) return readParts({ text, depth, first: "text" }, add, work)
  const option = /^--[^=\s]*=/.exec(text)?.[0] ?? ""
  const isGlued = option === "" && text.startsWith("-")
  readParts({ text: text.slice(option.length), depth, ...(isGlued ? { first: "glued" } : {}) }, add, work)
}

/** A pattern for file names can become the name of a program, unless it is one for files of a kind (`*.ts`). */
function unclearGlob(word: string): string {
  if (!word.startsWith("/") && programOf(word).startsWith("*")) return word
  return word.replace(/[*?]|\[[^\]]*\]?/g, UNKNOWN)
}

function partOf(command: readonly string[], which: "all" | "first" | "glued"): CommandPart {
  const starts = new Set<number>()
  let text = ""
  for (const [index, word] of command.entries()) {
    if (index > 0) text += " "
    const at = text.length
    const plain = plainText(word)
    text += plain
    if (index > 0 && which !== "all") continue
    starts.add(at)
    // zsh finds the file of a program behind an equals sign.
    if (plain.startsWith("=")) starts.add(at + 1)
    starts.add(at + plain.lastIndexOf("/", plain.search(/ |$/)) + 1).add(at + plain.lastIndexOf("/") + 1)
    if (which === "glued") for (let each = 1; each < Math.min(plain.length, MAX_GLUED_CHARS); each++) starts.add(each)
  }
  const sorted = [...starts].sort((a, b) => a - b)
  return { text, starts: sorted, unknowns: unknownsBehind(text, sorted), lastUnknown: text.lastIndexOf(UNKNOWN) }
}

/** Goes through the text once. */
function unknownsBehind(text: string, starts: readonly number[]): number[] {
  let next = text.indexOf(UNKNOWN)
  return starts.map((start) => {
    while (next !== -1 && next < start) next = text.indexOf(UNKNOWN, next + 1)
    return next
  })
}

function programOf(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1)
}

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
