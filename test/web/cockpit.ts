// What runs inside of a page is typed as such.
/// <reference lib="dom" />
import type { Scenario } from "@signalbox/simulator"
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"
import { ensureSystemPackage } from "../../scripts/system-package.mjs"
import { type AgentProcess, startAgent } from "../hub/agent-process.ts"
import { HubProcess } from "../hub/hub-process.ts"

const chromiumPath = ensureSystemPackage("chromium")

/** Without a browser these suites are left out, and it is said; in CI that is a failure. */
export const hasBrowser = chromiumPath !== undefined

export const SIZES = {
  desktop: { width: 1440, height: 900 },
  laptop: { width: 1280, height: 800 },
  tablet: { width: 834, height: 1194 },
  "small-tablet": { width: 820, height: 1180 },
  phone: { width: 390, height: 844 },
} as const

export interface PageOptions {
  readonly size?: keyof typeof SIZES | { readonly width: number; readonly height: number }
  readonly theme?: "light" | "dark"
  readonly role?: "viewer" | "operator" | "admin"
  /** Signed in unless told otherwise. */
  readonly signedIn?: boolean
}

export interface AgentOptions {
  readonly scenario: Scenario
  readonly title?: string
  readonly prompt?: string
  readonly version?: string
  readonly args?: readonly string[]
}

export interface HarnessOptions {
  /** The name that pages have the hub by, over plain http: to the browser it is another machine's. */
  readonly host?: string
}

/** A hub process with simulated agents, and a browser that looks at it. */
export class CockpitHarness {
  readonly hub: HubProcess
  readonly #browser: Browser
  readonly #baseUrl: string
  readonly #agents: AgentProcess[] = []
  readonly #contexts: BrowserContext[] = []
  /** What any page said that it should not have. */
  readonly complaints: string[] = []

  private constructor(hub: HubProcess, browser: Browser, baseUrl: string) {
    this.hub = hub
    this.#browser = browser
    this.#baseUrl = baseUrl
  }

  /** With a hub of its own, or one that is there already: it is ended with the rest. */
  static async open(running?: HubProcess, { host }: HarnessOptions = {}): Promise<CockpitHarness> {
    if (chromiumPath === undefined) throw new Error("there is no browser")
    const named = host === undefined ? undefined : `http://${host}`
    const hub = running ?? (await HubProcess.start(named === undefined ? [] : ["--public-url", named]))
    const { host: listening } = new URL(hub.ready.url)
    const browser = await chromium.launch({
      executablePath: chromiumPath,
      headless: true,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        ...(host === undefined ? [] : [`--host-resolver-rules=MAP ${host} ${listening}`]),
      ],
    })
    return new CockpitHarness(hub, browser, named ?? hub.ready.url)
  }

  async page(options: PageOptions = {}): Promise<Page> {
    const { size = "desktop", theme = "light", role = "admin", signedIn = true } = options
    const viewport = typeof size === "string" ? SIZES[size] : size
    const isPhone = viewport.width < 640
    const context = await this.#browser.newContext({
      viewport,
      colorScheme: theme,
      baseURL: this.#baseUrl,
      reducedMotion: "reduce",
      hasTouch: isPhone,
      isMobile: isPhone,
    })
    this.#contexts.push(context)
    if (signedIn) await this.#signIn(context, role)
    const page = await context.newPage()
    page.on("pageerror", (error) => this.complaints.push(`${page.url()}: ${error.message}`))
    page.on("console", (message) => {
      if (message.type() === "error") this.complaints.push(`${page.url()}: ${message.text()}`)
    })
    return page
  }

  /** A session with a simulated agent on it, that has been told its first message. */
  async agent(options: AgentOptions): Promise<{ readonly id: string; readonly process: AgentProcess }> {
    const { scenario, title, prompt = "Go on", version = "2.1.120", args } = options
    const session = await this.hub.post("/api/sessions", {
      agent: "external",
      prompt,
      ...(title === undefined ? {} : { title }),
    })
    const process = await startAgent({
      kind: "simulator",
      version,
      url: this.#dialled(session.ingress.url),
      token: session.ingress.token,
      scenario,
      ...(args === undefined ? {} : { args }),
    })
    this.#agents.push(process)
    return { id: session.id, process }
  }

  async dispose(): Promise<void> {
    for (const context of this.#contexts) await context.close()
    await this.#browser.close()
    for (const agent of this.#agents) await agent.dispose()
    await this.hub.dispose()
  }

  /** The name that the browser has the hub by is known to nobody else. */
  #dialled(url: string): string {
    const dialled = new URL(url)
    dialled.host = new URL(this.hub.ready.url).host
    return dialled.href
  }

  async #signIn(context: BrowserContext, role: "viewer" | "operator" | "admin"): Promise<void> {
    const { token } = this.hub.ready
    const own = role === "admin" ? token : (await this.hub.post("/api/tokens", { role, name: `the ${role}` })).token
    const reply = await context.request.post("/api/login", { data: { token: own } })
    if (!reply.ok()) throw new Error(`signing in: ${reply.status()} ${await reply.text()}`)
  }
}
