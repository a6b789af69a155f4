import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { allows } from "./asks-page.ts"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { asksFor, says } from "./scenarios.ts"

/**
 * What somebody is told who listens instead of looks: the names and roles of every main screen, kept beside this file. When one
 * changes on purpose: `SIGNALBOX_TESTS=full npx vitest run test/web/looks-names.test.ts -u`, and read the difference.
 */
describe.runIf(hasBrowser)("what each screen is called to those who listen", () => {
  let cockpit: CockpitHarness
  let asking: string
  let done: string
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
    asking = (await cockpit.agent({ title: "Fix flaky auth tests", scenario: asksFor("npm ci") })).id
    done = (await cockpit.agent({ title: "Bump deps", scenario: says("All of them are at their **latest** version.") }))
      .id
  })
  afterAll(async () => {
    await cockpit?.dispose()
  })

  async function isReady(): Promise<void> {
    const asks = async () => (await cockpit.hub.get("/api/asks?state=pending")).asks.length
    await expect.poll(asks, { timeout: 60_000 }).toBe(1)
    const turns = async () => (await cockpit.hub.get(`/api/sessions/${done}`)).turns
    await expect.poll(turns, { timeout: 60_000 }).toBe(1)
  }
  async function told(page: Page, name: string): Promise<void> {
    const snapshot = await page.locator("body").ariaSnapshot()
    await expect(withoutChance(snapshot)).toMatchFileSnapshot(`names/${name}.yaml`)
  }

  const screens: readonly (readonly [name: string, path: () => string, ready: (page: Page) => Promise<unknown>])[] = [
    ["sessions", () => "/sessions", (page) => page.getByRole("list", { name: "Finished" }).waitFor()],
    [
      "session-that-asks",
      () => `/s/${asking}`,
      // It can be allowed once its end was in view for a moment.
      (page) => allows(page).waitFor(),
    ],
    [
      "new-session",
      () => "/new",
      async (page) => {
        await page.getByRole("textbox", { name: "First message" }).waitFor()
        await page.getByRole("list", { name: "Finished" }).waitFor()
      },
    ],
    ["search", () => "/search?q=deps", (page) => page.locator("[data-hit]").first().waitFor()],
    ["machines", () => "/machines", (page) => page.getByText(/^Hub history/).waitFor()],
    ["appearance", () => "/settings/appearance", (page) => page.getByRole("radio", { name: "Dark" }).waitFor()],
    ["keyboard", () => "/settings/keyboard", (page) => page.getByRole("switch").waitFor()],
    // The last: what was read in one tab is read in all.
    ["session", () => `/s/${done}`, (page) => page.getByRole("feed").getByText("latest").waitFor()],
  ]
  for (const [name, path, ready] of screens) {
    check(`${name} has the names and roles it had`, async () => {
      await isReady()
      const page = await cockpit.page()
      await page.goto(path())
      await ready(page)
      await told(page, name)
      await page.context().close()
    })
  }
})

/** Ages, folders, ids and ports are others in each run, and a page that was closed may count as a viewer for a moment. */
function withoutChance(snapshot: string): string {
  return snapshot
    .replaceAll(/(127\.0\.0\.1):\d+/g, "$1")
    .replaceAll(/ \d+ (?:watching|viewers?)\b/g, "")
    .replaceAll(/signalbox-agent-\w+/g, "signalbox-agent")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|ask_[\w-]{22}/g, "id")
    .replaceAll(/\b\d+(?:\.\d+)? ?(?:ms|s|min|h|d)\b/g, "a while")
    .replaceAll(/\b\d+(?:\.\d+)? [kM]B · \d+ events\b/g, "some history")
    .replaceAll(/\b\d{1,2}:\d\d(?::\d\d)?\b/g, "a time")
    .concat("\n")
}
