import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { AskingCockpit, detail, dock, PATIENCE } from "./asks-page.ts"
import { axe } from "./axe.ts"
import { check } from "./check.ts"
import { hasBrowser } from "./cockpit.ts"

const RULE = { id: "hurry", effect: "ask", tool: "Bash", expiresAfterMs: 1_200_000, maxExtensions: 2 }

describe.runIf(hasBrowser)("an ask that expires", () => {
  let stage: AskingCockpit
  beforeAll(async () => {
    stage = await AskingCockpit.open()
    await stage.hub.call("PUT", "/api/policy", { rules: [RULE] })
  })
  afterAll(async () => {
    await stage?.dispose()
  })
  const more = (page: Page) => page.getByRole("button", { name: "More time" })

  check(
    "[K-15] it is given more time where it stands, as often as its rule allows, and everybody sees it",
    async () => {
      const agent = await stage.agent({ title: "Hurry" })
      agent.ask({ command: "npm run hurry" })
      await stage.waitFor(agent.id, 1)
      const page = await stage.session(agent.id)
      const watcher = await stage.session(agent.id, { role: "viewer" })
      await dock(page)
        .getByText(/^expires in (?:19|20) min$/)
        .waitFor()
      await dock(watcher)
        .getByText(/^expires in (?:19|20) min$/)
        .waitFor()
      expect(await more(watcher).count()).toBe(0)
      await more(page).focus()
      await page.keyboard.press("Enter")
      for (const each of [page, watcher])
        await dock(each)
          .getByText(/^expires in (?:39|40) min$/)
          .waitFor()
      await page
        .getByRole("status", { name: "Announcements" })
        .getByText(/^More time: expires in (?:39|40) min$/)
        .waitFor()
      // Nothing was answered by it, and the button is there for whoever wants it again.
      expect(await stage.states(agent.id)).toEqual(["pending"])
      expect(await more(page).evaluate((button) => button === document.activeElement)).toBe(true)
      await more(page).click()
      await dock(page)
        .getByText(/^expires in (?:59|60) min$/)
        .waitFor()
      await more(page).waitFor({ state: "detached" })
      const { records } = await stage.hub.get(`/api/audit?session=${agent.id}&limit=10`)
      const told = records.map(({ what }: { what: string }) => what).filter((what: string) => what.startsWith("ask/"))
      expect(told).toEqual(["ask/extended", "ask/extended"])
    },
  )

  check("[K-15] two who press at once give it once", async () => {
    const agent = await stage.agent({ title: "Together" })
    agent.ask({ command: "npm run together" })
    await stage.waitFor(agent.id, 1)
    const pages = [await stage.session(agent.id), await stage.session(agent.id, { role: "operator" })]
    const held: (() => Promise<void>)[] = []
    for (const page of pages) await page.route("**/extend", (route) => void held.push(() => route.continue()))
    for (const page of pages) await more(page).click()
    await expect.poll(() => held.length, PATIENCE).toBe(2)
    await Promise.all(held.map((go) => go()))
    for (const page of pages)
      await dock(page)
        .getByText(/^expires in (?:39|40) min$/)
        .waitFor()
    expect((await stage.asks(agent.id))[0].extension.left).toBe(1)
  })

  check("[K-15] on a phone too, large enough for a thumb, and what was refused says why", async () => {
    const agent = await stage.agent({ title: "Thumb" })
    agent.ask({ command: "npm run thumb" })
    const [ask] = await stage.waitFor(agent.id, 1)
    const page = await stage.inbox(`/requests/${ask.id}`, { size: "phone" })
    const box = await more(page).boundingBox()
    expect(box?.height).toBeGreaterThanOrEqual(44)
    expect(await axe(page)).toEqual([])
    await page.route("**/extend", (route) => route.abort())
    await more(page).tap()
    await detail(page)
      .getByRole("alert")
      .getByText(/^Not extended:/)
      .waitFor(PATIENCE)
    await page.unroute("**/extend")
    await more(page).tap()
    await detail(page)
      .getByText(/^expires in (?:39|40) min$/)
      .waitFor()
    expect(await detail(page).getByRole("alert").count()).toBe(0)
  })
})
