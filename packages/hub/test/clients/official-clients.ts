import { spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath, pathToFileURL } from "node:url"
import { onTestFinished } from "vitest"
import { ensureOfficialSdk } from "../../../../scripts/official-sdk.mjs"

export interface HubAddress {
  readonly url: string
  readonly token: string
}

export interface Told {
  readonly client: string
  readonly what: string
  readonly detail?: unknown
}

/** The three official clients in their process, and what they tell. */
export class OfficialClients {
  readonly told: Told[] = []
  readonly #child: ReturnType<typeof spawn>
  #wakers: (() => void)[] = []
  #isOver = false

  private constructor(child: ReturnType<typeof spawn>) {
    this.#child = child
    if (child.stdout === null) throw new Error("the clients have no output")
    createInterface({ input: child.stdout }).on("line", (line) => {
      // The file beside this one writes it.
      this.told.push(JSON.parse(line) as Told)
      this.#wake()
    })
    child.on("exit", () => {
      this.#isOver = true
      this.#wake()
    })
  }

  static async start(hub: HubAddress, session: string, road: "websocket" | "sse"): Promise<OfficialClients> {
    const sdk = await ensureOfficialSdk("0.3.325")
    const entry = pathToFileURL(join(sdk.packageDirectory, "browser-sdk.js")).href
    const orders = { entry, road, session, url: hub.url, token: hub.token }
    const program = fileURLToPath(new URL("official-clients.mjs", import.meta.url))
    const child = spawn(process.execPath, [program], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { PATH: process.env["PATH"], ORDERS: JSON.stringify(orders) },
    })
    onTestFinished(() => void child.kill())
    return new OfficialClients(child)
  }

  say(client: string, text: string): void {
    this.#child.stdin?.write(`${JSON.stringify({ client, text })}\n`)
  }

  of(client: string, what: string): unknown[] {
    return this.told.filter((told) => told.client === client && told.what === what).map((told) => told.detail)
  }

  /** Resolves when it is so. */
  async until(isSo: () => boolean, what: string): Promise<void> {
    while (!isSo()) {
      if (this.#isOver) throw new Error(`the clients ended before ${what}: ${JSON.stringify(this.told)}`)
      await new Promise<void>((resolve) => this.#wakers.push(resolve))
    }
  }

  async results(client: string, count: number): Promise<void> {
    const results = () =>
      this.of(client, "message").filter((detail) => JSON.stringify(detail).includes('"type":"result"'))
    await this.until(() => results().length >= count, `${count} results of ${client}`)
  }

  #wake(): void {
    const wakers = this.#wakers
    this.#wakers = []
    for (const wake of wakers) wake()
  }
}
