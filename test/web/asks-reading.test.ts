import type { Locator, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { AskingCockpit, armed, dock, PATIENCE } from "./asks-page.ts"
import { check } from "./check.ts"
import { hasBrowser } from "./cockpit.ts"
import { asksFor } from "./scenarios.ts"

const long = Array.from({ length: 60 }, (_, index) => `npm run step-${index}`).join("\n")
const writes = (content: string) => ({
  turns: [{ steps: [{ tool: "Write", input: { file_path: "/srv/api/large.txt", content }, result: "ok" }] }],
})

describe.runIf(hasBrowser)("reading a request", () => {
  let stage: AskingCockpit
  beforeAll(async () => {
    stage = await AskingCockpit.open()
  })
  afterAll(async () => {
    await stage?.dispose()
  })
  const primary = (page: Page) => dock(page).locator("[data-act=primary]")
  const unread = (page: Page) => dock(page).locator("[data-act=primary][data-unread]")
  const scrolled = (page: Page) =>
    dock(page)
      .getByRole("group", { name: "Request" })
      .evaluate((box) => box.scrollTop)

  check("[K-110] y on a request that is not read to its end reads on, and allows only after its end", async () => {
    const id = await stage.asked(asksFor(long))
    const page = await stage.session(id)
    await unread(page).waitFor()
    await dock(page)
      .getByText(/Page Down reads on/)
      .waitFor()
    await armed(page)
    let pages = 0
    for (; (await unread(page).count()) > 0; pages++) {
      expect(pages).toBeLessThan(20)
      await page.keyboard.press("y")
      expect(await stage.states(id)).toEqual(["pending"])
      await page.waitForTimeout(100)
    }
    expect(pages).toBeGreaterThan(1)
    // A press right after the page that came to the end was meant for that page.
    await page.keyboard.press("y")
    await page.waitForTimeout(500)
    await page.keyboard.press("y")
    await expect.poll(() => stage.states(id), PATIENCE).toEqual(["allowed"])
  })

  check("[K-110] Space, Page Down and End read on wherever in the card the focus is", async () => {
    const page = await stage.session(await stage.asked(asksFor(long)))
    await unread(page).waitFor()
    await armed(page)
    await page.keyboard.press("Space")
    const first = await scrolled(page)
    expect(first).toBeGreaterThan(0)
    await page.keyboard.press("PageDown")
    expect(await scrolled(page)).toBeGreaterThan(first)
    await page.keyboard.press("Home")
    expect(await scrolled(page)).toBe(0)
    await page.keyboard.press("End")
    await dock(page)
      .getByRole("button", { name: /^Allow once/ })
      .waitFor()
  })

  check(
    "[K-111] of 50,000 lines few are in the document, hidden characters are told, and the end must be reached",
    async () => {
      const lines = Array.from({ length: 50_000 }, (_, index) => `line ${index + 1}`)
      lines[31_203] = "pay\u202Eload"
      const id = await stage.asked(writes(lines.join("\n")))
      const page = await stage.session(id)
      await unread(page).waitFor()
      await dock(page).getByText("Hidden characters on line 31204.").waitFor()
      expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(6000)
      expect(await dock(page).getByRole("button", { name: "Show all" }).count()).toBe(0)
      await armed(page)
      await page.keyboard.press("End")
      await dock(page)
        .getByRole("button", { name: /^Allow once/ })
        .waitFor()
      await dock(page).getByText("line 50000", { exact: true }).waitFor()
      expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(6000)
      await primary(page).click()
      await expect.poll(() => stage.states(id), PATIENCE).toEqual(["allowed"])
    },
  )

  check("[K-112] a note below the request need not be seen to allow it", async () => {
    const page = await stage.session(
      await stage.asked(writes(Array.from({ length: 9 }, (_, index) => `line ${index}`).join("\n"))),
    )
    await page.setViewportSize({ width: 1280, height: 800 })
    await dock(page)
      .getByRole("button", { name: /^Allow once/ })
      .waitFor()
    expect(await unread(page).count()).toBe(0)
  })

  check("[K-115] a request says why: the agent's last sentence, the task, and what to look at twice", async () => {
    const steps = [
      { say: "Tests pass. I will remove the old build first." },
      { tool: "Bash", input: { command: "sudo rm -rf /var/cache/build" }, result: "ok" },
    ]
    const id = await stage.asked({ turns: [{ steps }] })
    const page = await stage.session(id)
    const [ask] = await stage.openAsks(id)
    const said = async (where: Locator) => {
      await where.getByText("I will remove the old build first.").waitFor()
      await where.getByText(/^Task:/).waitFor()
      const cues = where.getByRole("list", { name: "Look twice" }).getByRole("listitem")
      await cues.filter({ hasText: "Deletes" }).getByText("rm -rf /var/cache/build").first().waitFor()
      for (const cue of ["Superuser", "Outside the folder"]) await cues.filter({ hasText: cue }).waitFor()
    }
    await said(dock(page))
    await page.goto(`/requests/${ask.id}`)
    await said(page.locator("[data-ask]"))
  })

  check(
    "[K-116] while a request is open it is told once, in the dock; its row is one line, and stays one",
    async () => {
      const id = await stage.asked(writes("alpha\nbeta"))
      const page = await stage.session(id)
      const row = page.getByRole("feed").getByRole("button", { name: /large\.txt/ })
      await dock(page).getByText("alpha", { exact: true }).waitFor()
      await row.waitFor()
      expect(await row.getAttribute("aria-expanded")).toBe("false")
      expect(await page.getByRole("feed").getByText("Answer below").count()).toBe(0)
      await armed(page)
      await page.keyboard.press("y")
      await expect.poll(() => stage.states(id), PATIENCE).toEqual(["allowed"])
      await dock(page).waitFor({ state: "hidden" })
      expect(await row.getAttribute("aria-expanded")).toBe("false")
    },
  )

  check("[K-118] the arm drops when a request is allowed, at once for those who want no motion", async () => {
    const id = await stage.asked(asksFor("npm run arm"))
    const page = await stage.session(id)
    await page.emulateMedia({ reducedMotion: "reduce" })
    await armed(page)
    await page.keyboard.press("y")
    await page.locator("[data-outcome] [data-arm]").waitFor()
    expect(await page.locator("[data-arm]").evaluate((arm) => arm.getAnimations({ subtree: true }).length)).toBe(0)
  })

  check("[K-114] a person who denies and interrupts did not make the session fail", async () => {
    const id = await stage.asked(asksFor("npm run stop"))
    const page = await stage.session(id)
    await armed(page)
    await page.keyboard.press("n")
    await page.keyboard.type("Not this way")
    await dock(page)
      .getByText(/may not see the reason/)
      .waitFor()
    await page.keyboard.press("Control+Enter")
    await expect.poll(() => stage.states(id), PATIENCE).toEqual(["denied"])
    await expect.poll(async () => (await stage.hub.get(`/api/sessions/${id}`)).lastResult, PATIENCE).toBeDefined()
    const { lastResult } = await stage.hub.get(`/api/sessions/${id}`)
    expect(lastResult.interruptedBy).toBeDefined()
    await page
      .getByText(/^Interrupted by you/)
      .first()
      .waitFor()
    await page.goto("/sessions")
    await page.getByRole("heading", { level: 1 }).waitFor()
    expect(await page.getByRole("list", { name: "Failed" }).count()).toBe(0)
  })
})
