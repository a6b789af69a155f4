import type { Command } from "commander"
import type { CommandContext, JsonOption } from "../base/context.ts"
import { choice, defineCommand, wholeNumber } from "../base/define-command.ts"
import type { MoveOptions } from "../data/move.ts"
import type { SalvageOptions } from "../data/salvage.ts"
import type { PruneOptions, RmOptions } from "../sessions/purge-sessions.ts"

export function addBackup(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "backup <file>",
    summary: "Copy everything the hub keeps into one file, while the hub runs or not",
    notes:
      "The copy is of one moment, is read back and checked, and can be read by you alone. An existing file is never overwritten. More: docs/operations.md.",
    examples: ["signalbox backup signalbox-backup.db", "signalbox backup nightly-backup.db --json | jq .rows"],
    json: "print the file, its size and what is in it as JSON",
  }).action(async (file: string, options: JsonOption) =>
    (await import("../data/backup.ts")).backup(file, options, context),
  )
}

export function addRestore(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "restore <file>",
    summary: "Make a data directory from a backup",
    notes: "The directory must have no database and no running hub. The backup is checked before it is used.",
    examples: ["signalbox restore signalbox-backup.db --data ./restored"],
    json: "print the data directory and what is in it as JSON",
  }).action(async (file: string, options: JsonOption) =>
    (await import("../data/backup.ts")).restore(file, options, context),
  )
}

export function addSalvage(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "salvage",
    summary: "Save what can be read of a damaged database into a new data directory",
    notes:
      "The damaged directory is left as it is. Needs room for two copies of its database. Restore a backup instead if you have a recent one.",
    examples: ["signalbox salvage --data ./damaged --to ./saved"],
    json: "print what was saved and lost, by table, as JSON",
    options: (command) => command.requiredOption("--to <directory>", "the new data directory"),
  }).action(async (options: SalvageOptions) => (await import("../data/salvage.ts")).salvage(options, context))
}

export function addMove(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "move",
    summary: "Copy everything the hub keeps to a PostgreSQL database, or from one to a new data directory",
    notes:
      "The hub must be stopped, and the target empty. The copy is compared with what it was copied from, row by row; what was copied stays where it is. Run the same command again to go on with a copy that was interrupted. More: docs/scale.md.",
    examples: [
      "signalbox move --to postgres://signalbox@db.example.org/signalbox --data ./stopped",
      "signalbox move --from postgres://signalbox@db.example.org/signalbox --data ./moved-back",
    ],
    json: "print where everything is now and how much it is as JSON",
    options: (command) =>
      command
        .option("--to <address>", "the database to copy the data directory to: postgres://user@host:5432/database")
        .option("--from <address>", "the database to copy to the data directory"),
  }).action(async (options: MoveOptions) => (await import("../data/move.ts")).move(options, context))
}

export function addSupport(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "support <file>",
    summary:
      "Write a text file for a bug report: versions, checks, settings, metrics and logs, without secrets or conversations",
    notes: "Read it before you send it. It has no prompts, tool inputs, file contents, tokens or keys.",
    examples: ["signalbox support signalbox-support.txt"],
    json: "print the file and its sections as JSON",
  }).action(async (file: string, options: JsonOption) =>
    (await import("../data/support.ts")).support(file, options, context),
  )
}

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
