import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import type { Json } from "../hub/hub-process.ts"
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

  check("[S-151] sessions are selected by key, range and checkbox, and Escape clears that", async () => {
    const page = await open()
    const rows = page.locator("[data-session] > a")
    await expect.poll(() => rows.count()).toBe(4)
    const bar = page.getByRole("region", { name: "Selected sessions" })
    await rows.first().focus()
    await page.keyboard.press("x")
    await bar.getByText("1 selected").waitFor()
    await page.keyboard.press("Shift+ArrowDown")
    await bar.getByText("2 selected").waitFor()
    await page
      .getByRole("checkbox", { name: /^Select / })
      .last()
      .click({ modifiers: ["Shift"] })
    await bar.getByText("4 selected").waitFor()
    await page.getByRole("searchbox", { name: "Filter sessions" }).fill("atlas")
    await bar.getByText("1 selected").waitFor()
    await page.getByRole("searchbox", { name: "Filter sessions" }).fill("")
    await rows.first().focus()
    await page.keyboard.press("Escape")
    await bar.waitFor({ state: "detached" })
    const viewer = await open({ role: "viewer" })
    await viewer.locator("[data-session] > a").first().focus()
    await viewer.keyboard.press("x")
    expect(await viewer.getByRole("checkbox", { name: /^Select / }).count()).toBe(0)
    expect(await viewer.getByRole("region", { name: "Selected sessions" }).count()).toBe(0)
  })

  check("[S-152] what is done to several tells what came of it, one by one", async () => {
    const page = await open()
    const refused = await cockpit.hub.post("/api/sessions", { agent: "external", title: "Refuses" })
    await page.route(`**/api/sessions/${refused.id}`, (route) =>
      route.request().method() === "PATCH"
        ? route.fulfill({ status: 409, json: { error: { code: "session/ended", message: "It said no" } } })
        : route.continue(),
    )
    const box = (name: string) => page.getByRole("checkbox", { name: `Select ${name}` })
    const bar = page.getByRole("region", { name: "Selected sessions" })
    for (const name of ["Bump deps", "Docs refresh", "Refuses"]) await box(name).check()
    await bar.getByText("3 selected").waitFor()
    await bar.getByRole("button", { name: "Archive" }).click()
    await bar.getByText("2 of 3 archived.").waitFor()
    await bar.getByText(/^Refuses: /).waitFor()
    await bar.getByText("1 selected").waitFor()
    await bar.getByRole("button", { name: "Clear selection" }).click()
    await page.getByRole("checkbox", { name: "Archived" }).check()
    for (const name of ["Bump deps", "Docs refresh"]) await box(name).check()
    await bar.getByRole("button", { name: "Unarchive" }).click()
    await bar.getByText("2 sessions unarchived.").waitFor()
    for (const name of ["Bump deps", "Docs refresh"]) await box(name).check()
    await bar.getByRole("button", { name: "Message…" }).click()
    const dialog = page.getByRole("dialog", { name: "Message 2 sessions" })
    await dialog.getByRole("textbox", { name: "Message" }).fill("Say it again")
    await dialog.getByRole("button", { name: "Send" }).click()
    await bar.getByText("2 sessions messaged.").waitFor()
    // A message that did not get through is the same message when it is sent again, also after something else was done.
    const uuids: unknown[] = []
    await page.route("**/api/sessions/*/messages", async (route) => {
      uuids.push(route.request().postDataJSON().uuid)
      const json = { error: { code: "hub/failed", message: "It broke" } }
      await (uuids.length === 1 ? route.fulfill({ status: 500, json }) : route.continue())
    })
    const sendAll = async () => {
      await bar.getByRole("button", { name: "Message…" }).click()
      const one = page.getByRole("dialog", { name: "Message 1 session" })
      await one.getByRole("textbox", { name: "Message" }).fill("Say it once")
      await one.getByRole("button", { name: "Send" }).click()
    }
    await box("Bump deps").check()
    await sendAll()
    await bar.getByText("0 of 1 messaged.").waitFor()
    await bar.getByRole("button", { name: "Clear selection" }).click()
    await cockpit.hub.post("/api/sessions", { agent: "external", title: "Put away" })
    for (const action of ["Archive", "Unarchive"]) {
      await box("Put away").check()
      await bar.getByRole("button", { name: action, exact: true }).click()
      await bar.getByText(`1 session ${action.toLowerCase()}d.`).waitFor()
    }
    await box("Bump deps").check()
    await sendAll()
    await bar.getByText("1 session messaged.").waitFor()
    expect(uuids).toEqual([uuids[0], uuids[0]])
    await box("Refuses").check()
    await bar.getByRole("button", { name: "Stop…" }).click()
    await page.getByRole("alertdialog", { name: "Stop 1 session?" }).getByRole("button", { name: "Stop" }).click()
    await bar.getByText("1 session stopped.").waitFor()
  })

  check("[S-154] a viewer is not called to what they cannot answer", async () => {
    await cockpit.hub.post(`/api/sessions/${asking}/messages`, { content: "for a viewer" })
    const page = await open({ role: "viewer" })
    const list = page.getByRole("list", { name: "Waiting for someone" })
    await list.getByRole("link", { name: /^Waiting for someone Fix atlas tests/ }).waitFor()
    await page.getByRole("link", { name: "Requests", exact: true }).first().waitFor()
    expect(await page.title()).toBe("Sessions · Signalbox")
    expect(await page.getByText("Needs you").count()).toBe(0)
    await answer("deny")
  })

  check("[G-150] the list is one stop of Tab, and arrows go through its rows and their controls", async () => {
    // One section: between rows of two there is a heading, where arrows stop too.
    const page = await open({}, "?group=machine")
    const rows = page.locator("[data-session] > a")
    await rows.nth(3).waitFor()
    const stops = () =>
      page
        .locator("[data-roving]")
        .evaluate((list) => list.querySelectorAll("[tabindex='0'], a:not([tabindex])").length)
    expect(await stops()).toBe(1)
    const focused = () =>
      page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.tagName")
    await rows.first().focus()
    await page.keyboard.press("ArrowRight")
    expect(await focused()).toMatch(/^Menu of /)
    await page.keyboard.press("ArrowDown")
    expect(await rows.nth(1).evaluate((row) => row.ownerDocument.activeElement === row)).toBe(true)
    await page.keyboard.press("ArrowLeft")
    expect(await focused()).toMatch(/^Select /)
    expect(await stops()).toBe(1)
    await page.keyboard.press("End")
    await expect.poll(() => rows.last().evaluate((row) => row.ownerDocument.activeElement === row)).toBe(true)
    await page.keyboard.press("Tab")
    expect(await page.evaluate("document.activeElement.closest('[data-roving]') === null")).toBe(true)
  })

  check("[S-150] a row says how far its tasks are, its changed lines, its branch and its cost", async () => {
    const page = await open()
    await page.route(/\/api\/sessions\?/, async (route) => {
      const reply = await (await route.fetch()).json()
      const work = { progress: { done: 3, total: 7 }, changes: { files: 2, added: 120, removed: 14 } }
      const facts = (title: string) => ({ branch: "main", costUsd: 1.92, ...(title === "Docs refresh" ? {} : work) })
      const sessions = reply.sessions.map((one: Json) => ({ ...one, ...facts(one.title) }))
      await route.fulfill({ json: { ...reply, sessions } })
    })
    const row = (title: string) => page.getByRole("listitem").filter({ hasText: title })
    /** How many of these can be seen. */
    const seen = (title: string, text: string) =>
      row(title)
        .getByText(text, { exact: true })
        .evaluateAll(
          (parts) =>
            parts.filter((part) => {
              const { left, top, width, height } = part.getBoundingClientRect()
              return width > 0 && part.contains(document.elementFromPoint(left + width / 2, top + height / 2))
            }).length,
        )
    for (const density of ["comfortable", "compact"]) {
      await page.evaluate(`localStorage.setItem("signalbox:preferences", JSON.stringify({ density: "${density}" }))`)
      for (const width of [320, 390, 820, 1280, 1440]) {
        await page.setViewportSize({ width, height: 900 })
        await page.reload()
        await row("Bump deps").waitFor()
        const found = async () => ({
          progress: await seen("Bump deps", "3/7"),
          added: await seen("Bump deps", "+120"),
          cost: await seen("Bump deps", "$1.92"),
          branch: await seen("Bump deps", "main"),
          // Nothing has changed there.
          clean: await seen("Docs refresh", "main"),
        })
        const isPhone = width < 640
        const isLow = isPhone && density === "compact"
        const said = { progress: 1, added: 1, cost: isLow ? 0 : 1, branch: isPhone ? 0 : 1, clean: isLow ? 0 : 1 }
        await expect.poll(found, { message: `${density}, ${width} px` }).toEqual(said)
        expect((await row("Bump deps").boundingBox())?.height).toBeLessThanOrEqual(60)
        expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0)
      }
    }
  })

  check(
    "[S-156] a row's last line is the first sentence of what was said last, without the signs of markdown",
    async () => {
      const said = "## **Fixed** the `clock`. It was late.\n\n| a | b |\n| --- | --- |\n\n```sh\nnpm test\n```"
      await cockpit.agent({ title: "Previews", scenario: says(said) })
      const page = await open()
      const row = page.getByRole("listitem").filter({ hasText: "Previews" })
      await row.getByText("Fixed the clock.", { exact: true }).waitFor()
    },
  )

  check("[S-155] 20,000 sessions are scrolled through a page at a time, with few rows in the document", async () => {
    const page = await open()
    const [model] = (await cockpit.hub.get("/api/sessions")).sessions
    const COUNT = 20_000
    const session = (n: number) => ({
      ...model,
      id: `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
      title: `Long ago ${n}`,
      state: "ended",
      pendingAsks: 0,
      pinned: false,
      updatedAt: new Date(Date.parse("2030-01-01T00:00:00Z") - n * 60_000).toISOString(),
    })
    await page.route(/\/api\/sessions\?/, async (route) => {
      const query = new URL(route.request().url()).searchParams
      const [from, limit] = [Number(query.get("cursor") ?? 0), Number(query.get("limit") ?? 100)]
      const sessions = Array.from({ length: Math.min(limit, COUNT - from) }, (_, n) => session(from + n))
      await route.fulfill({ json: { sessions, cursor: from + limit < COUNT ? String(from + limit) : null } })
    })
    await page.reload()
    await page.getByText("Long ago 0", { exact: true }).waitFor()
    const rows = page.locator("[data-session]")
    const toEnd = "document.querySelector('[data-region=content]').scrollTo({ top: 1e9, behavior: 'instant' })"
    const last = page.getByText(`Long ago ${COUNT - 1}`, { exact: true })
    const seen = async () => {
      await page.evaluate(toEnd)
      expect(await rows.count()).toBeLessThanOrEqual(80)
      return last.count()
    }
    await expect.poll(seen, { timeout: 100_000, interval: 50 }).toBe(1)
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
