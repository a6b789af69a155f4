import { PINNED } from "../scripts/claude-cli.mjs"

/**
 * What the gate (`npm test`) takes of everything there is (`npm run test:full`), named in this one place. The gate must
 * stay under ten minutes on two cores for the whole life of the project; `test:full` may take as long as it takes.
 */
const extent: "gate" | "full" = process.env["SIGNALBOX_TESTS"] === "full" ? "full" : "gate"

/** With SIGNALBOX_TEST_STORE=postgres hubs keep their data in PostgreSQL, and what is about SQLite's own files is left out. */
const aboutSqlite: readonly string[] =
  process.env["SIGNALBOX_TEST_STORE"] === "postgres"
    ? [
        // They open SQLite's store by themselves, whatever hubs use. PostgreSQL's has the same contracts in postgres*.test.ts.
        ..."backtest cold directory event-log journal killed long-reads migrations other-program purge purge-killed"
          .split(" ")
          .map((name) => `packages/hub/test/store/${name}.test.ts`),
        ..."search search-index sqlite-event-log wal-check"
          .split(" ")
          .map((name) => `packages/hub/test/store/${name}.test.ts`),
        // Back-up, check and repair of the file. PostgreSQL has its own tools for these.
        "packages/hub/test/store/upkeep/*.test.ts",
        // The disk that is filled is the data directory's. The database's own is filled in test/postgres/faults.test.ts.
        "test/hub/abuse-disk.test.ts",
      ]
    : []

/** Files that only `test:full` runs: a full disk needs the right to mount one, pictures are for people, these requests have no first checks. */
export const leftOut: readonly string[] =
  extent === "full"
    ? aboutSqlite
    : [
        // CLI 2.1.37 is a script of its vendor's, which reaches no API on Node 26.
        ...(process.env["SIGNALBOX_TESTS"] === "other-node" ? ["packages/sdk/test/real-cli.test.ts"] : []),
        "test/hub/abuse-disk.test.ts",
        "test/hub/abuse-replies.test.ts",
        "test/installed.test.ts",
        // They take long, and what they hold is held in a smaller way by others that the gate runs, or costs nobody an answer.
        "packages/cli/test/data-commands.test.ts",
        "packages/cli/test/attach/session-feed.test.ts",
        "packages/cli/test/causes.test.ts",
        "packages/cli/test/doctor.test.ts",
        "packages/cli/test/hub-elsewhere.test.ts",
        "packages/cli/test/not-signed-in.test.ts",
        "packages/cli/test/discover.test.ts",
        "packages/cli/test/export/export.test.ts",
        "packages/cli/test/json.test.ts",
        "packages/cli/test/next-command.test.ts",
        "packages/cli/test/policy-import.test.ts",
        "packages/cli/test/policy.test.ts",
        "packages/cli/test/purge-sessions.test.ts",
        "packages/hub/test/clients/official-browser.test.ts",
        "packages/hub/test/store/backtest.test.ts",
        "packages/hub/test/store/purge-killed.test.ts",
        "packages/hub/test/store/upkeep/blocks.test.ts",
        "packages/hub/test/store/upkeep/damage.test.ts",
        "packages/hub/test/store/upkeep/refusals.test.ts",
        "packages/sdk/test/sessions/fuzz.test.ts",
        "packages/sdk/test/sessions/real-sessions.test.ts",
        "packages/sdk/test/sessions/worktrees.test.ts",
        "packages/simulator/test/cli/environment.test.ts",
        "packages/simulator/test/faults/dialled-faults.test.ts",
        "packages/simulator/test/faults/stdio-faults.test.ts",
        "packages/simulator/test/gallery/gallery.test.ts",
        "packages/simulator/test/parity/same-as-the-cli.test.ts",
        "packages/simulator/test/record/dialled.test.ts",
        "packages/simulator/test/record/real-cli.test.ts",
        "packages/simulator/test/scenario/quick-scenario.test.ts",
        "test/examples.test.ts",
        "test/differential/exact-types.test.ts",
        "test/hub/anonymous-agent.test.ts",
        "test/hub/behind-a-proxy.test.ts",
        "test/hub/hook-allows.test.ts",
        "test/hub/hybrid-root.test.ts",
        // A hub whose database is killed is in the smoke that the gate runs.
        "packages/hub/test/store/move.test.ts",
        "packages/hub/test/cluster/claims.test.ts",
        "packages/hub/test/cluster/far-clients.test.ts",
        "packages/hub/test/cluster/far-streams.test.ts",
        "packages/hub/test/cluster/membership.test.ts",
        "packages/hub/test/store/postgres*.test.ts",
        "test/postgres/cluster.test.ts",
        "test/postgres/commands.test.ts",
        "test/postgres/faults.test.ts",
        "test/postgres/rolling-restart.test.ts",
        "test/postgres/faults/several-hubs-faults.test.ts",
        "test/postgres/streams.test.ts",
        "test/loop/loop.test.ts",
        "test/loop/loop-claude.test.ts",
        "test/loop/loop-killed.test.ts",
        "test/loop/loop-terminal.test.ts",
        "test/runner/secret-files.test.ts",
        "test/runner/direct-launch.test.ts",
        "test/terminal/export-page.test.ts",
        "test/terminal/run.test.ts",
        "test/upgrade/other-release.test.ts",
        "test/upgrade/short-year.test.ts",
        "test/web/shell-away.test.ts",
        // They have no first checks of a section, and take long.
        "test/web/colours.test.ts",
        "test/web/enforced.test.ts",
        "test/web/first-look.test.ts",
        "test/web/lanes.test.ts",
        "test/web/long-session.test.ts",
        "test/web/new-session-dialog.test.ts",
        "test/web/shell-layers.test.ts",
        "test/web/transcript.test.ts",
        "test/web/transcript-back.test.ts",
        "test/web/transcript-keys.test.ts",
        "test/web/session-header.test.ts",
        "test/web/code.test.ts",
        "test/web/people.test.ts",
        "test/web/panels.test.ts",
        "test/web/plain-http.test.ts",
        "test/web/search.test.ts",
        "test/web/real-claude.test.ts",
        "test/web/policy-why.test.ts",
        "test/web/looks-gallery.test.ts",
        "test/web/looks-names.test.ts",
        "test/web/looks-letters.test.ts",
        "test/web/pictures.test.ts",
        "test/web/asks-forms.test.ts",
        "test/web/asks-notifications.test.ts",
      ]

/** The data of earlier releases that is opened: a hub that was killed leaves the harder one. */
export const dataFixtures = (name: string): boolean => extent === "full" || name.endsWith("-killed")

/** Cases of each fuzzer. */
export const fuzzCases = extent === "full" ? 2_000_000 : 20_000

/** How often something that must hold every time is tried. */
export const repetitions = extent === "full" ? 100 : 10

/** Messages that an agent streams to a slow program. */
export const streamedMessages = extent === "full" ? 1_000_000 : 100_000

/** Simulated agents that one process plays at once. */
export const simulatedAgents = extent === "full" ? 500 : 50

/** The versions on which the scripted model is tried with a real CLI. */
export const claudeVersionsNow: readonly string[] = extent === "full" ? PINNED : PINNED.slice(-1)

/** Tests whose time is the real CLI's own waiting before it tries again. */
export const waitsOutRetries = extent === "full"

/** Real CLIs and the abuse of the hub: the gate runs these cases on these cells, as a smoke; `test:full` runs all. */
export const smoke: ReadonlySet<string> = new Set([
  "2.1.325 stdio: one turn",
  "2.1.325 stdio: permission allowed",
  "2.1.325 stdio: interrupt mid-stream",
  "2.1.325 stdio: SDK-hosted MCP server",
  "2.1.120 websocket: one turn",
  "2.1.120 websocket: permission allowed",
  "2.1.37 stdio: one turn",
  "2.1.37 websocket: permission denied",
  "2.1.37 hybrid: permission allowed",
  "2.1.325 stdio: resume",
  "2.1.325 stdio: [V1] nothing is said on connect, and every turn begins with an init",
  "2.1.325 stdio: [V3] an answer as can_use_tool_result does not allow the tool",
  "2.1.37 stdio: [V13] initialize is optional; late, it is refused by all but the newest generation",
  "2.1.120 websocket: [V18] what is said while the host is away: 2.1.37 loses it, 2.1.120 sends all it kept again",
  "2.1.325 stdio simulated: one turn",
  "2.1.325 stdio simulated: interrupt mid-stream",
  "2.1.325 stdio simulated: SDK-hosted MCP server",
  "2.1.120 websocket simulated: permission allowed",
  "2.1.37 stdio simulated: resume",
  "2.1.37 hybrid simulated: permission allowed",
  "SDK 0.3.325 with simulated 2.1.325: tool-allowed",
  "SDK 0.3.325 with simulated 2.1.325: mcp-one-tool",
  "SDK 0.2.37 with simulated 2.1.37: hook-pre-tool-deny",
  "SDK 0.3.325 with CLI 2.1.325: tool-allowed",
  "SDK 0.3.325 with CLI 2.1.325: hook-pre-tool-deny",
  "SDK 0.3.325 with CLI 2.1.325: mcp-one-tool",
  "SDK 0.3.325 with CLI 2.1.325: several-messages",
  "SDK 0.3.325 with CLI 2.1.325: late-question",
  "hub with simulated 2.1.120: tool-allowed",
  "hub with simulated 2.1.120: hook-pre-tool-deny",
  "hub with simulated 2.1.120: mcp-one-tool",
  "hub with simulated 2.1.120: interrupt-mid-stream",
  "SDK on a hub with the simulator: [Q70] attaches, has its turn, and leaves the agent alive for the next one",
  "SDK on a hub with the simulator: [Q74] a hub that is killed and comes back is waited for: its question is answered, and the turn ends",
  "hub with CLI 2.1.120: tool-allowed",
  "policy on CLI 2.1.325: reads a file that a rule denies, and no request reaches the hub",
  "enforce on CLI 2.1.325 in mode acceptEdits: [EN16] no tool reads what a rule denies, and others run",
  "enforce on CLI 2.1.325: [EN16] what a rule asks about is asked in a mode that asks nobody, and a person decides",
  "enforce on CLI 2.1.325: [EN17] hooks of the project do not run, and cannot switch the hub's off",
  "enforce on CLI 2.1.325: [EN18] a runner that is killed while a call waits takes the agent with it",
  "enforce on CLI 2.1.120: [EN3] an older CLI is refused by name, and started when an admin says so",
  "hub with CLI 2.1.120: a variable that is set is there in the agent's next command, and the CLI does not tell",
  "hub with claude 2.1.120: killed with an ask pending, the hub comes back with it, and its answer completes the turn",
  "hub with claude 2.1.37: killed with an ask pending, the hub comes back with it, and its answer completes the turn",
  "official SDK 0.2.37 on a hub by executable: hooks and servers",
  "official SDK 0.3.325 on a hub by spawn: model, mode and folder",
  "shim: real CLI 2.1.325",
  "shim: prompted CLI 2.1.325",
  "terminal: AT1 80",
  "terminal: AT2 letters",
  "terminal: AT5",
  "terminal: AT7 SIGTERM",
  "terminal: AT7 crash",
  "hub abuse: AB1",
  "hub abuse: AB2",
  "hub abuse: AB4",
  "hub abuse: AB11",
  "hub abuse: AB16",
  "hub abuse: AB18",
  "hub abuse: AB19",
  "hub abuse: AB20",
  "hub abuse: AB21",
  "hub abuse: AB22",
  "hub abuse: AB24",
  "hub abuse: AB25",
])

/** Whether a case of the real-CLI suites runs now. */
export function runsNow(cell: string, name: string): boolean {
  return extent === "full" || smoke.has(`${cell}: ${name}`)
}

/** How often the hub is killed in a scripted day. */
export function hubKills(kind: "simulator" | "claude"): number {
  if (extent === "gate") return 6
  return kind === "simulator" ? 150 : 50
}

/** Faults that several hubs go through, and the seed of their order. `npm run soak` sets more. */
export const clusterFaults = {
  count: Number(process.env["SIGNALBOX_FAULTS"] ?? 30),
  seed: process.env["SIGNALBOX_SEED"] === undefined ? undefined : Number(process.env["SIGNALBOX_SEED"]),
}

/** How hard the hub is abused. */
export const abuse = extent === "full" ? { connections: 2_000, floodMs: 10_000 } : { connections: 300, floodMs: 2_000 }

/**
 * The cockpit's checks that the gate runs, chosen by risk: every outcome and expiry of a request, reading to its end,
 * two tabs racing, a hub restart, hostile text, what would lose a message, an answer or a draft, and what the first load weighs.
 */
export const guardingChecks: ReadonlySet<string> = new Set(
  [
    "K-1 K-2 K-3 K-4 K-5 K-6 K-7 K-8 K-12 K-14 K-15 K-16 K-20 K-110 K-119 K-120 K-121 K-124 A-1 A-3 A-4 A-5 C-1 C-2 C-3 C-140",
    "V-1 V-2 V-3 V-4 V-5 V-27 X-1 X-2 X-3 X-16 X-120 X-121 S-1 S-2 S-141 N-2 N-3 N-5 M-1 P-4 P-8 T-3",
  ].flatMap((ids) => ids.split(" ")),
)

/** Whether a check of the cockpit, by any id of its title, runs now. */
export function cockpitChecksNow(title: string): boolean {
  return extent === "full" || [...title.matchAll(/\[([A-Z]-\d+)\]/g)].some(([, id = ""]) => guardingChecks.has(id))
}

/** Events of the long session in which something is looked for. */
export const searchedEvents = extent === "full" ? 100_000 : 10_000

/** Events of the session that is purged while another one works. */
export const purgedEvents = extent === "full" ? 100_000 : 10_000

/** How a runner ends under its agents. */
export const runnerEndings: readonly ("SIGTERM" | "SIGKILL")[] =
  extent === "full" ? ["SIGTERM", "SIGKILL"] : ["SIGKILL"]

/** What agents on a runner are put through. */
export const runnerTrials =
  extent === "full"
    ? { kinds: ["simulator", "2.1.325"], hubKills: 20, agents: 100, hubAwayMs: 60_000 }
    : { kinds: ["2.1.325"], hubKills: 3, agents: 10, hubAwayMs: 3_000 }

const widths = ["desktop", "laptop", "tablet", "small-tablet", "phone"] as const

/** The looks at every screen of the cockpit: all widths in both themes, or one. */
export const cockpitLooks: readonly (readonly [(typeof widths)[number], "light" | "dark"])[] =
  extent === "full"
    ? widths.flatMap((size) => (["light", "dark"] as const).map((theme) => [size, theme] as const))
    : [["desktop", "light"]]

/** Whether everything runs: pictures and journeys of the cockpit, shells that must be installed first. */
export const isWholeRun = extent === "full"

/** Whether the commands and programs of the docs are run; the gate only looks for blocks that nobody would run. */
export const isWholeDocs = extent === "full"

/** How often the hub is killed under a loop. */
export const loopKills = extent === "full" ? 10 : 2

/** The files that take a minute and more, the longest first. */
export const longest: readonly string[] = [
  "test/differential/differential.test.ts",
  "test/hub/kill.test.ts",
  "test/web/looks.test.ts",
  "test/postgres/faults/several-hubs-faults.test.ts",
  "packages/protocol/test/fuzz.test.ts",
  "packages/policy/test/command-fuzz.test.ts",
  "test/conformance/verdicts-control.test.ts",
  "packages/simulator/test/parity/same-as-the-cli.test.ts",
  "test/conformance/verdicts-messages.test.ts",
  "test/shim/shim.test.ts",
  "test/web/policy.test.ts",
  "test/docs/docs.test.ts",
  "test/hub/enforce.test.ts",
  "test/hub/sdk-programs.test.ts",
  "test/web/sessions.test.ts",
  "test/conformance/control.test.ts",
  "test/conformance/sessions.test.ts",
  "test/web/looks-gallery.test.ts",
  "test/web/session-header.test.ts",
  "test/conformance/turns.test.ts",
]
