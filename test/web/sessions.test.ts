import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { asksFor, says } from "./scenarios.ts"

describe.runIf(hasBrowser)("the sessions", () => {
  let cockpit: CockpitHarness
  let asking: string
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
    asking = (await cockpit.agent({ title: "Fix atlas tests", scenario: asksFor("npm test") })).id
    for (const title of ["Bump deps", "Docs refresh", "Migrate db"])
      await cockpit.agent({ title, scenario: says("Done.") })
  })
  afterAll(async () => {
    await cockpit?.dispose()
  })

  async function open(options: Parameters<CockpitHarness["page"]>[0] = {}, query = ""): Promise<Page> {
    const page = await cockpit.page(options)
    await page.goto(`/sessions${query}`)
    await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor()
    return page
  }
  const answer = async (behavior: "allow" | "deny") => {
    const { asks } = await cockpit.hub.get(`/api/asks?state=pending&session=${asking}`)
    for (const ask of asks) await cockpit.hub.post(`/api/asks/${ask.id}/answer`, { behavior })
  }

  check("[S-1] a session with an open ask stands first, and says that it needs somebody", async () => {
    const page = await open()
    const first = page.getByRole("list", { name: "Needs you" }).getByRole("listitem").first()
    await first.waitFor()
    await first.getByRole("link", { name: /^Needs you Fix atlas tests/ }).waitFor()
  })

  check("[S-2] answered elsewhere, it leaves that section by itself", async () => {
    const page = await open()
    await page.getByRole("list", { name: "Needs you" }).waitFor()
    await answer("allow")
    await page.getByRole("list", { name: "Needs you" }).waitFor({ state: "detached" })
    await page.getByRole("list", { name: "Finished" }).getByText("Fix atlas tests").waitFor()
  })

  check("[S-3] while the focus is in the list no row moves, and what would have moved is offered", async () => {
    const page = await open()
    const rows = page.locator("[data-session] > a")
    await expect.poll(() => rows.count()).toBe(4)
    await rows.nth(2).focus()
    const before = await rows.nth(2).boundingBox()
    await cockpit.hub.post(`/api/sessions/${asking}/messages`, { content: "again" })
    await page.getByRole("button", { name: /^Update order, \d+ moved$/ }).waitFor()
    expect(await rows.nth(2).evaluate((row) => row.ownerDocument.activeElement === row)).toBe(true)
    expect((await rows.nth(2).boundingBox())?.y).toBe(before?.y)
    await page.getByRole("button", { name: /Update order/ }).click()
    await page.getByRole("list", { name: "Needs you" }).waitFor()
    await answer("deny")
  })

  check("[S-4] the filter is in the address and survives a reload", async () => {
    const page = await open()
    await page.getByRole("searchbox", { name: "Filter sessions" }).fill("atlas")
    await expect.poll(() => page.locator("[data-session]").count()).toBe(1)
    expect(new URL(page.url()).search).toBe("?q=atlas")
    await page.reload()
    await expect.poll(() => page.locator("[data-session]").count()).toBe(1)
    expect(await page.getByRole("searchbox", { name: "Filter sessions" }).inputValue()).toBe("atlas")
  })

  check("[S-5] a viewer's menus have nothing that changes a session", async () => {
    const page = await open({ role: "viewer" })
    await page.getByRole("button", { name: "Menu of Bump deps" }).click()
    await page.getByRole("menuitem", { name: "Open" }).waitFor()
    expect(await page.getByRole("menuitem").allTextContents()).toEqual(["Open"])
    expect(await page.getByRole("button", { name: "New session" }).count()).toBe(0)
  })

  check("[S-7] the board has the same sections side by side, each with its count and its menus", async () => {
    const page = await open()
    await page.getByRole("group", { name: "View" }).getByRole("button", { name: "Board" }).click()
    expect(new URL(page.url()).search).toBe("?view=board")
    await page.reload()
    const column = (name: string) => page.getByRole("region", { name, exact: true })
    await column("Finished").getByRole("listitem").filter({ hasText: "Docs refresh" }).waitFor()
    await cockpit.hub.post(`/api/sessions/${asking}/messages`, { content: "once more" })
    await column("Needs you")
      .getByRole("link", { name: /^Needs you Fix atlas tests/ })
      .waitFor()
    const [first, second] = [await column("Needs you").boundingBox(), await column("Finished").boundingBox()]
    expect(first?.y).toBe(second?.y)
    expect(first?.x).toBeLessThan(second?.x ?? 0)
    await column("Finished")
      .getByRole("heading", { name: /^Finished \d$/ })
      .waitFor()
    await column("Finished").getByRole("button", { name: "Menu of Docs refresh" }).click()
    await page.getByRole("menuitem", { name: "Fork…" }).waitFor()
    await page.keyboard.press("Escape")
    await answer("deny")
    await page.getByRole("button", { name: "List" }).click()
    expect(new URL(page.url()).search).toBe("")
  })

  check("[S-8] sessions are grouped by machine or folder, and the address keeps it", async () => {
    const page = await open()
    await page.getByRole("combobox", { name: "Group" }).selectOption("By machine")
    await page.getByRole("list", { name: "External" }).getByText("Bump deps").waitFor()
    await page.getByRole("combobox", { name: "Group" }).selectOption("By folder")
    await expect.poll(() => page.getByRole("list", { name: /project$/ }).count()).toBe(4)
    expect(new URL(page.url()).search).toBe("?group=folder")
    await page.getByRole("combobox", { name: "Group" }).selectOption("By status")
    expect(new URL(page.url()).search).toBe("")
  })

  check("[S-9] a session is renamed, archived and brought back from its row, by keys too", async () => {
    const page = await open()
    const row = (name: string) => page.getByRole("listitem").filter({ hasText: name })
    await row("Migrate db").getByRole("button", { name: "Menu of Migrate db" }).click()
    await page.getByRole("menuitem", { name: "Rename…" }).click()
    await page.getByRole("textbox", { name: "Title" }).fill("Migrate the db")
    await page.keyboard.press("Enter")
    await row("Migrate the db").getByRole("link").focus()
    await page.keyboard.press("#")
    await row("Migrate the db").waitFor({ state: "detached" })
    await page.getByRole("checkbox", { name: "Archived" }).check()
    await row("Migrate the db")
      .getByRole("button", { name: /^Menu of/ })
      .click()
    await page.getByRole("menuitem", { name: "Unarchive" }).click()
    await page.getByRole("checkbox", { name: "Archived" }).uncheck()
    await row("Migrate the db").waitFor()
  })

  check("[S-10] what the keys lead to stands below its section's heading, not under it", async () => {
    const page = await open({ size: { width: 1440, height: 300 } })
    const rows = page.locator("[data-session] > a")
    await expect.poll(() => rows.count()).toBe(4)
    await rows.last().focus()
    const isUnder = `(() => {
      const { left, top } = document.activeElement.getBoundingClientRect()
      return !document.activeElement.contains(document.elementFromPoint(left + 20, top + 1))
    })()`
    for (let n = 0; n < 3; n++) {
      await page.keyboard.press("k")
      expect(await page.evaluate(isUnder)).toBe(false)
    }
  })

  check("[S-11] where every session is archived, that is what is said, with the way to them", async () => {
    const page = await open()
    await page.route(/\/api\/sessions\?/, async (route) => {
      const reply = await (await route.fetch()).json()
      const sessions = reply.sessions.map((session: object) => ({ ...session, archived: true, pendingAsks: 0 }))
      await route.fulfill({ json: { ...reply, sessions } })
    })
    await page.reload()
    await page.getByText("All sessions are archived.").waitFor()
    await page.getByRole("button", { name: "Show archived" }).click()
    await page.getByRole("link", { name: /Bump deps/ }).waitFor()
  })

  check("[S-6] of a thousand sessions at most 80 rows are in the document", async () => {
    const make = (n: number) => cockpit.hub.post("/api/sessions", { agent: "external", title: `Waiting ${n}` })
    for (let n = 0; n < 990; n += 30) await Promise.all(Array.from({ length: 30 }, (_, index) => make(n + index)))
    for (let n = 990; n < 1000; n++) await make(n)
    const page = await open()
    await page.getByText("Waiting 999").waitFor()
    expect(await page.locator("[data-session]").count()).toBeLessThanOrEqual(80)
    await page.getByRole("button", { name: "Board" }).click()
    await page.getByRole("region", { name: "Starting" }).getByText("Waiting 999").waitFor()
    expect(await page.locator("[data-session]").count()).toBeLessThanOrEqual(80)
  })
})
