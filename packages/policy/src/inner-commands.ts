import { type Around, closed, closedBy, type Inner, never, shown } from "./inner.ts"
import { knownInner } from "./known-commands.ts"
import { KNOWN, listedOptions } from "./known-options.ts"
import { UNKNOWN } from "./matching.ts"
import { type Options, optionsOf, readOptions } from "./options.ts"
import {
  CARRIES_OUT_INPUT,
  EVALUATORS,
  FED,
  FIND,
  INTERPRETERS,
  knownName,
  RESERVED,
  RUN_WORDS,
  RUNNERS,
  SHELL_PROGRAMS,
  TARGETS,
  WRAPPERS,
  type Wrapper,
} from "./programs.ts"
import type { ShellWord } from "./shell-reading.ts"
import { writtenText } from "./shell-text.ts"

export const ASSIGNMENT = /^[A-Za-z_]\w*(?:\[.*\])?\+?=/

export function programOf(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1)
}

/** The name under which the tables have the program of a command. */
export function nameOf(words: readonly ShellWord[]): string {
  return knownName(words[0]?.text ?? "", isKnown)
}

/** Builtins that carry out one of their arguments as a command. */
const CARRIES_OUT = new Set("eval trap mapfile readarray compgen complete bind".split(" "))
/** Variables by which the shell and its programs find and run others. */
const LEADING =
  /^(?:PATH|LD_\w+|DYLD_\w+|BASH_ENV|ENV|IFS|PS4|PROMPT_COMMAND|SHELL|SHELLOPTS|BASHOPTS|EDITOR|VISUAL|PAGER|BROWSER|LESSOPEN|GIT_\w+|NODE_OPTIONS|NODE_PATH|PYTHON\w+|PERL5\w+|RUBY\w+|JAVA_TOOL_OPTIONS|npm_config_\w+)(?:[=+[]|$)/
const PLAIN_SHELLS = new Set(["bash", "sh", "dash", "ash"])
const TABLES = [KNOWN, WRAPPERS, INTERPRETERS, TARGETS, SHELL_PROGRAMS, CARRIES_OUT_INPUT, RUNNERS, RUN_WORDS, FED]
const isKnown = (name: string) => TABLES.some((table) => table.has(name))

/** Undefined for a command that does what it says and no more. */
export function innerOf(words: readonly ShellWord[], around: Around, depth = 0): Inner | undefined {
  const { hasInput } = around
  const texts = words.map((word) => word.text)
  const [first = ""] = texts
  const name = nameOf(words)
  if (RESERVED.has(first) && !WRAPPERS.has(name)) return never(`"${first}" is a word of the shell's own`)
  const evaluated = evaluatingBuiltin(texts)
  if (evaluated !== undefined) return never(`"${evaluated}" may run what stands in its arguments`)
  if (isQuestion(texts, name)) return undefined
  if (EVALUATORS.has(name) && texts.some((text, index) => index > 0 && LEADING.test(text))) {
    return closed(`${name} may change what the commands behind it run`)
  }
  if (SHELL_PROGRAMS.has(name)) return shellInner(words, { name, hasInput })
  if (name === "source" || name === ".") return fileInner(words, { at: 1, name, hasInput })
  if (name === "find") return findInner(words)
  if (name === "trap") return trapInner(texts)
  if (CARRIES_OUT_INPUT.has(name)) return talkInner(texts, { name, hasInput })
  const languages = INTERPRETERS.get(name)
  if (languages !== undefined) return interpreterInner(words, { name, ...around, options: listedOptions(languages) })
  const foreign = (at: number) => foreignInner(words.slice(at), { at, around, depth })
  return (
    wrapperInner(words, WRAPPERS.get(name) ?? [], { hasInput, foreign }) ??
    knownInner(words, name, { foreign, isOutside: around.isOutside }) ??
    otherInner(words, name)
  )
}

/** The texts for shells among these words, however far back: `docker run x sh -c "…"`, and all behind `eval`. */
export function textsForShells(words: readonly ShellWord[]): string[] {
  const evaluated = words.findIndex(({ text }) => text === "eval" || text === "trap")
  const behind =
    evaluated === -1 ? [] : words.slice(evaluated + 1, words[evaluated]?.text === "trap" ? evaluated + 2 : undefined)
  const texts = behind.length === 0 ? [] : [behind.map(({ text }) => text).join(" ")]
  for (const [index, { text }] of words.entries()) {
    const script = /^-[a-z]*c$/.test(words[index + 1]?.text ?? "") ? words[index + 2] : undefined
    if (script !== undefined && SHELL_PROGRAMS.has(knownName(text, isKnown))) texts.push(script.text)
  }
  return texts.map(writtenText)
}

/** Programs that run one another by name deeper than this are not read. */
const MAX_FOREIGN_DEPTH = 4

/** A program of a project or a registry: a pattern must name it, and whatever such a program must have named. */
function foreignInner(
  words: readonly ShellWord[],
  { at, around, depth }: { readonly at: number; readonly around: Around; readonly depth: number },
): Inner {
  if (depth >= MAX_FOREIGN_DEPTH) return closed("it is nested too deep")
  const inner = innerOf(words, around, depth + 1)
  if (inner === undefined) return { kind: "file", named: at + 1 }
  if (inner.kind === "file") return { kind: "file", named: at + inner.named }
  if (inner.kind === "writes") return { ...inner, named: at + (inner.named ?? 1) }
  return inner.kind === "never" || inner.kind === "closed" ? inner : closed("nobody can tell what it runs")
}

/** It only says what it is. */
function isQuestion(texts: readonly string[], name: string): boolean {
  const [, option = "", ...more] = texts
  if (name === "command" && /^-[vV]+$/.test(option)) return true
  return more.length === 0 && (option === "--version" || (option === "--help" && name !== "git"))
}

interface Wrapping {
  readonly hasInput: boolean
  /** The program from this word on, if it is none of the machine's. */
  readonly foreign: (at: number) => Inner
}

function wrapperInner(words: readonly ShellWord[], wrappers: readonly Wrapper[], how: Wrapping): Inner | undefined {
  const rest = words.slice(1)
  for (const wrapper of wrappers) {
    const { verbs = [] } = wrapper
    if (verbs.every((verb, index) => rest[index]?.text === verb)) return unwrap(words, { ...wrapper, ...how })
  }
  return undefined
}

function unwrap(words: readonly ShellWord[], wrapper: Wrapper & Wrapping): Inner | undefined {
  const { flags, valued, operands = 0, sets = false, replaces, verbs = [] } = wrapper
  const assigned: string[] = []
  const replaced: string[] = []
  let left = operands
  let at = 1 + verbs.length
  const from = at
  for (; at < words.length; at++) {
    const text = words[at]?.text ?? ""
    const isValued = valued?.test(text) === true
    if (!isCertain(words[at]) || (isValued && !isCertain(words[at + 1]))) {
      return closed("only the shell knows what stands before the command that it runs")
    }
    if (text === "--") continue
    if (replaces?.test(text)) replaced.push(isValued ? (words[at + 1]?.text ?? "") : text.slice(2))
    if (isValued) at++
    else if (flags?.test(text)) continue
    else if (text.startsWith("-")) return closed(`the option "${shown(text)}" may change what it runs`)
    else if (sets && ASSIGNMENT.test(text)) assigned.push(text)
    else if (left > 0) left--
    else break
  }
  const behind = words.slice(at)
  if (behind.length === 0) return unwrapNothing(words, { ...wrapper, isServed: operands > left || from > 1 })
  if (wrapper.isForeign) return wrapper.foreign(at)
  const prefix = words.slice(0, at).map((word) => word.text)
  if (wrapper.isScript) return { kind: "script", prefix, text: behind.map((word) => writtenText(word.text)).join(" ") }
  const command = behind.map((word) => replacedBy(word, replaced))
  const unknown = { text: UNKNOWN, isGlob: false, splits: true }
  const commands = [wrapper.adds ? [...command, unknown] : command]
  return { kind: "commands", prefix, commands, sets: assigned, named: at + 1 }
}

/** One word, all of which is known. */
function isCertain(word: ShellWord | undefined): boolean {
  return word === undefined || !(word.text.includes(UNKNOWN) || word.splits || word.isGlob)
}

function replacedBy(word: ShellWord, replaced: readonly string[]): ShellWord {
  const found = replaced.some((each) => each === "" || word.text.includes(each))
  return found ? { text: UNKNOWN, isGlob: false, splits: true } : word
}

/** Without a command: `env` prints, `xargs` echoes, `ssh host` carries out what it is given as input. */
function unwrapNothing(
  words: readonly ShellWord[],
  { isScript, hasInput, isServed }: Wrapper & Wrapping & { readonly isServed: boolean },
): Inner | undefined {
  if (isScript && hasInput) return never("it runs what it is given as input")
  return isServed || words.length === 1 ? undefined : closed("nobody can tell what it runs")
}

interface Given {
  readonly name: string
  readonly hasInput: boolean
}

const fromInput = ({ name, hasInput }: Given): Inner => {
  const because = `${name} runs what it is given as input`
  return hasInput ? never(because) : closed(because)
}

/** A file whose name a pattern must have. Some names are the input's. */
function fileInner(words: readonly ShellWord[], { at, ...given }: Given & { readonly at: number }): Inner | undefined {
  const word = words[at]
  if (word === undefined || /^-$|^\/+(?:dev|proc)\//.test(word.text)) return fromInput(given)
  if (!isCertain(word)) return closed(`only the shell knows what ${given.name} runs`)
  return { kind: "file", named: at + 1 }
}

function shellInner(words: readonly ShellWord[], given: Given): Inner | undefined {
  const texts = words.map((each) => each.text)
  const at = texts.findIndex((text, index) => index > 0 && !/^[-+]o?[a-z]*$/.test(text))
  const options = texts.slice(1, at === -1 ? undefined : at)
  const givesText = options.some((text) => /^-[a-z]*c/.test(text))
  const { name } = given
  const word = texts[at]
  if (options.some((text) => !/^-[celux]+$/.test(text)))
    return given.hasInput ? fromInput(given) : closed(`nobody can tell what ${name} runs`)
  if (at === -1 || word === undefined) return fromInput(given)
  if (!givesText) return fileInner(words, { at, ...given })
  if (!isCertain(words[at]) || word.startsWith("-")) return closed(`only the shell knows what ${name} runs`)
  if (!PLAIN_SHELLS.has(name)) return closed(`only Bash can be read, and ${name} may read it otherwise`)
  return { kind: "script", prefix: texts.slice(0, at), text: writtenText(word) }
}

function interpreterInner(
  words: readonly ShellWord[],
  given: Given & Around & { readonly options: Options },
): Inner | undefined {
  const { name, options } = given
  const module = words.findIndex(({ text }) => text === "-m" || text === "-jar")
  // Behind the file stand words for its program.
  const at = words.findIndex(({ text }, index) => index > 0 && (!text.startsWith("-") || text === "-"))
  const isModule = module !== -1 && at === module + 1 && (name === "python" || name === "java")
  const before = words.slice(1, isModule ? module : at === -1 ? undefined : at)
  const { unknown } = readOptions(before, options)
  if (unknown !== undefined) return given.hasInput && at === -1 ? fromInput(given) : closedBy(unknown, name)
  if (at === -1) return fromInput(given)
  const takesValue = [...options.short, ...options.long].some(
    ([option, { value }]) => value === "next" && before.at(-1)?.text.endsWith(option),
  )
  if (takesValue) return closed(`nobody can tell which file ${name} runs`)
  const isVerb = !isModule && options.short.size + options.long.size === 0 && !/[./]/.test(words[at]?.text ?? "")
  if (isVerb) return closed(`nobody can tell what ${name} runs`)
  // `python -m pip` is pip.
  if (isModule && KNOWN.has(nameOf(words.slice(at))))
    return foreignInner(words.slice(at), { at, around: given, depth: 1 })
  return fileInner(words, { at, ...given })
}

/** Editors, debuggers and clients that know commands which run programs. */
function talkInner(texts: readonly string[], given: Given): Inner | undefined {
  if (given.hasInput) return fromInput(given)
  const isTold = (text: string) => RUNNERS.has(given.name) || /^[-+]/.test(text) || text.includes(UNKNOWN)
  const hasMore = texts.length > 2 || texts.slice(1).some(isTold)
  return hasMore ? closed(`${given.name} may run what it is told`) : undefined
}

function trapInner(texts: readonly string[]): Inner | undefined {
  const [, script] = texts
  if (script === undefined || script === "-" || /^-[lp]$/.test(script)) return undefined
  return { kind: "script", prefix: ["trap"], text: writtenText(script) }
}

const FINDS = optionsOf(FIND, true)

/** `-exec` takes a command up to `;`, or up to `+` behind `{}`, as often as it is written. */
function findInner(words: readonly ShellWord[]): Inner | undefined {
  const prefix: ShellWord[] = []
  const commands: ShellWord[][] = []
  let inner: ShellWord[] | undefined
  let named = 0
  for (const [index, word] of words.entries()) {
    const { text } = word
    if (inner !== undefined && (text === ";" || (text === "+" && words[index - 1]?.text === "{}"))) inner = undefined
    else if (inner !== undefined)
      inner.push(text.includes("{}") ? { text: text.replaceAll("{}", UNKNOWN), isGlob: false, splits: false } : word)
    else if (/^-(?:exec|execdir|ok|okdir)$/.test(text)) {
      inner = []
      commands.push(inner)
      named = index + 2
    } else prefix.push(word)
  }
  const { unknown, writing } = readOptions(
    prefix.slice(1).filter(({ text }) => !/^[()!,]$/.test(text)),
    FINDS,
  )
  if (unknown !== undefined) return closedBy(unknown, "find")
  if (commands.length === 0) {
    return writing.length === 0
      ? undefined
      : { kind: "writes", words: writing, names: (start) => writing.includes(start) }
  }
  if (writing.length > 0) return closed("it deletes or writes, and runs other commands too")
  if (inner !== undefined || commands.some((command) => command.length === 0)) {
    return closed("nobody can tell where the command of find ends")
  }
  return { kind: "commands", prefix: prefix.map(({ text }) => text), commands, sets: [], named }
}

/** A word that may turn out to be one word of a program's own, such as `run`: a star in it, or a part that a command prints. */
const mayBeVerb = ({ text, isGlob, splits }: ShellWord) =>
  splits ||
  ((isGlob || text.includes(UNKNOWN)) && /^[\w-]*$/.test(text.replaceAll(UNKNOWN, "").replace(/[*?[\]]/g, "")))

/** Runners of which nothing is known but that they are, and programs that run what stands behind one of their words. */
function otherInner(words: readonly ShellWord[], name: string): Inner | undefined {
  const runs = KNOWN.has(name) ? undefined : RUN_WORDS.get(name)
  const isRun = (word: ShellWord) => runs?.test(word.text) === true || mayBeVerb(word)
  if (runs !== undefined && words.slice(1).some(isRun)) return closed(`${name} may run what stands behind it`)
  if (!RUNNERS.has(name) || WRAPPERS.has(name) || words.length === 1) return undefined
  const given = words.slice(1).map((word) => word.text)
  if (name === "ip" && !given.some((text) => text === "exec" || text.includes(UNKNOWN) || text.startsWith("-b"))) {
    return undefined
  }
  if (name === "jobs" && !given.includes("-x")) return undefined
  return closed(`${name} may run what stands behind it`)
}

/** `command` and `builtin` are followed by the builtin itself. */
const PREFIXES: ReadonlySet<string> = new Set(["command", "builtin"])

/** The builtin that would find a command in its arguments although quotes hide it from the shell itself. */
function evaluatingBuiltin(words: readonly string[]): string | undefined {
  const at = words.findIndex((word, index) => !PREFIXES.has(word) && (index === 0 || !word.startsWith("-")))
  const name = words[at]
  if (name === undefined || !(EVALUATORS.has(name) || CARRIES_OUT.has(name))) return undefined
  const given = words.slice(at + 1)
  // Only the name of a variable is evaluated there, and everybody prints signs.
  if (name === "printf" && !given.some((word) => word.startsWith("-v"))) return undefined
  return given.some((word) => /[;&|<>()$`\n]/.test(writtenText(word)) || word.includes(UNKNOWN)) ? name : undefined
}
