// A real hub, simulated agents that dial it, and a browser that looks at it.
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { chromium } from "playwright-core"
import { ensureSystemPackage } from "../../scripts/system-package.mjs"
import { call, startHub } from "../hub-process.mjs"

const SIMULATOR = fileURLToPath(new URL("../../packages/simulator/bin/claude-sim.mjs", import.meta.url))
const PATIENCE_MS = 120_000
const DESKTOP = { width: 1440, height: 900 }

/** @typedef {{ title: string, scenario: object, prompt?: string, args?: string[] }} AgentOptions */

export class Scene {
  #folder = mkdtempSync(join(tmpdir(), "signalbox-bench-web-"))
  /** @type {import("node:child_process").ChildProcess[]} */
  #agents = []

  /** @param {import("../hub-process.mjs").RunningHub} hub @param {import("playwright-core").Browser} browser */
  constructor(hub, browser) {
    this.hub = hub
    this.browser = browser
  }

  static async open() {
    const executablePath = ensureSystemPackage("chromium")
    if (executablePath === undefined) throw new Error("there is no chromium: install it, and try again")
    const browser = await chromium.launch({
      executablePath,
      headless: true,
      args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"],
    })
    return new Scene(await startHub(), browser)
  }

  /** A page that nothing is kept for yet: no cache, no storage. It is signed in, and at no address. @param {Pick<import("../hub-process.mjs").RunningHub, "url" | "token">} hub */
  async coldPage(hub = this.hub) {
    const context = await this.browser.newContext({ viewport: DESKTOP, baseURL: hub.url })
    const reply = await context.request.post("/api/login", { data: { token: hub.token } })
    if (!reply.ok()) throw new Error(`signing in: ${reply.status()} ${await reply.text()}`)
    // A busy machine is slow, and says so in what is measured.
    context.setDefaultTimeout(PATIENCE_MS)
    return context.newPage()
  }

  /** A session with an agent on it, that has been told its first message. @param {AgentOptions} options */
  async agent({ title, scenario, prompt = "Go on", args = [] }) {
    const session = await call(this.hub, "/api/sessions", { agent: "external", title, prompt })
    const file = join(this.#folder, `${session.id}.json`)
    writeFileSync(file, JSON.stringify(scenario))
    const flags = "--print --output-format stream-json --input-format stream-json --verbose --replay-user-messages"
    const child = spawn(process.execPath, [SIMULATOR, "--sdk-url", session.ingress.url, ...flags.split(" "), ...args], {
      cwd: this.#folder,
      // The end of its input would be its own.
      stdio: ["pipe", "ignore", "inherit"],
      env: {
        PATH: process.env["PATH"],
        HOME: this.#folder,
        SIGNALBOX_SIM_PROFILE: "2.1.120",
        SIGNALBOX_SIM_SCENARIO: file,
        CLAUDE_CODE_SESSION_ACCESS_TOKEN: session.ingress.token,
      },
    })
    this.#agents.push(child)
    return String(session.id)
  }

  /** @param {string} id @param {string} content */
  say(id, content) {
    return call(this.hub, `/api/sessions/${id}/messages`, { content })
  }

  /** @param {string} ask */
  answer(ask) {
    return call(this.hub, `/api/asks/${ask}/answer`, { behavior: "allow" })
  }

  /** Looks again and again. @param {string} path @param {(body: any) => boolean} isSo @param {number} [patienceMs] */
  async until(path, isSo, patienceMs = 600_000) {
    const end = performance.now() + patienceMs
    for (;;) {
      const body = await call(this.hub, path)
      if (isSo(body)) return body
      if (performance.now() > end)
        throw new Error(`${path} did not become what was waited for: ${JSON.stringify(body)}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  async close() {
    await this.browser.close()
    for (const child of this.#agents) child.kill("SIGKILL")
    await this.hub.stop()
    rmSync(this.hub.data, { recursive: true, force: true })
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
