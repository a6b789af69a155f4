import type { Scenario } from "@signalbox/simulator"
import type { Page } from "playwright-core"
import { expect } from "vitest"
import type { Json } from "../hub/hub-process.ts"
import { AskingAgent } from "./asking-agent.ts"
import { CockpitHarness, type PageOptions } from "./cockpit.ts"

export const PATIENCE = { timeout: 30_000, interval: 50 } as const

/** A cockpit with agents that ask, and what its tests do again and again. */
export class AskingCockpit {
  readonly cockpit: CockpitHarness
  readonly #agents: AskingAgent[] = []

  constructor(cockpit: CockpitHarness) {
    this.cockpit = cockpit
  }

  static async open(): Promise<AskingCockpit> {
    return new AskingCockpit(await CockpitHarness.open())
  }

  get hub(): CockpitHarness["hub"] {
    return this.cockpit.hub
  }

  /** A simulated agent whose first question is open. */
  async asked(scenario: Scenario, title = "Asks"): Promise<string> {
    const { id } = await this.cockpit.agent({ scenario, title })
    await this.waitFor(id, 1)
    return id
  }

  /** An agent that asks what it is told to. */
  async agent(options: Parameters<typeof AskingAgent.dial>[1]): Promise<AskingAgent> {
    const agent = await AskingAgent.dial(this.hub, options)
    this.#agents.push(agent)
    return agent
  }

  async waitFor(id: string, count: number): Promise<readonly Json[]> {
    await expect.poll(async () => (await this.openAsks(id)).length, PATIENCE).toBe(count)
    return this.openAsks(id)
  }

  async openAsks(id: string): Promise<readonly Json[]> {
    return (await this.hub.get(`/api/asks?state=pending&session=${id}`)).asks
  }

  async asks(id: string): Promise<readonly Json[]> {
    return (await this.hub.get(`/api/asks?session=${id}`)).asks
  }

  async states(id: string): Promise<readonly string[]> {
    return (await this.asks(id)).map(({ state }) => state)
  }

  async session(id: string, options: PageOptions = {}): Promise<Page> {
    const page = await this.cockpit.page(options)
    await page.goto(`/s/${id}`)
    await page.getByRole("feed", { name: "Transcript" }).waitFor()
    return page
  }

  async inbox(path = "/requests", options: PageOptions = {}): Promise<Page> {
    const page = await this.cockpit.page(options)
    await page.goto(path)
    await page
      .getByRole("region", { name: "Request" })
      .or(page.getByRole("heading", { level: 1 }))
      .first()
      .waitFor()
    return page
  }

  async dispose(): Promise<void> {
    for (const agent of this.#agents) agent.end()
    await this.cockpit?.dispose()
  }
}

export const dock = (page: Page) => page.getByRole("region", { name: /^Waiting for/ })
export const detail = (page: Page) => page.getByRole("region", { name: "Request", exact: true })
export const rows = (page: Page) => page.getByRole("list", { name: "Open requests" }).getByRole("listitem")

/** A card that counts what is done to it. */
export const READY = "[data-ask][data-armed='true']:not(:has([data-held]))"

/** The button of a request that was read. */
export const allows = (page: Page) => dock(page).locator("[data-act=primary]:not([data-held], [data-unread])")

/** The card counts what is done to it only after a moment. */
export async function armed(page: Page): Promise<void> {
  await dock(page)
    .getByRole("button", { name: /^(?:Allow|Approve|Deny|Send|Accept)/ })
    .first()
    .waitFor()
  // Whoever answered here before is there already.
  const isThere = await page.evaluate(() => document.activeElement?.closest("[data-ask]") !== null)
  if (!isThere) await page.keyboard.press("F6")
  await dock(page).locator(READY).waitFor()
}
