import type { Command } from "commander"
import type { CommandContext } from "../base/context.ts"
import { choice, defineCommand, wholeNumber } from "../base/define-command.ts"
import type { PruneOptions, RmOptions } from "../sessions/purge-sessions.ts"

const purging = () => import("../sessions/purge-sessions.ts")

export function addRm(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "rm <id>",
    summary: "Delete an ended session for good, with its history (admin)",
    examples: ["signalbox stop 3f2a && signalbox rm 3f2a --yes"],
    notes:
      "Events, messages and inputs are deleted. Decisions stay in the audit: who allowed or denied which tool, and when.",
    json: "print the deleted session's id as JSON; asks nothing",
    options: (command) => command.option("--yes", "don't ask for confirmation"),
  }).action(async (id: string, options: RmOptions) => (await purging()).removeSession(id, options, context))
}

export function addPrune(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "prune",
    summary: "Delete old ended sessions for good, with their history (admin)",
    examples: [
      "signalbox prune --older-than 90d --dry-run",
      "signalbox prune --older-than 30d --archived --keep-last 100 --yes",
    ],
    notes:
      "Running and pinned sessions are kept. The hub deletes in the background; running the command again does no harm.",
    json: "print what is deleted as JSON, as POST /api/sessions/prune does; asks nothing",
    options: (command) =>
      command
        .requiredOption("--older-than <time>", "only sessions without activity for this long: 90d, 12h")
        .option("--archived", "only archived sessions")
        .addOption(choice("--state <state>", "only ended sessions can be deleted", ["ended"]))
        .option("--keep-last <n>", "keep this many of the newest ended sessions", wholeNumber("--keep-last", 0, 10_000))
        .option("--dry-run", "show what would be deleted, and delete nothing")
        .option("--yes", "don't ask for confirmation"),
  }).action(async (options: PruneOptions) => (await purging()).pruneSessions(options, context))
}
