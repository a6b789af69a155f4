import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { connectHub, type Hub } from "@signalbox/client"
import { expect } from "vitest"
import { ensureOfficialSdk, OFFICIAL } from "../../scripts/official-sdk.mjs"
import { openTestDatabase } from "../postgres/server.ts"
import { root } from "./snippets.ts"

const SIGNALBOX = join(root, "packages/cli/bin/signalbox.mjs")
const SAID = '{"type":"user","message":{"role":"user","content":"hello"}}\n'

/** The scenario of the stand-in for a signed-in `claude`. */
const SCENARIO = `turns:
  - { on: Review, repeat: true, steps: [{ say: APPROVE }] }
  - { on: permission, repeat: true, steps: [{ tool: Bash, input: { command: touch made } }, { say: Done. }] }
  - on: choose
    repeat: true
    steps:
      - tool: AskUserQuestion
        input:
          questions:
            - { question: Which one?, header: One, multiSelect: false, options: [{ label: PostgreSQL, description: a }, { label: SQLite, description: b }] }
      - say: Done.
  - on: form
    repeat: true
    steps:
      - elicit: Where to?
        server: deploys
        schema: { type: object, required: [name], properties: { name: { type: string } } }
      - say: Done.
  - { repeat: true, steps: [{ say: Done. }] }
`

export interface Ended {
  readonly code: number | null
  readonly output: string
}

/**
 * The machine of somebody who reads a page: a home, a project with a git history, a `claude` that is signed in (the
 * simulator), and a hub with a runner on a port of its own.
 */
export class World {
  readonly folder: string = mkdtempSync(join(tmpdir(), "signalbox-docs-"))
  readonly home: string = join(this.folder, "home")
  readonly project: string = join(this.home, "project")
  #runnerToken: Promise<string> | undefined
  #database: Promise<string> | undefined
  #hub: ChildProcess | undefined

  async make(): Promise<void> {
    mkdirSync(join(this.project, "node_modules/@anthropic-ai"), { recursive: true })
    for (const name of [".bin", "@signalbox", "signalbox", "pino"])
      symlinkSync(join(root, "node_modules", name), join(this.project, "node_modules", name))
    const official = await ensureOfficialSdk(OFFICIAL.at(-1) ?? "")
    symlinkSync(official.packageDirectory, join(this.project, "node_modules/@anthropic-ai/claude-agent-sdk"))
    writeFileSync(join(this.project, "package.json"), '{"private":true,"scripts":{"test":"true"}}\n')
    writeFileSync(join(this.project, ".gitignore"), "node_modules\n")
    mkdirSync(join(this.project, ".claude"))
    writeFileSync(join(this.project, ".claude/settings.json"), '{"permissions":{"allow":["Bash(npm run lint)"]}}\n')
    const tasks = /```md\n([\s\S]*?)```/.exec(readFileSync(join(root, "docs/loop.md"), "utf8"))?.[1]
    writeFileSync(join(this.project, "TASKS.md"), tasks ?? "")
    const bin = join(this.folder, "bin")
    mkdirSync(bin)
    writeFileSync(join(this.folder, "scenario.yaml"), SCENARIO)
    const sim = join(root, "packages/simulator/bin/claude-sim.mjs")
    const scenario = `SIGNALBOX_SIM_SPEED=max SIGNALBOX_SIM_SCENARIO='${join(this.folder, "scenario.yaml")}'`
    writeFileSync(join(bin, "claude"), `#!/bin/sh\n${scenario} exec '${process.execPath}' '${sim}' "$@"\n`)
    chmodSync(join(bin, "claude"), 0o755)
    const git = (...args: string[]) => execFileSync("git", args, { cwd: this.project, env: this.env, stdio: "ignore" })
    git("init", "-q")
    git("add", "-A")
    git("-c", "user.name=Reader", "-c", "user.email=reader@localhost", "commit", "-qm", "first")
    writeFileSync(join(this.project, "package.json"), '{"private":true,"scripts":{"test":"true"},"name":"changed"}\n')
  }

  get env(): Record<string, string> {
    const path = [
      join(this.folder, "bin"),
      join(root, "node_modules/.bin"),
      dirname(process.execPath),
      "/usr/bin",
      "/bin",
    ]
    return {
      PATH: path.join(":"),
      HOME: this.home,
      LANG: "C.UTF-8",
      TERM: "dumb",
      // Signed in, as far as anybody here can tell: the agent is the simulator.
      ANTHROPIC_API_KEY: "not-a-key",
      npm_config_prefix: join(this.folder, "prefix"),
      GIT_AUTHOR_NAME: "Reader",
      GIT_AUTHOR_EMAIL: "reader@localhost",
      GIT_COMMITTER_NAME: "Reader",
      GIT_COMMITTER_EMAIL: "reader@localhost",
    }
  }

  get url(): string {
    const { url } = JSON.parse(readFileSync(join(this.home, ".signalbox/hub.json"), "utf8"))
    return url
  }

  get token(): string {
    return readFileSync(join(this.home, ".signalbox/admin-token"), "utf8").trim()
  }

  hub(): Hub {
    return connectHub({ url: this.url, token: this.token })
  }

  /** One for the page's second machine: a hub refuses another token for the same machine. */
  runnerToken(): Promise<string> {
    this.#runnerToken ??= this.hub()
      .request({ method: "POST", path: "/api/tokens", body: { role: "runner" } })
      .then((made) => (made as { token: string }).token)
    return this.#runnerToken
  }

  /** The address of a PostgreSQL database, empty at first. */
  database(): Promise<string> {
    this.#database ??= openTestDatabase().then(({ url }) => url)
    return this.#database
  }

  /** A hub that was told to end takes its file away first; what started it may end a moment later. */
  get hasHub(): boolean {
    return this.#isAlive && existsSync(join(this.home, ".signalbox/hub.json"))
  }

  get #isAlive(): boolean {
    return this.#hub !== undefined && this.#hub.exitCode === null && this.#hub.signalCode === null
  }

  /** The hub of this home, started as a page says. */
  async startHub(command: string, cwd: string): Promise<void> {
    await this.stopHub()
    const child = spawn("bash", ["-c", `exec ${command}`], { cwd, env: this.env, stdio: ["ignore", "ignore", "pipe"] })
    this.#hub = child
    let said = ""
    child.stderr.on("data", (text: Buffer) => {
      said += text.toString()
    })
    const isReady = async () => {
      if (!this.#isAlive) throw new Error(`${command}: ended at once\n${said}`)
      return this.hasHub && (await this.hub().runners.list()).some(({ connected }) => connected)
    }
    await expect.poll(isReady, { timeout: 120_000 }).toBe(true)
  }

  async stopHub(): Promise<void> {
    const child = this.#hub
    if (child === undefined) return
    await this.run(`'${process.execPath}' '${SIGNALBOX}' down --agents`, { cwd: this.home })
    if (this.#isAlive) child.kill("SIGTERM")
    if (this.#isAlive) await once(child, "exit")
    this.#hub = undefined
  }

  /** A command in a shell, to its end; with `until`, it is interrupted when that is so. */
  async run(
    command: string,
    options: { cwd: string; env?: Record<string, string>; until?: (output: string) => Promise<boolean> },
  ): Promise<Ended> {
    const child = spawn("bash", ["-c", command], {
      cwd: options.cwd,
      env: { ...this.env, ...options.env },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    })
    let output = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (output += text.toString()))
    child.stdin.on("error", () => undefined).end(SAID)
    const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)))
    if (options.until !== undefined) {
      const { until } = options
      await expect.poll(async () => child.exitCode !== null || (await until(output)), { timeout: 120_000 }).toBe(true)
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGINT")
    }
    return { code: await ended, output }
  }

  async end(): Promise<void> {
    await this.stopHub()
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
