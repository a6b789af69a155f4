import type { Command } from "commander"
import type { CommandContext, JsonOption } from "../base/context.ts"
import { choice, collect, defineCommand, modeOption, wholeNumber } from "../base/define-command.ts"
import { usageError } from "../base/failure.ts"
import type { ExportOptions } from "../sessions/export-session.ts"
import type { LsOptions } from "../sessions/list-sessions.ts"
import type { NewOptions } from "../sessions/new-session.ts"
import type { LogOptions } from "../sessions/show-log.ts"
import type { SendOptions } from "../sessions/steer-session.ts"

const AGENTS = ["claude", "simulator", "external"]
/** `failed` is shown for some sessions that are idle or ended; the API has no such state. */
const STATES = ["starting", "idle", "running", "waiting", "disconnected", "ended", "failed"]
/** Those of the newest CLI. */
const ENFORCE: readonly string[] = ["asked", "everything"]
export const EFFORTS: readonly string[] = ["low", "medium", "high", "xhigh", "max"]

const steering = () => import("../sessions/steer-session.ts")

export function addNew(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "new",
    summary: "Start a session on the hub and print its id",
    examples: [
      'signalbox new --prompt "What is in this folder?"',
      'signalbox new --agent simulator --prompt "permission please" --attach',
      'signalbox new --prompt "Review the last commit" --append-system-prompt "Be brief." --max-turns 20',
      "signalbox new --resume 1b0e9a52-6f0c-4d0e-9d7e-0c3a1f2b4d5e --fork",
    ],
    json: "print the whole session as JSON",
    options: (command) => launchOptions(modeOption(newOptions(command))),
  }).action(async (options: NewOptions) => (await import("../sessions/new-session.ts")).newSession(options, context))
}

function newOptions(command: Command): Command {
  return command
    .addOption(
      choice("--agent <kind>", "what to start; simulator needs no account, external is started by you", AGENTS).default(
        "claude",
      ),
    )
    .option(
      "--cwd <directory>",
      "the folder to work in (default: this one, if the hub and the agent are on this machine)",
    )
    .option("--prompt <text>", "the first message (- reads it from stdin)", readPrompt)
    .option("--model <model>", "the model to use")
    .option("--resume <id>", "resume a conversation: the id of a session here, or the CLI's own")
    .option("--continue", "resume the most recent conversation in the folder")
    .option("--fork", "with --resume or --continue: fork into a new session")
    .option("--at <uuid>", "with --fork: leave out everything after this message of the agent")
    .option("--title <title>", "a title for people")
    .option("--runner <name>", "the machine: a runner's name, id or label")
    .option("--worktree [branch]", "work in a new git worktree")
    .option("--arg <argument>", "one more argument for the agent (repeatable; admin)", collect, [])
    .option("--attach", "watch the session right away, as signalbox attach does")
    .option("--env <NAME=value>", "a variable for the agent (repeatable; admin)", collect, [])
}

function launchOptions(command: Command): Command {
  return command
    .option("--system-prompt <text>", "replace the agent's system prompt")
    .option("--append-system-prompt <text>", "add to the agent's system prompt")
    .option("--agents <json>", "sub-agents by name: JSON, or a file with it")
    .option("--json-schema <json>", "the schema of the results: JSON, or a file with it")
    .option("--max-turns <n>", "stop after this many turns of the model")
    .option("--max-budget-usd <usd>", "stop when this much is spent")
    .option("--allowed-tools <rule>", "allow this tool without asking (repeatable; admin)", collect, [])
    .option("--disallowed-tools <rule>", "take this tool away (repeatable)", collect, [])
    .option("--add-dir <directory>", "one more folder the agent may use (repeatable; admin)", collect, [])
    .option("--setting-sources <list>", "settings files to read: user,project,local; empty for none (admin)")
    .option("--mcp-config <json>", "MCP servers: JSON, or a file with it (admin, if one starts a process)")
    .addOption(choice("--effort <level>", "how hard to think", EFFORTS))
    .option("--thinking <how>", "adaptive, disabled, or a number of tokens")
    .option("--beta <name>", "a beta of the API (repeatable)", collect, [])
    .addOption(choice("--enforce <what>", "which tool calls the policy judges (admin)", ENFORCE))
}

function readPrompt(text: string): string {
  if (text.trim() !== "") return text
  throw usageError("--prompt is empty: give the first message, or leave --prompt out and send one later")
}

export function addLs(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "ls",
    summary: "List the sessions, newest first",
    examples: ["signalbox ls", "signalbox ls --state waiting", "signalbox ls --all --json | jq -r '.sessions[].id'"],
    json: "print the list as JSON, as GET /api/sessions does",
    options: (command) =>
      command
        .option("--all", "include ended and archived sessions")
        .addOption(choice("--state <state>", "only sessions in this state", STATES))
        .option("--search <text>", "only sessions with this text in their title or folder")
        .option("--limit <n>", "at most this many", wholeNumber("--limit", 1, 10_000), 100),
  }).action(async (options: LsOptions) => (await import("../sessions/list-sessions.ts")).listSessions(options, context))
}

export function addAttach(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "attach <id>",
    summary: "Watch and steer a session, full screen: transcript, requests, messages",
    examples: ["signalbox attach 3f2a"],
    json: "no screen: print each event from now on as JSON, one per line, until the session ends",
  }).action(async (id: string, options: JsonOption) => {
    if (options.json === true) {
      const { showLog } = await import("../sessions/show-log.ts")
      return showLog(id, { ...options, follow: true, after: 0, tail: 0 }, context)
    }
    const { attach } = await import("../attach/attach.ts")
    await attach(id, options, context)
  })
}

export function addSend(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "send <id> [text...]",
    summary: "Send a message to a session's agent",
    examples: ['signalbox send 3f2a "Now run the tests"', "git diff | signalbox send 3f2a -"],
    json: "print the message's uuid and seq as JSON, and why it waits if it does",
    options: (command) =>
      command.addOption(
        choice("--priority <when>", "when to deliver it; now interrupts the turn", ["now", "next", "later"]),
      ),
  }).action(async (id: string, words: string[], options: SendOptions) =>
    (await steering()).sendMessage({ id, words }, options, context),
  )
}

export function addInterrupt(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "interrupt <id>",
    summary: "Interrupt a session's turn; the agent waits for the next message",
    examples: ["signalbox interrupt 3f2a"],
    json: "print the interrupted session's id as JSON",
  }).action(async (id: string, options: JsonOption) => (await steering()).interruptSession(id, options, context))
}

export function addStop(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "stop <ids...>",
    summary: "Stop the agents of sessions; history is kept",
    examples: ["signalbox stop 3f2a", "signalbox stop 3f2a 91c0"],
    json: "print the stopped sessions' ids as JSON",
  }).action(async (ids: string[], options: JsonOption) => (await steering()).stopSessions(ids, options, context))
}

export function addLog(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "log <id>",
    summary: "Print a session's conversation from the start",
    examples: ["signalbox log 3f2a", "signalbox log 3f2a --tail 20 --follow", "signalbox log 3f2a --json | tail -1"],
    json: "print the raw events, one JSON object per line",
    options: (command) =>
      command
        .option("--follow", "keep printing new events")
        .option("--after <seq>", "only events after this one", wholeNumber("--after", 0), 0)
        .option("--tail <n>", "only the last n events", wholeNumber("--tail", 0)),
  }).action(async (id: string, options: LogOptions) =>
    (await import("../sessions/show-log.ts")).showLog(id, options, context),
  )
}

export function addExport(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "export <id>",
    summary: "Write a session to a file: a page to read, its events, or both",
    examples: ["signalbox export 3f2a --html session.html", "signalbox export 3f2a --ndjson - | wc -l"],
    json: "print the files' paths as JSON",
    options: (command) =>
      command
        .option("--html <file>", "one self-contained page, to read or to share (- is stdout)")
        .option("--ndjson <file>", "the raw events, one JSON object per line (- is stdout)"),
  }).action(async (id: string, options: ExportOptions) =>
    (await import("../sessions/export-session.ts")).exportSession(id, options, context),
  )
}
