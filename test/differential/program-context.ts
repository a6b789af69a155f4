// What a program of this suite gets beside the SDK. Programs are written for the official package and know nothing of
// ours: the same text is compiled and run against each.
import { AbortError, type Options, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk"
import type { Scenario, ScriptedApi } from "@signalbox/simulator"

/** One file under `programs`. */
export interface Program {
  readonly scenario: Scenario
  readonly run: () => Promise<void>
  /**
   * What the model was asked is observed for every program. Not where a query is closed while the CLI works: then it is
   * a matter of luck how far it came.
   */
  readonly modelUnobserved?: boolean
}

/** Where a program runs; `child-main.ts` fills it in before the program starts. */
export interface ProgramContext {
  /** The CLI to run. */
  readonly claude: string
  readonly cwd: string
  readonly home: string
  /** The folder of the fake executables. */
  readonly fakes: string
  readonly api: ScriptedApi
}

export interface Observation {
  readonly channel: string
  readonly value: unknown
}

let current: ProgramContext | undefined
const observed: Observation[] = []

export function begin(context: ProgramContext): readonly Observation[] {
  current = context
  return observed
}

export function context(): ProgramContext {
  if (current === undefined) throw new Error("the program runs outside of its harness")
  return current
}

/** What every program passes: the CLI under test, in an empty folder. The environment of the process is already safe. */
export function basics(): Options {
  const { claude, cwd } = context()
  return { pathToClaudeCodeExecutable: claude, cwd }
}

/** The path of a fake executable. */
export function fake(name: string): string {
  return `${context().fakes}/${name}.mjs`
}

/** Notes something the program saw. Values are compared channel by channel, in order. */
export function observe(channel: string, value: unknown): void {
  observed.push({ channel, value: plain(value) })
}

/** Notes every message and how the iteration ended. */
export async function watch<M>(messages: AsyncIterable<M>, each?: (message: M) => unknown): Promise<void> {
  try {
    for await (const message of messages) {
      observe("message", message)
      if ((await each?.(message)) === "break") {
        observe("ending", "left the loop")
        return
      }
    }
    observe("ending", "ended")
  } catch (error) {
    observe("ending", describeError(error))
  }
}

/** Notes what a call gave or how it failed. */
export async function attempt(what: string, call: () => unknown): Promise<void> {
  try {
    observe("call", { what, gave: plain(await call()) })
  } catch (error) {
    observe("call", { what, error: describeError(error) })
  }
}

export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { thrown: plain(error) }
  const code = "code" in error && typeof error.code === "string" ? { code: error.code } : {}
  return { name: error.name, message: error.message, abort: error instanceof AbortError, ...code }
}

export function user(text: string, extra: Partial<SDKUserMessage> = {}): SDKUserMessage {
  return { type: "user", message: { role: "user", content: text }, parent_tool_use_id: null, session_id: "", ...extra }
}

/** Prompts that are given one by one, from outside. */
export class Prompts implements AsyncIterable<SDKUserMessage> {
  readonly #queue: SDKUserMessage[] = []
  #wake: (() => void) | undefined
  #ended = false

  constructor(...first: SDKUserMessage[]) {
    this.#queue.push(...first)
  }

  push(message: SDKUserMessage): void {
    this.#queue.push(message)
    this.#wake?.()
  }

  end(): void {
    this.#ended = true
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SDKUserMessage> {
    for (;;) {
      const next = this.#queue.shift()
      if (next !== undefined) yield next
      else if (this.#ended) return
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
    }
  }
}

/** A callback's argument without what cannot be written down. */
export function described(options: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(options).map(([key, value]) => [key, value instanceof AbortSignal ? "<signal>" : value]),
  )
}

/** A promise that somebody else settles. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = () => resolve()
  })
  return { opened, open }
}

/** As it was at this moment, and as JSON has it. */
function plain(value: unknown): unknown {
  if (value === undefined) return "<undefined>"
  const text: string | undefined = JSON.stringify(value)
  return text === undefined ? `<${typeof value}>` : JSON.parse(text)
}
