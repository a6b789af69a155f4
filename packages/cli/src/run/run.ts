import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { saysSignIn } from "@signalbox/protocol"
import { DEFAULT_MODE, MACHINE_MODE } from "@signalbox/protocol/launch-options"
import type { Options, PermissionMode, Query, SDKMessage, SDKResultMessage } from "@signalbox/sdk"
import { tellingErrors } from "@signalbox/transcript"
import type { CommandContext } from "../base/command-context.ts"
import { CliError, oneLine, usageError } from "../base/failure.ts"
import type { RunOptions } from "../commands/run.ts"
import { coloursFor } from "../terminal/colours.ts"
import { print, widthOf } from "../terminal/output.ts"
import { readAll } from "../terminal/read-all.ts"
import { TerminalLines } from "../terminal/terminal-lines.ts"
import { answerForm } from "./answer-form.ts"
import { type Asking, answerTool } from "./answer-tool.ts"
import { Interruption } from "./interruption.ts"
import { RunView } from "./run-view.ts"

/** One turn of an agent of our own. Fails when the turn does. */
export async function run(words: readonly string[], options: RunOptions, context: CommandContext): Promise<void> {
  if (options.cwd !== undefined && !existsSync(options.cwd))
    throw usageError(`--cwd ${options.cwd}: there is no such folder`)
  const prompt = await promptOf(words, context)
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
      throw new CliError("cli/failed", "you ended the agent in mid-turn")
    await conclude(result, { options, view, context })
  } finally {
    interruption.end()
    agent.close()
  }
}

async function promptOf(words: readonly string[], { stdin }: CommandContext): Promise<string> {
  const isPiped = words.length === 0 || (words.length === 1 && words[0] === "-")
  if (words.length === 0 && stdin.isTTY) throw usageError('say what to do: signalbox run "What is in this folder?"')
  const text = isPiped ? await readAll(stdin) : words.join(" ")
  if (text.trim() === "")
    throw usageError('the prompt is empty: say what to do, as in signalbox run "What is in this folder?"')
  return text
}

function agentOptions({ cwd, model, mode = DEFAULT_MODE, resume, sim }: RunOptions): Options {
  return {
    includePartialMessages: true,
    // What a person at a terminal expects is Claude Code, not a bare model.
    systemPrompt: { type: "preset", preset: "claude_code" },
    ...(cwd === undefined ? {} : { cwd }),
    ...(model === undefined ? {} : { model }),
    // Always said: which mode a CLI takes by itself differs between versions.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- which modes there are is the CLI's to say
    ...(mode === MACHINE_MODE ? {} : { permissionMode: mode as PermissionMode }),
    ...(resume === undefined ? {} : { resume }),
    ...(sim === true ? { pathToClaudeCodeExecutable: simulatorPath() } : {}),
  }
}

function simulatorPath(): string {
  return fileURLToPath(new URL("../../bin/claude-sim.mjs", import.meta.resolve("@signalbox/simulator/command")))
}

/** Questions are put one after the other, and nothing is written over them. */
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
    // An agent that told how its turn failed and then ended has said all there is.
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
    throw new CliError("cli/failed", "the agent ended before its turn did: try again, or see signalbox doctor")
  const isFailed = result.is_error || result.subtype !== "success"
  const isPlain = options.json !== true && view === undefined
  if (isPlain && result.subtype === "success") await print(context.stdout, `${result.result}\n`)
  if (!isFailed) return
  // On a terminal the view has told it; whoever reads a pipe sees stderr.
  if (isPlain && result.subtype !== "success")
    context.stderr.write(
      `signalbox: ${tellingErrors(result.errors).join("; ") || `the turn failed (${result.subtype})`}\n`,
    )
  if (result.subtype === "success" && saysSignIn(result.result))
    context.stderr.write("signalbox: the agent is not signed in: run claude, then /login\n")
  process.exitCode = 1
}

function explained(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  if (code !== "process/not-found") return error
  // A CLAUDE_BIN that is wrong is the cause; that there is no other claude is not.
  if ((process.env["CLAUDE_BIN"] ?? "") !== "") return new CliError("cli/failed", oneLine(error), { cause: error })
  return new CliError(
    "cli/failed",
    "there is no claude on this machine: npm install -g @anthropic-ai/claude-code, or try it with the simulator: signalbox run --sim",
    { cause: error },
  )
}
