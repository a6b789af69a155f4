import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { onTestFinished } from "vitest"
import { ensureClaude } from "../../../../scripts/claude-cli.mjs"
import { claudeEnvironment, type ScriptedApi } from "../../src/index.ts"

export interface Line {
  type: string
  subtype?: string
  [field: string]: unknown
}
interface Waiter {
  accepts: (line: Line) => boolean
  resolve: (line: Line) => void
  reject: (error: Error) => void
}

const FLAGS = "-p --output-format stream-json --input-format stream-json --verbose --permission-prompt-tool stdio"

/** A real CLI on stdio whose only world is a scripted API, in empty directories that go with the test. */
export class ClaudeProcess {
  readonly lines: Line[] = []
  readonly cwd: string
  readonly #child: ChildProcessWithoutNullStreams
  readonly #waiters = new Set<Waiter>()
  #stderr = ""
  #seen = 0

  static async start(version: string, api: ScriptedApi, extraFlags: string[] = []): Promise<ClaudeProcess> {
    const { command, args } = await ensureClaude(version)
    const root = await mkdtemp(join(tmpdir(), "signalbox-claude-"))
    const [home, cwd] = [await mkdtemp(join(root, "home-")), await mkdtemp(join(root, "cwd-"))]
    const flags = [...args, ...FLAGS.split(" "), "--setting-sources", "", ...extraFlags]
    const child = spawn(command, flags, { cwd, env: claudeEnvironment({ home, apiUrl: api.url }) })
    onTestFinished(async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGKILL")
        await once(child, "exit")
      }
      await rm(root, { recursive: true, force: true, maxRetries: 3 })
    })
    return new ClaudeProcess(child, cwd)
  }

  private constructor(child: ChildProcessWithoutNullStreams, cwd: string) {
    this.#child = child
    this.cwd = cwd
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text
    })
    child.stdin.on("error", () => {}) // the process is gone: whoever waits is told below
    createInterface({ input: child.stdout }).on("line", (text) => this.#take(JSON.parse(text)))
    child.once("close", (code) => {
      for (const waiter of this.#waiters) waiter.reject(new Error(`The CLI ended with ${code}: ${this.#report()}`))
    })
  }

  send(message: object): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`)
  }

  say(text: string): void {
    this.send({ type: "user", message: { role: "user", content: text }, parent_tool_use_id: null, session_id: "" })
  }

  /** The next line that is accepted, after the one this gave last. */
  async next(accepts: (line: Line) => boolean): Promise<Line> {
    const at = this.lines.findIndex((line, index) => index >= this.#seen && accepts(line))
    const past = this.lines[at]
    if (past !== undefined) {
      this.#seen = at + 1
      return past
    }
    return new Promise((resolve, reject) => {
      this.#waiters.add({ accepts, resolve, reject })
    })
  }

  async result(): Promise<Line> {
    return this.next((line) => line.type === "result")
  }

  /** Ends the input and waits for the end of the process. */
  async end(): Promise<number | null> {
    const closed = once(this.#child, "close")
    this.#child.stdin.end()
    await closed
    return this.#child.exitCode
  }

  #take(line: Line): void {
    this.lines.push(line)
    for (const waiter of this.#waiters) {
      if (!waiter.accepts(line)) continue
      this.#waiters.delete(waiter)
      this.#seen = this.lines.length
      waiter.resolve(line)
    }
  }

  #report(): string {
    return `${this.#stderr}\n${this.lines
      .slice(-5)
      .map((line) => JSON.stringify(line))
      .join("\n")}`
  }
}
