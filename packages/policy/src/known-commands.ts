import { type Around, closed, closedBy, type Inner, plainWord, shown } from "./inner.ts"
import {
  BEFORE_VERB,
  COMPILER_OPTION,
  KNOWN,
  listedOptions,
  NO_SCRIPTS,
  RUNS_OPERANDS,
  RUNS_SCRIPTS,
} from "./known-options.ts"
import { UNKNOWN } from "./matching.ts"
import { type GivenOptions, mayBeOption, type Options, readOptions } from "./options.ts"
import { ALWAYS_WRITE, TARGETS, WRITES_TO_OPERAND } from "./programs.ts"
import { isHarmlessSed } from "./sed-script.ts"
import type { ShellWord } from "./shell-reading.ts"
import { writtenText } from "./shell-text.ts"

interface Surrounded extends Pick<Around, "isOutside"> {
  /** For a program of the project that a word names. */
  readonly foreign: (at: number) => Inner
}

/** The harm that a program's options, verbs and operands do. Undefined if they do none, or nothing is known of the program. */
export function knownInner(words: readonly ShellWord[], name: string, around: Surrounded): Inner | undefined {
  const targets = TARGETS.get(name)
  if (targets !== undefined) return targetsInner(words, name, listedOptions(targets))
  const listed = KNOWN.get(name)
  if (listed === undefined) return undefined
  if (typeof listed === "string")
    return optionsInner(words, { name, from: 1, options: listedOptions(listed), ...around })
  return verbInner(words, { name, verbs: listed, ...around })
}

interface OptionQuestion extends Pick<Around, "isOutside"> {
  readonly name: string
  /** The index at which the options begin. */
  readonly from: number
  readonly options: Options
  /** How many words a pattern must name in any case. */
  readonly named?: number
}

function optionsInner(words: readonly ShellWord[], question: OptionQuestion): Inner | undefined {
  const { name, from, options } = question
  const given = readOptions(plainWords(words.slice(from), name, options), options)
  if (given.unknown !== undefined) return closedBy(given.unknown, name)
  const because = programProblem(given, name)
  if (because !== undefined) return closed(because)
  const [program = name] = words.map(({ text }) => text)
  const most = WRITES_TO_OPERAND.get(name) ?? Number.POSITIVE_INFINITY
  if (ALWAYS_WRITE.has(name) ? words.length > 1 && !isSpider(given) : given.operands.length > most) {
    return { kind: "writes", words: [program], names: () => false }
  }
  const outside = RUNS_OPERANDS.has(name) ? given.operands.findLast((each) => leadsOutside(each, question)) : undefined
  const named = outside === undefined ? question.named : words.lastIndexOf(outside) + 1
  if (given.writing.length > 0) {
    const names = (start: string) => readOptions([plainWord(start)], options).writing.length > 0
    return { kind: "writes", words: given.writing, names, ...(named === undefined ? {} : { named }) }
  }
  return named === undefined ? undefined : { kind: "file", named }
}

/** A file that may be none of the session's folder. Behind `::` stands the name of a test. */
function leadsOutside({ text }: ShellWord, { isOutside }: Pick<Around, "isOutside">): boolean {
  const [path = ""] = writtenText(text).split("::")
  return path.includes(UNKNOWN) || (/^[/~]|\\|^[A-Za-z]:|(?:^|\/)\.\.(?:\/|$)/.test(path) && isOutside(path))
}

const isSpider = ({ values }: GivenOptions) =>
  values.some(({ name, text }) => (name === "O" || name === "output-document") && text === "/dev/null")

/** Words that a program reads in a way of its own are taken out, if they do no harm. */
function plainWords(words: readonly ShellWord[], name: string, options: Options): readonly ShellWord[] {
  if (isCompiler(name)) {
    return words.filter(({ text, splits, isGlob }) => splits || isGlob || !COMPILER_OPTION.test(text))
  }
  const [first, ...rest] = words
  // `tar xzf a`: letters without a dash, whose values follow one by one.
  if (name !== "tar" || first === undefined || first.text.startsWith("-")) return words
  const isKnownLetters =
    !mayBeOption(first) && !first.isGlob && first.text.split("").every((letter) => options.short.has(letter))
  return isKnownLetters ? rest : [{ ...first, text: `--${first.text}` }, ...rest]
}

const isCompiler = (name: string) => /^(?:gcc|cc|[cg]\+\+|clang(?:\+\+)?)$/.test(name)

/** Operands that are options or commands in disguise. */
const MORE_THAN_FILES: ReadonlyMap<string, RegExp> = new Map([
  ["less", /^\+/],
  ["more", /^\+/],
  ["dotnet", /^[@/]/],
  // A file with more options.
  ...["pytest", "py.test", "ruff", "mypy", "tsc"].map((name) => [name, /^@/] as const),
])

/** Programs that are given a text of their own language, or an operand that means more than a file. */
function programProblem(given: GivenOptions, name: string): string | undefined {
  const { operands, values } = given
  const [first] = operands
  if (name === "sed") {
    const scripts = values.filter((value) => value.name === "e" || value.name === "expression").map(({ text }) => text)
    if (scripts.length === 0) scripts.push(...operands.slice(0, first?.text === "" ? 2 : 1).map(globless))
    const isHarmless = scripts.every((text) => isPlainText(text) && isHarmlessSed(writtenText(text)))
    return isHarmless ? undefined : "its script may run or write something"
  }
  if (name.endsWith("awk")) return awkProblem(first === undefined ? "" : globless(first))
  if (name === "curl") {
    const formats = values.filter((value) => value.name === "w" || value.name === "write-out")
    return formats.some(({ text }) => /^@|%output/.test(text) || !isPlainText(text))
      ? "its format may write a file"
      : undefined
  }
  if (name === "date") return operands.some(({ text }) => !text.startsWith("+")) ? "it may set the clock" : undefined
  if (name === "git")
    return operands.some(({ text }) => text.includes("::")) ? "its address may run a program" : undefined
  if (name === "tar") {
    // `tar xf h:x` has its archive among the operands.
    const archives = [...values.filter((value) => value.name === "f" || value.name === "file"), ...operands]
    return archives.some(({ text }) => text.includes(":")) ? "its archive may be on another machine" : undefined
  }
  const more = isCompiler(name) ? /^@/ : MORE_THAN_FILES.get(name)
  const special = operands.find(({ text }) => more?.test(text) === true)
  return special === undefined ? undefined : `"${shown(special.text)}" may be more than a file`
}

/** A pattern for file names may become any text. */
const globless = ({ text, isGlob }: ShellWord) => (isGlob ? UNKNOWN : text)

/** One line, all of which is known. */
const isPlainText = (word: string) => !word.includes(UNKNOWN) && !/[\n\r]/.test(writtenText(word))

/** `||` and `>=` are no pipe and no file. */
function awkProblem(program: string): string | undefined {
  const runs = /system|getline|[|>@]/.test(writtenText(program).replace(/\|\||>=/g, ""))
  return runs || !isPlainText(program) ? "its program may run or write something" : undefined
}

interface VerbQuestion extends Surrounded {
  readonly name: string
  readonly verbs: Readonly<Record<string, string>>
}

/** A program with verbs: what stands before the verb may change what the verb means. */
function verbInner(words: readonly ShellWord[], { name, verbs, foreign, isOutside }: VerbQuestion): Inner | undefined {
  const before = BEFORE_VERB.get(name)
  let at = 1
  while (before?.has(words[at]?.text ?? "")) at++
  const verb = words[at]
  if (verb === undefined) return undefined
  if (mayBeOption(verb) || verb.isGlob || verb.text.startsWith("-")) return closedBy(verb, name)
  const two = `${verb.text} ${words[at + 1]?.text ?? ""}`
  const [key, length] = Object.hasOwn(verbs, two) ? [two, 2] : [verb.text, 1]
  const from = at + length
  const list = Object.hasOwn(verbs, key) ? verbs[key] : undefined
  if (list !== undefined) {
    const isScript = list.startsWith("named ")
    const end = isScript || /^(?:test|t|start|stop)$/.test(key) ? words.findIndex(({ text }) => text === "--") : -1
    // Behind `--` stand words for the script.
    const given = end === -1 || name === "cargo" ? words : words.slice(0, end)
    const named = isScript ? { named: from } : {}
    return optionsInner(given, { name, from, options: listedOptions(list), isOutside, ...named })
  }
  const isScript = RUNS_SCRIPTS.has(name) && !NO_SCRIPTS.has(verb.text)
  return isScript ? foreign(at) : closed(`nobody knows what "${name} ${shown(verb.text)}" runs`)
}

function targetsInner(words: readonly ShellWord[], name: string, options: Options): Inner | undefined {
  const { unknown, operands } = readOptions(words.slice(1), options)
  const problem = unknown ?? operands.find(({ text, isGlob }) => isGlob || /[=]/.test(text))
  if (problem !== undefined) return closedBy(problem, name)
  const last = operands.at(-1)
  return last === undefined ? undefined : { kind: "file", named: words.lastIndexOf(last) + 1 }
}
