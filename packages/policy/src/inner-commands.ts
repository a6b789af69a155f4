import { UNKNOWN } from "./matching.ts"
import {
  ALWAYS_WRITE,
  EVALUATORS,
  INTERPRETERS,
  RESERVED,
  RUNNERS,
  RUNS,
  SHELL_PROGRAMS,
  WRAPPERS,
  WRITES,
  type Wrapper,
} from "./programs.ts"
import type { ShellWord } from "./shell-reading.ts"
import { writtenText } from "./shell-text.ts"

/** What a command does beyond its own program, as far as its words tell. */
export type Inner =
  /** It runs other commands, and these are they. `prefix` is the command without them. */
  | {
      readonly kind: "commands"
      readonly prefix: readonly string[]
      readonly commands: readonly (readonly ShellWord[])[]
      readonly sets: readonly string[]
      /** How many words a pattern for the whole must name: to the end of the program that is run. */
      readonly named: number
    }
  | { readonly kind: "script"; readonly prefix: readonly string[]; readonly text: string }
  /** It runs the file or target that this word names: a pattern must have so many words of it. */
  | { readonly kind: "file"; readonly named: number }
  /** It writes because of these words, and a pattern must have them. */
  | { readonly kind: "writes"; readonly words: readonly string[]; readonly by: RegExp }
  /** Only a pattern without stars covers it. */
  | { readonly kind: "closed"; readonly because: string }
  /** Nothing covers it. */
  | { readonly kind: "never"; readonly because: string }

export const ASSIGNMENT = /^[A-Za-z_]\w*(?:\[.*\])?\+?=/

export function programOf(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1)
}

/** Builtins that carry out one of their arguments as a command. */
const CARRIES_OUT = new Set("eval trap mapfile readarray compgen complete bind".split(" "))
const PLAIN_SHELLS = new Set(["bash", "sh", "dash", "ash"])

/** Undefined for a command that does what it says and no more. */
export function innerOf(words: readonly ShellWord[], hasInput: boolean): Inner | undefined {
  const texts = words.map((word) => word.text)
  const [first = ""] = texts
  const program = programOf(first).toLowerCase()
  const name = program in RUNS || program in WRITES ? program : program.replace(/[\d.]+$/, "")
  if (RESERVED.has(first) && !(program in WRAPPERS)) {
    return { kind: "never", because: `"${first}" is a word of the shell's own` }
  }
  const evaluated = evaluatingBuiltin(texts)
  if (evaluated !== undefined) {
    return { kind: "never", because: `"${evaluated}" may run what stands in its arguments` }
  }
  if (SHELL_PROGRAMS.has(program)) return shellInner(texts, hasInput)
  if (program === "find" || program === "gfind") return findInner(words)
  if (program === "trap") return trapInner(texts)
  if (program === "command" && /^-[vV]+$/.test(texts[1] ?? "")) return undefined
  if (INTERPRETERS.has(program) || INTERPRETERS.has(name)) return interpreterInner(texts, { name, hasInput })
  return optionsInner(words, name) ?? wrapperInner(words, WRAPPERS[program] ?? []) ?? otherInner(words, program)
}

const closed = (because: string): Inner => ({ kind: "closed", because })

/** A word that may turn out to be an option. */
function mayBeOption({ text, isGlob }: ShellWord): boolean {
  return text.includes(UNKNOWN) || (isGlob && /^[*?[]/.test(text))
}

function optionsInner(words: readonly ShellWord[], name: string): Inner | undefined {
  const given = words.slice(1)
  const { [name]: runs } = RUNS
  const { [name]: writes } = WRITES
  if (runs === undefined && writes === undefined) return undefined
  if (given.some(mayBeOption)) return closed(`only the shell knows with which options it runs ${name}`)
  const isDockerExec = (name === "docker" || name === "podman") && given.some(({ text }) => text === "exec")
  const running = isDockerExec ? undefined : given.find(({ text }) => runs?.test(text))
  if (running !== undefined) return closed(`"${shown(running.text)}" makes ${name} run something else`)
  const found = given.filter(({ text }) => writes?.test(text)).map(({ text }) => text)
  if (found.length > 0 && writes !== undefined) {
    const [program = name] = words.map(({ text }) => text)
    return { kind: "writes", words: ALWAYS_WRITE.has(name) ? [program] : found, by: writes }
  }
  if (name !== "make") return undefined
  const last = words.findLastIndex(({ text }) => !text.startsWith("-"))
  return last <= 0 ? undefined : { kind: "file", named: last + 1 }
}

function wrapperInner(words: readonly ShellWord[], wrappers: readonly Wrapper[]): Inner | undefined {
  const [first, ...rest] = words
  for (const wrapper of wrappers) {
    const { verbs = [] } = wrapper
    if (first !== undefined && verbs.every((verb, index) => rest[index]?.text === verb)) {
      return unwrap(words, 1 + verbs.length, wrapper)
    }
  }
  return undefined
}

function unwrap(words: readonly ShellWord[], from: number, wrapper: Wrapper): Inner | undefined {
  const { flags, valued, operands = 0, sets = false } = wrapper
  const assigned: string[] = []
  let left = operands
  let at = from
  for (; at < words.length; at++) {
    const text = words[at]?.text ?? ""
    if (text.includes(UNKNOWN)) return closed("only the shell knows what stands before the command that it runs")
    if (text === "--") continue
    if (valued?.test(text)) at++
    else if (flags?.test(text)) continue
    else if (text.startsWith("-")) return closed(`the option "${shown(text)}" may change what it runs`)
    else if (sets && ASSIGNMENT.test(text)) assigned.push(text)
    else if (left > 0) left--
    else break
  }
  const behind = words.slice(at)
  if (behind.length === 0) return operands > left || from > 1 ? undefined : bare(words)
  const prefix = words.slice(0, at).map((word) => word.text)
  if (wrapper.isScript) return { kind: "script", prefix, text: behind.map((word) => writtenText(word.text)).join(" ") }
  const commands = [wrapper.adds ? [...behind, { text: UNKNOWN, isGlob: false }] : behind]
  return { kind: "commands", prefix, commands, sets: assigned, named: at + 1 }
}

/** Without a command: `env` prints, `xargs` echoes, `sudo -l` lists. */
function bare(words: readonly ShellWord[]): Inner | undefined {
  return words.length === 1 ? undefined : closed("nobody can tell what it runs")
}

function shellInner(texts: readonly string[], hasInput: boolean): Inner | undefined {
  const at = texts.findIndex((text, index) => index > 0 && !/^[-+]o?[a-z]*$/.test(text))
  const options = texts.slice(1, at === -1 ? undefined : at)
  const givesText = options.some((text) => /^-[a-z]*c/.test(text))
  const program = programOf(texts[0] ?? "")
  const word = texts[at]
  if (options.some((text) => !/^-[celux]+$/.test(text))) return closed(`nobody can tell what ${program} runs`)
  if (at === -1 || word === undefined) {
    return hasInput
      ? { kind: "never", because: `${program} runs what it is given as input` }
      : closed(`${program} runs what it is given as input`)
  }
  if (word.includes(UNKNOWN)) return closed(`only the shell knows what ${program} runs`)
  if (!givesText) return { kind: "file", named: at + 1 }
  if (!PLAIN_SHELLS.has(program)) return closed(`only Bash can be read, and ${program} may read it otherwise`)
  return { kind: "script", prefix: texts.slice(0, at), text: writtenText(word) }
}

function interpreterInner(texts: readonly string[], how: { name: string; hasInput: boolean }): Inner | undefined {
  const { name, hasInput } = how
  const running = texts.slice(1).find((text) => RUNS[name]?.test(text) === true)
  if (running !== undefined) return closed(`"${shown(running)}" makes ${name} run something else`)
  if (texts.slice(1).some((text) => text.includes(UNKNOWN))) return closed(`only the shell knows what ${name} runs`)
  const at = texts.findIndex((text, index) => index > 0 && !text.startsWith("-"))
  if (at !== -1) return { kind: "file", named: at + 1 }
  if (texts.some((text) => /^(?:-[vVh]|--version|--help)$/.test(text))) return undefined
  const because = `${name} runs what it is given as input`
  return hasInput ? { kind: "never", because } : closed(because)
}

function trapInner(texts: readonly string[]): Inner | undefined {
  const [, script] = texts
  if (script === undefined || script === "-" || /^-[lp]$/.test(script)) return undefined
  return { kind: "script", prefix: ["trap"], text: writtenText(script) }
}

/** `-exec` takes a command up to `;` or `+`, as often as it is written. */
function findInner(words: readonly ShellWord[]): Inner | undefined {
  if (words.some(mayBeOption)) return closed("only the shell knows with which options it runs find")
  const by = WRITES["find"] ?? /^-delete$/
  const writing = words.filter(({ text }) => by.test(text)).map(({ text }) => text)
  const prefix: string[] = []
  const commands: ShellWord[][] = []
  let inner: ShellWord[] | undefined
  let named = 0
  for (const [index, word] of words.entries()) {
    if (inner === undefined) prefix.push(word.text)
    else if (word.text === ";" || word.text === "+") inner = undefined
    else inner.push(word.text.includes("{}") ? { text: word.text.replaceAll("{}", UNKNOWN), isGlob: false } : word)
    if (inner === undefined && /^-(?:exec|execdir|ok|okdir)$/.test(word.text)) {
      inner = []
      commands.push(inner)
      named = index + 2
    }
  }
  if (commands.length === 0) return writing.length === 0 ? undefined : { kind: "writes", words: writing, by }
  if (writing.length > 0) return closed("it deletes or writes, and runs other commands too")
  if (inner !== undefined || commands.some((command) => command.length === 0)) {
    return closed("nobody can tell where the command of find ends")
  }
  return { kind: "commands", prefix, commands, sets: [], named }
}

/** Runners of which nothing is known but that they are. */
function otherInner(words: readonly ShellWord[], program: string): Inner | undefined {
  if (!RUNNERS.has(program) || program in WRAPPERS || words.length === 1) return undefined
  const given = words.slice(1).map((word) => word.text)
  if (program === "ip" && !given.some((text) => text === "exec" || text.includes(UNKNOWN) || text.startsWith("-b"))) {
    return undefined
  }
  if (program === "jobs" && !given.includes("-x")) return undefined
  return closed(`${program} may run what stands behind it`)
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

function shown(word: string): string {
  const text = writtenText(word).replaceAll(UNKNOWN, "…")
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
