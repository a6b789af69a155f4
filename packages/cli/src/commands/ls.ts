import type { SessionState } from "@signalbox/client"
import type { Command } from "commander"
import type { CommandContext } from "../base/command-context.ts"
import type { DataOption } from "../base/data-directory.ts"
import { defineCommand, jsonOption } from "../base/define-command.ts"
import { usageError } from "../base/failure.ts"

export interface LsOptions extends DataOption {
  readonly json?: boolean
  readonly all?: boolean
  readonly state?: ListedState
  readonly search?: string
  readonly limit: number
}

/** `failed` is what the list shows for some that are idle or ended; the API has no such state. */
export type ListedState = SessionState | "failed"

const STATES: readonly ListedState[] = ["starting", "idle", "running", "waiting", "disconnected", "ended", "failed"]

export function addLs(program: Command, context: CommandContext): void {
  const command = defineCommand(program, {
    name: "ls",
    summary: "The sessions of the hub, newest first",
    examples: ["signalbox ls", "signalbox ls --state waiting", "signalbox ls --all --json | jq -r '.sessions[].id'"],
  })
  command
    .option("--all", "also those that ended or are archived")
    .option("--state <state>", `only these: ${STATES.join(", ")}`, readState)
    .option("--search <text>", "only those with this in their title or folder")
    .option("--limit <n>", "at most so many", readLimit, 100)
  jsonOption(command, "print the list as JSON, as GET /api/sessions does").action(async (options: LsOptions) => {
    const { listSessions } = await import("../sessions/list-sessions.ts")
    await listSessions(options, context)
  })
}

function readState(text: string): ListedState {
  const state = STATES.find((each) => each === text)
  if (state === undefined) throw usageError(`--state ${text}: give one of ${STATES.join(", ")}`)
  return state
}

function readLimit(text: string): number {
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= 10_000) return limit
  throw usageError(`--limit ${text}: give a number from 1 to 10000`)
}
