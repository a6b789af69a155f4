import type { Command } from "commander"
import type { CommandContext, JsonOption } from "../base/context.ts"
import { defineCommand, errorLine, wholeNumber } from "../base/define-command.ts"
import type { AuditOptions } from "../policy/audit.ts"
import type { ExplainOptions } from "../policy/explain-request.ts"
import type { GrantsOptions } from "../policy/grants.ts"
import type { ImportOptions } from "../policy/import-policy.ts"
import type { ForceOption, SetOptions } from "../policy/policy-file.ts"
import type { LogOptions } from "../policy/policy-log.ts"
import type { SuggestOptions, TestOptions } from "../policy/test-policy.ts"

const file = () => import("../policy/policy-file.ts")
const tests = () => import("../policy/test-policy.ts")
const SINCE = "how far back, such as 30d or 12h, or a time such as 2031-01-31T12:00:00Z"
const FORCE = "put it in force even if it allows what a person denied; the audit says so"

function group(program: Command, { name, words, example }: Record<"name" | "words" | "example", string>): Command {
  const command = program.command(name).description(words)
  command.configureOutput({ outputError: (text, write) => write(errorLine(text, `signalbox ${name}`)) })
  return command.addHelpText("after", `\nExample:\n  ${example}`)
}

export function addPolicy(program: Command, context: CommandContext): void {
  const policy = group(program, {
    name: "policy",
    words: "Read, change and test the rules that answer requests",
    example: "signalbox policy test rules.json --since 30d",
  })
  defineCommand(policy, {
    name: "get",
    summary: "Print the policy in force",
    examples: ["signalbox policy get", "signalbox policy get > rules.json"],
    json: "print it on one line, with what it can judge",
  }).action(async (options: JsonOption) => (await file()).getPolicy(options, context))
  defineCommand(policy, {
    name: "set <file>",
    summary: "Put a policy in force",
    examples: ["signalbox policy set rules.json", "signalbox policy set - < rules.json"],
    notes: "A policy that would allow what a person denied is refused.",
    json: "print the policy in force as JSON",
    options: (command) =>
      command
        .option("--force", FORCE)
        .option(
          "--replaces <version>",
          "only in place of this version, from policy get --json; refused if another is in force",
          wholeNumber("--replaces", 0),
        ),
  }).action(async (path: string, options: SetOptions) => (await file()).setPolicy(path, options, context))
  defineCommand(policy, {
    name: "edit",
    summary: "Edit the policy in force with VISUAL or EDITOR",
    examples: ["signalbox policy edit"],
    notes: "If somebody else changed the policy meanwhile, nothing is put in force and your text is kept.",
    json: "print the policy in force as JSON",
    options: (command) => command.option("--force", FORCE),
  }).action(async (options: ForceOption) => (await file()).editPolicy(options, context))
  defineCommand(policy, {
    name: "test <file>",
    summary: "Show what a policy would have done with the recorded requests",
    examples: ["signalbox policy test rules.json", "signalbox policy test rules.json --since 30d"],
    notes: "Nothing is changed. The exit code is 1 if the policy would allow what a person denied.",
    json: "print the result as JSON",
    options: (command) =>
      command
        .option("--since <time>", SINCE)
        .option("--examples <number>", "examples in each list", wholeNumber("--examples", 0, 200), 5),
  }).action(async (path: string, options: TestOptions) => (await tests()).testPolicy(path, options, context))
  defineCommand(policy, {
    name: "explain <tool> <input>",
    summary: "Show what the policy in force says to a request, and why",
    examples: [
      'signalbox policy explain Bash "git push origin main"',
      `signalbox policy explain Read '{"file_path":"/srv/app/.env"}' --cwd /srv/app`,
    ],
    notes: "The input is a JSON object; for Bash, the command alone will do. Nothing is run.",
    json: "print the verdict as JSON",
    options: (command) =>
      command
        .option("--session <id>", "as if this session made it: its folder, mode, machine and branch")
        .option("--cwd <folder>", "the folder that it is made in")
        .option("--runner <name>", "the machine that it is made on")
        .option("--branch <name>", "the git branch of that folder"),
  }).action(async (tool: string, text: string, options: ExplainOptions) =>
    (await import("../policy/explain-request.ts")).explainRequest({ tool, text }, options, context),
  )
  defineCommand(policy, {
    name: "import [file]",
    summary: "Turn the permissions of Claude Code's settings into rules",
    examples: ["signalbox policy import", "signalbox policy import .claude/settings.json --apply"],
    notes:
      "Without a file: ~/.claude/settings.json, and settings.json and settings.local.json in .claude here. Rules of a project's settings\n" +
      "hold in its folder only. Shows which entries were taken, which were not, and which do something else than they seem to. A deny may be\n" +
      "taken wider than it is, never narrower; one that cannot be taken comes first, and --apply then refuses unless --force. Nothing is\n" +
      "changed, and no hub is needed, without --apply.",
    json: "print the entries and the policy as JSON",
    options: (command) =>
      command
        .option("--apply", "add the rules to those in force; a rule that is there already is not added again")
        .option("--force", `go without deny rules that cannot be taken; ${FORCE}`)
        .option("--cwd <folder>", "the project's folder on the machine of its agents (default: the one above .claude)"),
  }).action(async (path: string | undefined, options: ImportOptions) =>
    (await import("../policy/import-policy.ts")).importPolicy(path, options, context),
  )
  defineCommand(policy, {
    name: "suggest",
    summary: "Suggest rules for what people always allow, and list rules that do nothing",
    examples: ["signalbox policy suggest", "signalbox policy suggest --since 90d"],
    notes: "Nothing is changed.",
    json: "print the suggestions as JSON",
    options: (command) => command.option("--since <time>", `${SINCE}; 30d if left out`),
  }).action(async (options: SuggestOptions) => (await tests()).suggestRules(options, context))
  defineCommand(policy, {
    name: "log [version]",
    summary: "List the policies that were in force, show what one changed, or go back to one",
    examples: ["signalbox policy log", "signalbox policy log 2", "signalbox policy log --restore 1"],
    json: "print the versions, or the one version, as JSON",
    options: (command) =>
      command
        .option("--restore <version>", "put this version in force again", wholeNumber("--restore", 1))
        .option("--force", FORCE)
        .option("--limit <number>", "how many versions", wholeNumber("--limit", 1, 500), 20),
  }).action(async (version: string | undefined, options: LogOptions) =>
    (await import("../policy/policy-log.ts")).showPolicyLog(version, options, context),
  )
}

export function addGrants(program: Command, context: CommandContext): void {
  const grants = group(program, {
    name: "grants",
    words: "List and revoke what people always allow",
    example: "signalbox grants ls",
  })
  const work = () => import("../policy/grants.ts")
  defineCommand(grants, {
    name: "ls",
    summary: "List standing permissions",
    examples: ["signalbox grants ls", "signalbox grants ls --session 3f2a"],
    json: "print the list as JSON",
    options: (command) => command.option("--session <id>", "only those given in this session"),
  }).action(async (options: GrantsOptions) => (await work()).listGrants(options, context))
  defineCommand(grants, {
    name: "revoke <grant>",
    summary: "Revoke a standing permission",
    examples: ["signalbox grants revoke 8c11"],
    json: "print the permission, and whether it is gone, as JSON",
  }).action(async (grant: string, options: JsonOption) => (await work()).revokeGrant(grant, options, context))
}

export function addAudit(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "audit",
    summary: "Show who or what decided, when and why",
    examples: [
      "signalbox audit --since 7d --by ada",
      "signalbox audit --what ask/denied --tool Bash",
      "signalbox audit --since 30d --csv > audit.csv",
    ],
    notes: "The newest records are shown. As JSON or CSV, all that match are printed, oldest first.",
    json: "print the records as JSON, one per line",
    options: (command) =>
      command
        .option("--since <time>", SINCE)
        .option("--by <name>", "only what this person or rule did")
        .option("--rule <id>", "only what this rule decided")
        .option("--session <id>", "only records of this session")
        .option("--machine <name>", "only records of sessions on this machine")
        .option("--tool <name>", "only requests of this tool")
        .option("--what <outcome>", "only this outcome, such as ask/allowed, ask/denied or policy/changed")
        .option(
          "--limit <number>",
          "how many records (default: 50; all with --json or --csv)",
          wholeNumber("--limit", 1),
        )
        .option("--csv", "print the records as CSV"),
  }).action(async (options: AuditOptions) => (await import("../policy/audit.ts")).showAudit(options, context))
}
