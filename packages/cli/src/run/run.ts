import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { defined, saysSignIn } from "@signalbox/protocol"
import { DEFAULT_MODE, MACHINE_MODE } from "@signalbox/protocol/launch-options"
import type { Options, PermissionMode, Query, SDKMessage, SDKResultMessage } from "@signalbox/sdk"
import { tellingErrors } from "@signalbox/transcript"
import { type CommandContext, type JsonOption } from "../base/context.ts"
import { CliError, oneLine, usageError } from "../base/failure.ts"
import { TerminalLines, textFrom } from "../terminal/input.ts"
import { coloursFor, print, widthOf } from "../terminal/output.ts"
import { type Asking, answerForm, answerTool } from "./answers.ts"
import { Interruption } from "./interruption.ts"
import { RunView } from "./run-view.ts"

export interface RunOptions extends JsonOption {
  readonly cwd?: string
  readonly model?: string
  readonly mode?: string
  readonly resume?: string
  readonly sim?: boolean
}

/** One turn of an agent of our own. Fails if the turn does. */
export async function run(words: readonly string[], options: RunOptions, context: CommandContext): Promise<void> {
  if (options.cwd !== undefined && !existsSync(options.cwd)) throw usageError(`--cwd ${options.cwd}: folder not found`)
  const prompt = await textFrom(words, context, 'give a prompt: signalbox run "What is in this folder?"')
  const { query } = await import("@signalbox/sdk")
  const view = viewFor(options, context)
  const interruption = new Interruption(context.stderr)
  const lines = new TerminalLines(context, () => interruption.happen())
  const asking: Asking = {
    lines,
    colours: coloursFor(context.stderr, context.env),
    env: context.env,
    tell: (text) => void context.stderr.write(`signalbox: ${text}\n`),
    cwd: resolve(options.cwd ?? "."),
    planOf: (toolUseId) => view?.planOf(toolUseId),
  }
  interruption.listen()
  const agent = start(() => query({ prompt, options: { ...agentOptions(options), ...questions(asking, view) } }))
  interruption.begin(agent)
  try {
    const result = await follow(agent, (message) => {
      interruption.heard()
      return show(message, { options, view, context })
    })
    if (result === undefined && interruption.isEnded)
      throw new CliError("cli/failed", "you stopped the agent before its turn ended")
    await conclude(result, { options, view, context })
  } finally {
    interruption.end()
    agent.close()
  }
}

function agentOptions({ cwd, model, mode = DEFAULT_MODE, resume, sim }: RunOptions): Options {
  return {
    includePartialMessages: true,
    // A person at a terminal expects Claude Code, not a bare model.
    systemPrompt: { type: "preset", preset: "claude_code" },
    ...defined({ cwd, model, resume }),
    // Always passed: the default mode differs between CLI versions.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- which modes there are is the CLI's to say
    ...(mode === MACHINE_MODE ? {} : { permissionMode: mode as PermissionMode }),
    ...(sim === true ? { pathToClaudeCodeExecutable: simulatorPath() } : {}),
  }
}

function simulatorPath(): string {
  return fileURLToPath(new URL("../../bin/claude-sim.mjs", import.meta.resolve("@signalbox/simulator/command")))
}

/** Questions are asked one at a time, and nothing is written over them. */
function questions(asking: Asking, view: RunView | undefined): Pick<Options, "canUseTool" | "onElicitation"> {
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    const answer = last.then(async () => {
      view?.hold()
      try {
        return await ask()
      } finally {
        view?.goOn()
      }
    })
    last = answer.catch(() => undefined)
    return answer
  }
  return {
    canUseTool: (tool, input, facts) => inTurn(() => answerTool(tool, input, { facts, asking })),
    onElicitation: (request, { signal }) => inTurn(() => answerForm(request, { asking, signal })),
  }
}

function viewFor({ json }: RunOptions, { stdout, env }: CommandContext): RunView | undefined {
  if (json === true || !stdout.isTTY) return undefined
  return new RunView({
    write: (text) => void stdout.write(text),
    colours: coloursFor(stdout, env),
    width: widthOf(stdout),
  })
}

function start(launch: () => Query): Query {
  try {
    return launch()
  } catch (error) {
    throw explained(error)
  }
}

async function follow(
  agent: Query,
  take: (message: SDKMessage) => Promise<void>,
): Promise<SDKResultMessage | undefined> {
  let result: SDKResultMessage | undefined
  try {
    for await (const message of agent) {
      await take(message)
      if (message.type === "result") result = message
    }
  } catch (error) {
    // An agent that reported its failed turn and then ended has said all.
    if (result === undefined) throw explained(error)
  }
  return result
}

interface Showing {
  readonly options: RunOptions
  readonly view: RunView | undefined
  readonly context: CommandContext
}

async function show(message: SDKMessage, { options, view, context }: Showing): Promise<void> {
  if (options.json === true) await print(context.stdout, `${JSON.stringify(message)}\n`)
  else view?.take({ ...message })
}

async function conclude(result: SDKResultMessage | undefined, { options, view, context }: Showing): Promise<void> {
  if (result === undefined)
    throw new CliError("cli/failed", "the agent ended before its turn did: try again, or run signalbox doctor")
  const isFailed = result.is_error || result.subtype !== "success"
  const isPlain = options.json !== true && view === undefined
  if (isPlain && result.subtype === "success") await print(context.stdout, `${result.result}\n`)
  if (!isFailed) return
  // On a terminal the view has shown it; a pipe gets it on stderr.
  if (isPlain && result.subtype !== "success")
    context.stderr.write(
      `signalbox: ${oneLine(tellingErrors(result.errors).join("; ")) || `the turn failed (${result.subtype})`}\n`,
    )
  if (result.subtype === "success" && saysSignIn(result.result))
    context.stderr.write("signalbox: not signed in: run claude, then /login\n")
  process.exitCode = 1
}

function explained(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  if (code !== "process/not-found") return error
  // A wrong CLAUDE_BIN is the cause, even if there is no other claude.
  if ((process.env["CLAUDE_BIN"] ?? "") !== "") return new CliError("cli/failed", oneLine(error), { cause: error })
  return new CliError(
    "cli/failed",
    "Claude Code not found: npm install -g @anthropic-ai/claude-code, or try the simulator: signalbox run --sim",
    { cause: error },
  )
}
