import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { quietPort } from "../quiet-port.ts"

const COMMAND = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), "packages/cli/bin/signalbox.mjs")

/** With SIGNALBOX_TEST_STORE=postgres every hub has a PostgreSQL database of its own instead of a file. */
export const databases =
  process.env["SIGNALBOX_TEST_STORE"] === "postgres" ? await import("../postgres/server.ts") : undefined
/** By data directories: a hub that is started on one again has the same database. */
const databaseOf = new Map<string, string>()

export interface Ready {
  readonly url: string
  readonly token: string
  readonly pid: number
}

interface HubPlace {
  /** A data directory that there is; a new one when it is left out. */
  readonly data?: string
  /** The command of another release. */
  readonly command?: string
}

/** A hub as its users run it: a process with a data directory, killed and started again as a test likes. */
export class HubProcess {
  readonly data: string
  /** Whose hub is started next. */
  command: string
  readonly #flags: readonly string[]
  #child: ChildProcess | undefined
  #ready: Ready | undefined
  #port = 0
  #log = ""

  private constructor(data: string, flags: readonly string[], command: string) {
    this.data = data
    this.command = command
    this.#flags = flags
  }

  /** In a flag, `{port}` is the hub's port. */
  static async start(flags: readonly string[] = [], { data, command = COMMAND }: HubPlace = {}): Promise<HubProcess> {
    const place = data ?? (await mkdtemp(join(tmpdir(), "signalbox-hub-")))
    const hub = new HubProcess(
      place,
      [...flags, ...(await storeFlags(place, { flags, isNew: data === undefined }))],
      command,
    )
    await hub.startElsewhere()
    return hub
  }

  get ready(): Ready {
    if (this.#ready === undefined) throw new Error("the hub is not up")
    return this.#ready
  }

  /** What it wrote to stderr, for a test that failed. */
  get log(): string {
    return this.#log
  }

  /** On the port it had before: agents and viewers find it again. */
  async startAgain(): Promise<void> {
    const args = [
      this.command,
      "up",
      "--json",
      "--no-open",
      // A runner outlives its hub: tests that need one start it themselves, and end it.
      "--no-runner",
      "--port",
      String(this.#port),
      "--data",
      this.data,
      ...this.#flags.map((flag) => flag.replace("{port}", String(this.#port))),
    ]
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] })
    this.#child = child
    child.stderr.on("data", (text: Buffer) => {
      this.#log += text.toString()
    })
    for await (const line of createInterface({ input: child.stdout })) {
      const ready = JSON.parse(line) as Ready
      this.#ready = ready
      this.#port = Number(new URL(ready.url).port)
      return
    }
    throw new Error(`the hub did not start: ${this.#log}`)
  }

  /** On any other port. */
  async startElsewhere(): Promise<void> {
    this.#port = await quietPort()
    await this.startAgain()
  }

  /** Stops the process where it is, or lets it go on. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child?.kill(signal)
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL")
  }

  /** Resolves with its exit code. */
  async stop(): Promise<number | null> {
    return this.#end("SIGTERM")
  }

  async dispose(): Promise<void> {
    await this.#end("SIGKILL")
    await rm(this.data, { recursive: true, force: true, maxRetries: 5 })
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
    token = this.ready.token,
  ): Promise<{ status: number; body: Json }> {
    const response = await fetch(`${this.ready.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === "" ? {} : JSON.parse(text) }
  }

  /** The body of a call that must succeed. */
  async get(path: string): Promise<Json> {
    const { status, body } = await this.call("GET", path)
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`)
    return body
  }

  async post(path: string, body: unknown = {}): Promise<Json> {
    const reply = await this.call("POST", path, body)
    if (reply.status >= 300) throw new Error(`POST ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
    return reply.body
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined || child.exitCode !== null) return child?.exitCode ?? null
    const exited = once(child, "exit")
    child.kill(signal)
    await exited
    return child.exitCode
  }
}

async function storeFlags(data: string, { flags, isNew }: { flags: readonly string[]; isNew: boolean }) {
  if (databases === undefined || flags.includes("--store")) return []
  if (isNew) databaseOf.set(data, (await databases.openTestDatabase()).url)
  const url = databaseOf.get(data)
  return url === undefined ? [] : ["--store", url]
}

/** What REST answers: looked at field by field by tests that know what they asked for. */
// oxlint-disable-next-line typescript/no-explicit-any -- the contract's shapes are what these tests check, by hand
export type Json = any
