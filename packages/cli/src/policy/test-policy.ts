import type { Backtest, BacktestDifference, BacktestExample, PolicySuggestion } from "@signalbox/client"
import { defined } from "@signalbox/protocol"
import { type CommandContext, type JsonOption, nextCommand } from "../base/context.ts"
import { withHub } from "../hub/connect.ts"
import { untilStopped } from "../terminal/input.ts"
import { type Colours, coloursFor, print, printJson } from "../terminal/output.ts"
import { ago, cutCells, onOneLine } from "../terminal/text.ts"
import { readPolicyFile, tellEnforce } from "./policy-file.ts"

export interface SuggestOptions extends JsonOption {
  readonly since?: string
}

export interface TestOptions extends SuggestOptions {
  readonly examples: number
}

const LINE_CHARS = 200
const SHORT_ID = 8

/** In the order in which they matter. */
const LISTS = [
  ["contradicts", "Allowed now, although a person denied it"],
  ["newlyDenied", "Newly denied"],
  ["newlyAsked", "Newly asked"],
  ["noLongerAsked", "No longer asked"],
] as const

/** Ctrl-C ends it on the hub, too. */
export async function testPolicy(path: string, options: TestOptions, context: CommandContext): Promise<void> {
  const policy = await readPolicyFile(path, context)
  await untilStopped((signal) =>
    withHub(options, context, async (hub) => {
      tellEnforce(await hub.policy(), policy, context)
      const progress = progressLine(context)
      const how = { ...defined({ since: options.since }), limit: options.examples, signal, onProgress: progress.show }
      const test = await hub.testPolicy(policy, how).finally(progress.clear)
      if (options.json === true) await printJson(context, test)
      else await print(context.stdout, testText(test, coloursFor(context.stdout, context.env)))
      if (test.contradicts.count > 0) process.exitCode = 1
    }),
  )
}

export async function suggestRules(options: SuggestOptions, context: CommandContext): Promise<void> {
  await withHub(options, context, async (hub) => {
    const reply = await hub.policySuggestions(defined({ since: options.since }))
    if (options.json === true) return printJson(context, reply)
    const colours = coloursFor(context.stdout, context.env)
    const { suggestions, idle, requests, complete } = reply
    if (!complete) context.stderr.write("There was too much to read in time: choose a shorter time with --since.\n")
    if (suggestions.length === 0)
      context.stderr.write(`No suggestions from ${requests} ${requests === 1 ? "request" : "requests"}.\n`)
    await print(context.stdout, suggestions.map((each) => suggestionText(each, colours)).join("\n"))
    if (idle.length > 0) {
      const lines = idle.map(
        ({ rule, why }) => `  ${onOneLine(rule)}  ${colours.dim(why === "expired" ? "expired" : "decided nothing")}`,
      )
      await print(
        context.stdout,
        `${suggestions.length === 0 ? "" : "\n"}${colours.bold("Rules that do nothing")}\n${lines.join("\n")}\n`,
      )
    }
    if (suggestions.length > 0)
      context.stderr.write(`Add a rule with: ${nextCommand("policy edit", options, context.env)}\n`)
  })
}

function testText(test: Backtest, colours: Colours): string {
  const { requests, notTestable, complete, since } = test
  const far = since === null ? "" : `, back to ${since.slice(0, 10)}`
  const lost = notTestable === 0 ? "" : ` ${notTestable} can't be tested: their input is gone or too long.`
  const partial = complete ? "" : " Older ones were not judged: it took too long."
  const lists = LISTS.map(([name, title]) => listText(title, test[name], { colours, isBad: name === "contradicts" }))
  return `${requests} ${requests === 1 ? "request" : "requests"} judged${far}.${lost}${partial}\n${lists.join("")}`
}

interface ListStyle {
  readonly colours: Colours
  readonly isBad: boolean
}

function listText(title: string, { count, examples }: BacktestDifference, { colours, isBad }: ListStyle): string {
  const head = isBad && count > 0 ? colours.red(title) : colours.bold(title)
  const more = count > examples.length && examples.length > 0 ? [`  … and ${count - examples.length} more`] : []
  return `\n${[`${head}: ${count}`, ...examples.map((each) => exampleLine(each, colours)), ...more].join("\n")}\n`
}

function exampleLine(
  { session, seq, at, tool, text, was, would, rule, by }: BacktestExample,
  colours: Colours,
): string {
  const what = cutCells(onOneLine(`${tool} ${text}`, "decision"), LINE_CHARS)
  const why = rule === null ? "no rule" : `rule ${onOneLine(rule)}`
  const who = by === undefined ? "" : `, answered by ${onOneLine(by)}`
  const place = colours.dim(`${session.slice(0, SHORT_ID)}:${seq} ${ago(at, Date.now())} ago${who}`)
  return `  ${what}\n    ${was} → ${would} (${why})  ${place}`
}

function suggestionText({ rule, allowed, sessions, people, test }: PolicySuggestion, colours: Colours): string {
  const by = people.map((name) => onOneLine(name)).join(", ")
  const facts = `allowed ${allowed} times in ${sessions} ${sessions === 1 ? "session" : "sessions"} by ${by}; ${test.noLongerAsked.count} requests no longer asked`
  return `${onOneLine(JSON.stringify(rule), "decision")}\n  ${colours.dim(facts)}\n`
}

/** One line that changes, on a terminal only. */
function progressLine({ stderr }: CommandContext) {
  const clear = () => void (stderr.isTTY && stderr.write("\r\x1b[K"))
  return {
    show: ({ judged, total }: { readonly judged: number; readonly total: number }) =>
      void (stderr.isTTY && stderr.write(`\r\x1b[KJudged ${judged} of ${total} requests…`)),
    clear,
  }
}
