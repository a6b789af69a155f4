import { setFlagsFromString } from "node:v8"
import type { Command } from "commander"
import type { CommandContext } from "../base/context.ts"
import { collect, defineCommand, wholeNumber } from "../base/define-command.ts"
import type { DiscoverOptions } from "../discover/discover.ts"
import type { DoctorOptions } from "../doctor/database-check.ts"
import type { HubsOptions } from "../hub/hubs.ts"
import type { RunnerCommandOptions } from "../runner/run-runner.ts"
import type { DownOptions } from "../up/down.ts"
import type { UpOptions } from "../up/up.ts"

export function addUp(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "up",
    summary: "Start the hub and a runner on this machine",
    notes:
      "With --store postgres://… (or SIGNALBOX_STORE) the hub keeps its data in a PostgreSQL database, and uses it again the next time. The password comes from PGPASSWORD, a .pgpass file or the address; other users of this machine can see what stands in a command line. More: docs/scale.md.",
    examples: ["signalbox up", "signalbox up --port 0 --data ./try --json --no-runner"],
    json: "print one line of JSON when ready, and nothing else on stdout",
    options: (command) =>
      command
        .option("--host <host>", "address to listen on", "127.0.0.1")
        .option(
          "--port <port>",
          "port to listen on (default: 8765, or the next free one up to 8864; 0: any)",
          wholeNumber("--port", 0, 65_535),
        )
        .option(
          "--store <store>",
          "sqlite, or a database: postgres://user@host:5432/database (default: the one used last)",
        )
        .option(
          "--cluster-url <url>",
          "where other hubs on the same database reach this one, such as http://10.0.0.2:8765",
        )
        .option("--cluster-ca <file>", "certificates (PEM) that hubs trust when they call each other over https")
        .option("--no-open", "don't open the cockpit in a browser")
        .option("--no-runner", "don't start a runner")
        .option("--public-url <url>", "the hub's address for people, if it is behind a proxy")
        .option("--allow-origin <url>", "a web page that may talk to the hub (repeatable)", collect, [])
        .option(
          "--trusted-proxy <address>",
          "a proxy (address or network) whose X-Forwarded-For is believed (repeatable)",
          collect,
          [],
        )
        .option("--anonymous-agents", "let agents on this machine connect without a token")
        .option("--anonymous-relay", "let plain relay frontends on this machine connect without a token")
        .option("--i-understand-plaintext", "listen beyond this machine without TLS"),
  }).action(async (options: UpOptions) => (await import("../up/up.ts")).up(options, context))
}

export function addHubs(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "hubs",
    summary: "List the hubs on the same database",
    examples: ["signalbox hubs", "signalbox hubs --rotate-secret"],
    json: "print the list as JSON",
    options: (command) =>
      command.option("--rotate-secret", "replace the secret by which these hubs know each other (admin)"),
  }).action(async (options: HubsOptions) => (await import("../hub/hubs.ts")).hubs(options, context))
}

export function addDown(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "down",
    summary: "Stop the hub on this machine, and its runner if no agent is running",
    examples: ["signalbox down", "signalbox down --agents"],
    json: "print what was stopped as JSON",
    options: (command) => command.option("--agents", "stop the agents and their runner too"),
  }).action(async (options: DownOptions) => (await import("../up/down.ts")).down(options, context))
}

export function addRunner(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "runner",
    summary: "Run agents on this machine for a hub elsewhere",
    examples: [
      "signalbox runner --hub https://signalbox.example.org --token-file ~/runner-token",
      "SIGNALBOX_TOKEN=… signalbox runner --hub http://10.0.0.5:8765 --name build-machine --max-agents 8",
    ],
    json: "print one line of JSON when connected to the hub",
    options: (command) =>
      command
        .option(
          "--hub <url>",
          "the hub's address, or several with commas between them if hubs share a store (signalbox up starts the runner of this machine's own hub)",
        )
        .option("--name <name>", "this machine's name (default: its host name)")
        .option("--label <label>", "a label to choose this machine by (repeatable)", collect, [])
        .option("--max-agents <n>", "how many agents may run at once", wholeNumber("--max-agents", 1, 10_000))
        .option("--token-file <file>", "file with its token (default: the variable SIGNALBOX_TOKEN)")
        .addOption(command.createOption("--local").hideHelp()),
  }).action(async (options: RunnerCommandOptions) => {
    // Set before the runner's modules are loaded: a heap gives nothing back of what that takes, and a runner lives for weeks.
    setFlagsFromString("--semi-space-growth-factor=1")
    return (await import("../runner/run-runner.ts")).runRunner(options, context)
  })
}

export function addDiscover(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "discover",
    summary: "Look for hubs and plain relays on ports 8765 to 8864 of this machine",
    examples: ["signalbox discover", "signalbox discover --watch", "signalbox discover --json"],
    json: "print the hubs and relays as JSON; with --watch, one change per line",
    options: (command) => command.option("--watch", "keep watching: show each hub as it comes and goes"),
  }).action(async (options: DiscoverOptions) => (await import("../discover/discover.ts")).discover(options, context))
}

export function addDoctor(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "doctor",
    summary: "Check this machine and its hub: what is wrong, and how to fix it",
    examples: ["signalbox doctor", "signalbox doctor --json | jq '.checks[] | select(.state != \"ok\")'"],
    json: "print the checks as JSON",
    options: (command) =>
      command.option(
        "--check-all",
        "check a database over 4 GB too, which takes minutes (the hub must not be running)",
      ),
  }).action(async (options: DoctorOptions) => (await import("../doctor/doctor.ts")).doctor(options, context))
}
