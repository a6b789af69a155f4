import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { AskingCockpit, PATIENCE } from "./asks-page.ts"
import { check, journey } from "./check.ts"
import { hasBrowser } from "./cockpit.ts"

interface Told {
  readonly title: string
  readonly options: NotificationOptions & { readonly actions?: unknown }
  readonly isClosed: boolean
}

describe.runIf(hasBrowser)("notifications", () => {
  let stage: AskingCockpit
  beforeAll(async () => {
    stage = await AskingCockpit.open()
  })
  afterAll(async () => {
    await stage?.dispose()
  })

  /** The system's side: what a page would have it show. A headless browser shows nothing. */
  async function watched({ isHidden, details = false }: { readonly isHidden: boolean; readonly details?: boolean }) {
    const page = await stage.cockpit.page()
    await page.addInitScript(
      ({ hidden, preferences }) => {
        const told: unknown[] = []
        class FakeNotification extends EventTarget {
          static permission = "granted"
          static requestPermission = () => Promise.resolve("granted")
          readonly entry: { isClosed: boolean }
          constructor(title: string, options: unknown) {
            super()
            this.entry = { isClosed: false }
            told.push(Object.assign(this.entry, { title, options }))
          }
          close() {
            this.entry.isClosed = true
          }
        }
        Object.assign(globalThis, { Notification: FakeNotification, told })
        localStorage.setItem("signalbox:preferences", JSON.stringify(preferences))
        if (!hidden) return
        Object.defineProperty(document, "visibilityState", { get: () => "hidden" })
        document.hasFocus = () => false
      },
      { hidden: isHidden, preferences: { notify: true, notifyDetails: details } },
    )
    return page
  }
  const told = (page: Page): Promise<readonly Told[]> => page.evaluate("globalThis.told")

  check("[K-13] a hidden tab tells once for each session, without the command, and offers no answer", async () => {
    const [one, two] = [await stage.agent({ title: "Payments" }), await stage.agent({ title: "Docs" })]
    const page = await watched({ isHidden: true })
    await page.goto("/sessions")
    // What waits when the page has read everything is no news.
    await page.getByText("Payments").first().waitFor()
    await page.getByText("Docs").first().waitFor()
    one.ask({ command: "echo sesame" })
    two.ask({ command: "echo sesame" })
    await expect.poll(async () => (await told(page)).length, PATIENCE).toBe(2)
    const all = await told(page)
    expect(all.map(({ title }) => title).toSorted()).toEqual(["Needs a decision: Docs", "Needs a decision: Payments"])
    expect(new Set(all.map(({ options }) => options.tag)).size).toBe(2)
    expect(JSON.stringify(all)).not.toContain("sesame")
    expect(all.every(({ options }) => options.actions === undefined)).toBe(true)

    const [ask] = await stage.waitFor(one.id, 1)
    await stage.hub.post(`/api/asks/${ask.id}/answer`, { behavior: "deny" })
    const isClosed = async () => (await told(page)).find(({ title }) => title.endsWith("Payments"))?.isClosed
    await expect.poll(isClosed, PATIENCE).toBe(true)
  })

  journey("details are told only where they were asked for, and nothing to those who look at the session", async () => {
    const agent = await stage.agent({ title: "Detailed" })
    const hidden = await watched({ isHidden: true, details: true })
    await hidden.goto("/sessions")
    await hidden.getByRole("heading", { name: "Sessions", level: 1 }).waitFor()
    const looking = await watched({ isHidden: false })
    await looking.goto(`/s/${agent.id}`)
    await looking.getByRole("feed", { name: "Transcript" }).waitFor()
    agent.ask({ command: "echo sesame" })
    await expect
      .poll(async () => (await told(hidden)).map(({ options }) => options.body), PATIENCE)
      .toEqual(["$ echo sesame"])
    await looking.getByRole("region", { name: "Waiting for you" }).getByText("echo sesame").first().waitFor()
    expect(await told(looking)).toEqual([])
  })

  journey("they are off until somebody switches them on", async () => {
    const page = await stage.cockpit.page()
    await page.goto("/settings/notifications")
    for (const name of [/^Notify me/, /^Show the request/, /^Play a sound/]) {
      expect(await page.getByRole("switch", { name }).isChecked()).toBe(false)
    }
  })
})
