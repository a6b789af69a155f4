import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import type { Hub, LaunchRequest } from "@signalbox/client"
import { defined } from "@signalbox/protocol"
import { isObject } from "@signalbox/protocol/envelope"
import { type CommandContext, isOnThisMachine, type JsonOption, nextCommand } from "../base/context.ts"
import { oneLine, usageError } from "../base/failure.ts"
import { findSession } from "../hub/abbreviated-id.ts"
import { findOrOffer, withHub } from "../hub/connect.ts"
import { readAll, requireTerminal } from "../terminal/input.ts"
import { print, printJson } from "../terminal/output.ts"

/** An option that may be repeated is a list, and empty if it was not given. */
export interface NewOptions extends JsonOption {
  readonly agent: NonNullable<LaunchRequest["agent"]>
  readonly cwd?: string
  readonly prompt?: string
  readonly model?: string
  readonly mode?: string
  readonly resume?: string
  readonly continue?: boolean
  readonly fork?: boolean
  readonly at?: string
  readonly title?: string
  readonly runner?: string
  readonly worktree?: boolean | string
  readonly arg: readonly string[]
  readonly env: readonly string[]
  readonly attach?: boolean
  readonly systemPrompt?: string
  readonly appendSystemPrompt?: string
  readonly agents?: string
  readonly jsonSchema?: string
  readonly maxTurns?: string
  readonly maxBudgetUsd?: string
  readonly allowedTools: readonly string[]
  readonly disallowedTools: readonly string[]
  readonly addDir: readonly string[]
  readonly settingSources?: string
  readonly mcpConfig?: string
  readonly effort?: string
  readonly thinking?: string
  readonly beta: readonly string[]
  readonly enforce?: NonNullable<LaunchRequest["enforce"]>
}

const WHOLE_ID_CHARS = 36

export async function newSession(options: NewOptions, context: CommandContext): Promise<void> {
  // Checked before anything is created.
  if (options.attach === true && options.json !== true && options.agent !== "external")
    requireTerminal(context, options)
  const prompt = options.prompt === "-" ? await readAll(context.stdin) : options.prompt
  // Wrong options are reported before a hub is looked for.
  const request = launchRequest(options, prompt)
  const cwd = folderFor(options, isOnThisMachine((await findOrOffer(options, context)).url))
  const session = await withHub(options, context, async (hub) =>
    hub.launch(await inFull(hub, { ...request, ...defined({ cwd }) })),
  )
  if (options.json === true) return printJson(context, session)
  const { ingress } = session
  if (options.attach === true && ingress === undefined) {
    const { attach } = await import("../attach/attach.ts")
    return attach(session.id, options, context)
  }
  await print(context.stdout, `${session.id}\n`)
  if (ingress !== undefined) {
    const note = ingress.note === undefined ? "" : `${ingress.note}\n`
    context.stderr.write(`Start the agent with:\n${ingress.command}\n${note}`)
  } else if (context.stderr.isTTY)
    context.stderr.write(`Watch it: ${nextCommand(`attach ${session.id.slice(0, 8)}`, options, context.env)}\n`)
}

/** An abbreviated id names a session of the hub; a whole one may also name a conversation that the hub does not know. */
async function inFull(hub: Hub, request: LaunchRequest): Promise<LaunchRequest> {
  const { resume } = request
  if (resume === undefined || resume.length >= WHOLE_ID_CHARS) return request
  return { ...request, resume: (await findSession(hub, resume)).id }
}

function launchRequest(options: NewOptions, prompt: string | undefined): LaunchRequest {
  const { agent, model, mode, resume, fork, at, title, runner, worktree, arg, env } = options
  const { systemPrompt, appendSystemPrompt, agents, jsonSchema, maxTurns, maxBudgetUsd, settingSources } = options
  const { mcpConfig, effort, thinking, allowedTools, disallowedTools, addDir, beta, enforce } = options
  const isContinued = options.continue === true
  if (isContinued && resume !== undefined)
    throw usageError("--continue can't be used with --resume: it resumes the most recent conversation in the folder")
  if (fork === true && resume === undefined && !isContinued)
    throw usageError("--fork needs --resume or --continue: choose a conversation to fork")
  if (at !== undefined && (fork !== true || resume === undefined))
    throw usageError("--at needs --resume and --fork: the original keeps all its messages")
  return {
    agent,
    ...defined({
      prompt,
      model,
      permissionMode: mode,
      resume,
      continue: isContinued ? true : undefined,
      fork,
      resumeAt: at,
      title,
      runner,
      worktree: typeof worktree === "string" ? { branch: worktree } : worktree,
      systemPrompt,
      appendSystemPrompt,
      agents: read(agents, (text) => objectsIn("--agents", objectIn("--agents", text))),
      outputFormat: read(
        jsonSchema,
        (text) => ({ type: "json_schema", schema: objectIn("--json-schema", text) }) as const,
      ),
      maxTurns: read(maxTurns, (text) => amount("--max-turns", text)),
      maxBudgetUsd: read(maxBudgetUsd, (text) => amount("--max-budget-usd", text)),
      allowedTools: unlessEmpty(allowedTools),
      disallowedTools: unlessEmpty(disallowedTools),
      additionalDirectories: unlessEmpty(addDir),
      settingSources: settingSources === "" ? [] : settingSources?.split(","),
      mcpServers: read(mcpConfig, serversIn),
      effort,
      thinking: read(thinking, thinkingIn),
      betas: unlessEmpty(beta),
      enforce,
      args: unlessEmpty(arg),
      env: read(unlessEmpty(env), readVariables),
    }),
  }
}

/** A conversation resumes in its own folder, which the runner knows; another machine has other folders. */
function folderFor({ cwd, resume, runner, agent }: NewOptions, isHere: boolean): string | undefined {
  if (cwd !== undefined) return isHere && runner === undefined ? resolve(cwd) : cwd
  return isHere && runner === undefined && resume === undefined && agent !== "external" ? process.cwd() : undefined
}

function read<Given, Value>(given: Given | undefined, how: (given: Given) => Value): Value | undefined {
  return given === undefined ? undefined : how(given)
}

function unlessEmpty(list: readonly string[]): readonly string[] | undefined {
  return list.length === 0 ? undefined : list
}

function readVariables(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((each) => {
      const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(each) ?? []
      if (name === undefined || value === undefined) throw usageError(`--env ${each}: must be NAME=value`)
      return [name, value]
    }),
  )
}

type Fields = Readonly<Record<string, unknown>>

function serversIn(text: string): Readonly<Record<string, Fields>> {
  const config = objectIn("--mcp-config", text)
  const servers: unknown = config["mcpServers"] ?? config
  return objectsIn("--mcp-config", isObject(servers) ? servers : {})
}

function thinkingIn(text: string): NonNullable<LaunchRequest["thinking"]> {
  if (text === "adaptive" || text === "disabled") return { type: text }
  return { type: "enabled", budgetTokens: amount("--thinking", text) }
}

function amount(flag: string, text: string): number {
  const value = Number(text)
  if (text.trim() !== "" && value > 0 && Number.isFinite(value)) return value
  throw usageError(`${flag} ${text}: must be a number above 0`)
}

function objectIn(flag: string, text: string): Fields {
  const isInline = text.trimStart().startsWith("{")
  try {
    const value: unknown = JSON.parse(isInline ? text : readFileSync(text, "utf8"))
    if (isObject(value)) return value
  } catch (error) {
    throw usageError(`${flag}: ${isInline ? "not valid JSON" : `can't read ${text} as JSON`} (${oneLine(error)})`)
  }
  throw usageError(`${flag}: must be a JSON object, or a file with one`)
}

function objectsIn(flag: string, value: Fields): Readonly<Record<string, Fields>> {
  const named: Record<string, Fields> = {}
  for (const [name, item] of Object.entries(value)) {
    if (!isObject(item)) throw usageError(`${flag}: ${name} must be a JSON object`)
    named[name] = item
  }
  return named
}
