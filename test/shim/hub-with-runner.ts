import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { quietPort } from "../quiet-port.ts"

const COMMAND = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), "packages/cli/bin/signalbox.mjs")

// oxlint-disable-next-line typescript/no-explicit-any -- the contract's shapes are what these tests check, by hand
type Json = any

type Environment = Readonly<Record<string, string | undefined>>

interface Ready {
  readonly url: string
  readonly token: string
}

interface Started {
  readonly child: ChildProcess
  readonly ready: Ready
}

async function startHub(data: string, env: Environment, port: string): Promise<Started> {
  const child = spawn(process.execPath, [COMMAND, "up", "--json", "--port", port, "--data", data], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { PATH: process.env["PATH"], HOME: data, ...env },
  })
  for await (const line of createInterface({ input: child.stdout })) return { child, ready: JSON.parse(line) }
  throw new Error("the hub did not start")
}

/** `signalbox up`, as its users run it, with the runner that comes with it. */
export class HubWithRunner {
  readonly data: string
  readonly ready: Ready
  #child: ChildProcess
  readonly #env: Environment

  private constructor({ data, env, child, ready }: Started & { readonly data: string; readonly env: Environment }) {
    this.data = data
    this.ready = ready
    this.#env = env
    this.#child = child
  }

  /** `env` is what the runner and its agents get, beside the bare minimum. */
  static async start(data: string, env: Environment): Promise<HubWithRunner> {
    return new HubWithRunner({ data, env, ...(await startHub(data, env, String(await quietPort()))) })
  }

  /** Killed in the middle of whatever it does, and started again where it was. */
  async killAndStartAgain(): Promise<void> {
    this.#child.kill("SIGKILL")
    await once(this.#child, "exit")
    this.#child = (await startHub(this.data, this.#env, new URL(this.ready.url).port)).child
  }

  get(path: string): Promise<Json> {
    return this.#call("GET", path)
  }

  post(path: string, body: object): Promise<Json> {
    return this.#call("POST", path, body)
  }

  delete(path: string): Promise<Json> {
    return this.#call("DELETE", path)
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return
    this.#child.kill("SIGTERM")
    await once(this.#child, "exit")
  }

  /** With its runner and all that is on it. */
  async dispose(): Promise<void> {
    await promisify(execFile)(process.execPath, [COMMAND, "down", "--agents", "--data", this.data])
    this.#child.kill("SIGKILL")
  }

  async #call(method: string, path: string, body?: object): Promise<Json> {
    const reply = await fetch(`${this.ready.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.ready.token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const value: Json = await reply.json()
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(value)}`)
    return value
  }
}
