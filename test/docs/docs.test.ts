import { writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { isWholeDocs } from "../gate.ts"
import { Terminal, tmux } from "../terminal/terminal.ts"
import { commandsOf, pages, root, type Snippet, snippetsOf } from "./snippets.ts"
import { standIn } from "./stand-ins.ts"
import { World } from "./world.ts"

/** Commands that go on until they are stopped. */
const GOES_ON = /--watch|--follow|signalbox runner |claude-sim .*--sdk-url/
const STARTS_A_HUB = /^(?:npx )?signalbox up\b|^npm start\b/
/** The hub here is alone, and this says so. */
const NEEDS_SEVERAL_HUBS = /^signalbox hubs --rotate-secret/
const NEEDS_A_TERMINAL = /signalbox attach|--attach|discover --watch/
/** Kept for the commands after them, as in the reader's own shell. */
const SETS = /^(?:cd |export |[A-Z_]+=\S*$|[A-Z_]+=\$\()/

const all = pages().flatMap(snippetsOf)
const isRun = ({ noRun, language }: Snippet) => noRun === undefined && language !== "json"
const where = ({ page, line }: Snippet) => `${page}:${line}`

describe("the docs", () => {
  it("[CL80] every block that could be run is run, but for a few that say why", () => {
    expect(all.length).toBeGreaterThan(50)
    expect(
      all.filter(({ noRun }) => noRun !== undefined).map((snippet) => `${snippet.page}: ${snippet.noRun}`),
    ).toEqual([
      "README.md: it runs this check too",
      "docs/simulator.md: each ends badly on purpose; the simulator's own tests run them",
    ])
  })

  it.each(all.filter(({ language }) => language === "json"))("[CL80] $page:$line is JSON", ({ text }) => {
    expect(() => JSON.parse(text)).not.toThrow()
  })
})

/** The registry and the cache of whoever runs the tests; the home here has neither. */
function npmSettings(): Record<string, string> {
  const home = process.env["HOME"] ?? ""
  const settings = Object.entries(process.env).filter(([name]) =>
    /^npm_config_(?:registry|.*proxy|cafile)$/i.test(name),
  )
  return {
    ...Object.fromEntries(settings.map(([name, value]) => [name, value ?? ""])),
    npm_config_userconfig: join(home, ".npmrc"),
    npm_config_cache: join(home, ".npm"),
  }
}

/** In the clone: what is about the clone itself. Elsewhere: in a project of one's own. */
function folderOf(page: string, command: string, world: World): string {
  if (page.startsWith("examples/")) return join(root, dirname(page))
  return /^(?:npm (?:start|run|pack|ci)|mkdir)\b/.test(command) && page === "README.md" ? root : world.project
}

if (isWholeDocs)
  describe.each(pages().filter((page) => snippetsOf(page).some(isRun)))("%s", (page) => {
    const snippets = snippetsOf(page).filter(isRun)
    const world = new World()
    const settings: string[] = []
    beforeAll(() => world.make(), 600_000)
    afterAll(() => world.end(), 120_000)

    for (const snippet of snippets) {
      if (snippet.language === "sh")
        for (const command of commandsOf(snippet.text))
          it(`[CL80] ${where(snippet)} ${command}`, () => runCommand(command), 600_000)
      if (snippet.language === "js")
        it(`[CL80] ${where(snippet)} is a program`, () => runProgram(snippet.text), 300_000)
      if (snippet.language === "yaml")
        it(`[CL80] ${where(snippet)} is a scenario`, () => runScenario(snippet.text), 300_000)
    }

    async function ensureHub(): Promise<void> {
      if (!world.hasHub) await world.startHub("signalbox up --port 0", world.home)
    }

    async function runCommand(written: string): Promise<void> {
      const cwd = folderOf(page, written, world)
      const startsHub = STARTS_A_HUB.test(written) && !page.startsWith("examples/")
      if (startsHub && !written.includes("--data")) return world.startHub(written, cwd)
      await ensureHub()
      const command = await standIn(written, world)
      if (SETS.test(command)) settings.push(command)
      if (NEEDS_A_TERMINAL.test(command)) return inTerminal(command, cwd)
      const goesOn = GOES_ON.test(written) || startsHub
      const before = await told()
      const until = async (output: string) =>
        /--sdk-url|signalbox runner/.test(written) ? (await told()) !== before : output !== ""
      // A second machine has a home of its own.
      const elsewhere = written.includes("signalbox runner") ? { HOME: join(world.folder, "other") } : {}
      // npx must find what it runs: a package of that name in the registry is not ours.
      const env = {
        ...elsewhere,
        ...(/^npm (?:install|pack)/.test(written) ? npmSettings() : { npm_config_offline: "true" }),
      }
      const script = [...settings, ...(settings.at(-1) === command ? [] : [command])].join("\n")
      const { code, output } = await world.run(`set -eo pipefail\n${script}`, {
        cwd,
        env,
        ...(goesOn ? { until } : {}),
      })
      // null: the interrupt ended it. curl exits with 0 also when the hub refuses.
      const refused = NEEDS_SEVERAL_HUBS.test(written) && output.includes("--cluster-url") ? [1] : [0]
      expect(goesOn ? [0, 130, null] : refused, output).toContain(code)
      expect(written.startsWith("curl") && output.includes('"error"'), output).toBe(false)
    }

    /** The hub's sessions and runners: a command that prints nothing changes them. */
    async function told(): Promise<string> {
      const { sessions } = await world.hub().sessions()
      const runners = await world.hub().runners.list()
      return JSON.stringify([sessions.map(({ id, state }) => id + state), runners.map(({ connected }) => connected)])
    }

    async function inTerminal(command: string, cwd: string): Promise<void> {
      if (tmux === undefined) return
      const script = `cd '${cwd}' && ${command}`
      const terminal = await Terminal.open({ width: 100, height: 30, command: ["bash", "-c", script], env: world.env })
      try {
        await terminal.shows(/Ctrl-C/)
        await terminal.press("C-c")
        await terminal.shows("exit code 0")
      } finally {
        await terminal.close()
      }
    }

    async function runProgram(written: string): Promise<void> {
      await ensureHub()
      writeFileSync(join(world.project, "program.mjs"), await standIn(written, world))
      // A program that handles the interrupt goes on until it comes.
      const before = await told()
      const goesOn = written.includes("SIGINT") ? { until: async () => (await told()) !== before } : {}
      const role = written.includes("openRunner") ? await world.runnerToken() : world.token
      const env = { SIGNALBOX_TOKEN: role, CLAUDE_BIN: join(world.folder, "bin/claude") }
      const { code, output } = await world.run("exec node program.mjs", { cwd: world.project, env, ...goesOn })
      expect(code, output).toBe(0)
    }

    async function runScenario(text: string): Promise<void> {
      writeFileSync(join(world.project, "scenario.yaml"), text)
      const flags = "--input-format stream-json --output-format stream-json --verbose --permission-mode acceptEdits"
      const command = `claude-sim --scenario scenario.yaml --speed max ${flags}`
      const { output } = await world.run(command, { cwd: world.project })
      expect(output).toContain('"type":"system"')
    }
  })
