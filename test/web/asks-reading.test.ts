import type { Locator, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { AskingCockpit, allows, armed, dock, PATIENCE } from "./asks-page.ts"
import { check } from "./check.ts"
import { hasBrowser } from "./cockpit.ts"
import { asksFor } from "./scenarios.ts"

const long = Array.from({ length: 60 }, (_, index) => `npm run step-${index}`).join("\n")
const writes = (content: string) => ({
  turns: [{ steps: [{ tool: "Write", input: { file_path: "/srv/api/large.txt", content }, result: "ok" }] }],
})

/** In the page: its clock goes a hundred times slower from now on. */
const slowDown = () => {
  const now = performance.now.bind(performance)
  const start = now()
  performance.now = () => start + (now() - start) / 100
}

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
  const request = (page: Page) => dock(page).getByRole("group", { name: "Request" })
  const scrolled = (page: Page) => request(page).evaluate((box) => box.scrollTop)
  /** Pixels below what is in view. The end of a request takes the last few. */
  const leftOf = (page: Page) =>
    request(page).evaluate((box) => Math.max(0, Math.floor(box.scrollHeight - box.clientHeight - box.scrollTop - 9)))

  check("[K-110] y on a request that is not read to its end reads on, and allows only after its end", async () => {
    const id = await stage.asked(asksFor(long))
    const page = await stage.session(id)
    await unread(page).waitFor()
    await dock(page)
      .getByText(/Page Down reads on/)
      .waitFor()
    await armed(page)
    let pages = 0
    // Short of the end a press reads on, however slow the machine is: the end was not seen yet.
    for (; (await leftOf(page)) > 0; pages++) {
      expect(pages).toBeLessThan(20)
      const at = await scrolled(page)
      await page.keyboard.press("y")
      expect(await scrolled(page)).toBeGreaterThan(at)
      expect(await stage.states(id)).toEqual(["pending"])
    }
    expect(pages).toBeGreaterThan(1)
    await unread(page).waitFor({ state: "detached" })
    // A press right after a page counts for nothing, so it may take more than one.
    const pressed = async () => {
      await page.keyboard.press("y")
      return stage.states(id)
    }
    await expect.poll(pressed, { ...PATIENCE, interval: 500 }).toEqual(["allowed"])
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
    await allows(page).waitFor()
  })

  check("[K-119] a request whose end is pushed out of view by what arrives above it is not read", async () => {
    const page = await stage.cockpit.page({ size: { width: 1280, height: 800 } })
    // A moment of the page lasts for half a minute: it is not over before the words arrive.
    await page.addInitScript(slowDown)
    const id = await stage.asked(asksFor(Array.from({ length: 6 }, (_, n) => `npm run step-${n}`).join("\n")))
    await page.goto(`/s/${id}`)
    await dock(page).locator("[data-act=primary][data-held]").waitFor()
    // As cues and words do that come in late, but high enough for any screen.
    await page.evaluate(async () => {
      const end = document.querySelector("[data-ask] [data-request-end]") ?? document.body
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
      // The card's own observer was there first, and so has seen the end too.
      await new Promise<void>((resolve) => {
        new IntersectionObserver((all) => all.some((each) => each.isIntersecting) && resolve()).observe(end)
      })
      const late = document.createElement("p")
      Object.assign(late.style, { height: "250px", flexShrink: "0" })
      end.closest("[data-decision]")?.before(late)
    })
    await unread(page).waitFor()
    expect(await leftOf(page)).toBeGreaterThan(0)
  })

  check("[K-119] to show all of a request is not to read it", async () => {
    const page = await stage.session(await stage.asked(asksFor(long)))
    await dock(page).getByRole("button", { name: "Show all" }).click()
    await dock(page).getByRole("button", { name: "Show all" }).waitFor({ state: "detached" })
    expect(await unread(page).count()).toBe(1)
    await page.keyboard.press("End")
    await allows(page).waitFor()
  })

  /** A key that is held for more than a second. */
  const hold = async (page: Page, key: string) => {
    for (let n = 0; n < 30; n++) {
      await page.keyboard.down(key)
      await page.waitForTimeout(40)
    }
    await page.keyboard.up(key)
  }

  check("[K-124] Enter that is held reads on once, and neither allows nor remembers", async () => {
    const id = await stage.asked(asksFor(long))
    const page = await stage.session(id)
    await unread(page).focus()
    await hold(page, "Enter")
    expect(await scrolled(page)).toBeGreaterThan(0)
    expect([await unread(page).count(), await leftOf(page)]).toEqual([1, expect.toSatisfy((left) => left > 0)])
    const short = await stage.asked(asksFor("npm ci"))
    const other = await stage.session(short)
    const more = dock(other).getByRole("button", { name: "Allow and remember" })
    await armed(other)
    await more.focus()
    await hold(other, "Enter")
    await other.getByRole("menu", { name: "Allow and remember" }).waitFor()
    expect([await stage.states(id), await stage.states(short)]).toEqual([["pending"], ["pending"]])
  })

  check("[K-124] a key right after the menu opened, or after a letter, chooses nothing that lasts", async () => {
    const id = await stage.asked(asksFor("npm ci"))
    const page = await stage.session(id)
    await armed(page)
    await page.evaluate(slowDown)
    await page.keyboard.press("a")
    const menu = page.getByRole("menu", { name: "Allow and remember" })
    await page.keyboard.press("Space")
    await menu.getByRole("menuitem", { name: /^Allow in this session/ }).waitFor()
    await page.keyboard.type("alas ")
    expect([await menu.count(), await stage.states(id)]).toEqual([1, ["pending"]])
    await page.keyboard.press("Home")
    await page.evaluate(() => {
      const slow = performance.now()
      performance.now = () => slow + 500
    })
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect.poll(() => stage.states(id), PATIENCE).toEqual(["allowed"])
    const [ask] = await stage.asks(id)
    expect(ask.answer.updatedPermissions).toEqual([{ ...ask.suggestions[0], destination: "localSettings" }])
  })

  check("[K-120] an edit shows what its diff does not", async () => {
    const agent = await stage.agent({ title: "Edits" })
    const input = { file_path: "/srv/api/a.ts", old_string: "a", new_string: "b", replace_all: true }
    agent.ask(input, { tool_name: "Edit" })
    await stage.waitFor(agent.id, 1)
    const page = await stage.session(agent.id)
    await request(page).getByText('"replace_all": true').waitFor()
  })

  check("[K-122] a request is few elements, whatever is in it", async () => {
    const agent = await stage.agent({ title: "Hostile" })
    let deep: object = {}
    for (let n = 0; n < 2000; n++) deep = { a: deep }
    const asked = [
      [{ command: `echo ${"\u200B".repeat(50_000)}` }, "Bash", "U+200B ZWSP ×50000"],
      [{ command: `echo ${"a\u200B".repeat(5_000)}` }, "Bash", "⟨U+200B⟩"],
      [{ command: `echo first${"\na".repeat(200_000)}` }, "Bash", "echo first"],
      [deep, "mcp__x__y", '"a": {'],
    ] as const
    for (const [input, tool_name, words] of asked) {
      const requestId = agent.ask(input, { tool_name })
      await stage.waitFor(agent.id, 1)
      const page = await stage.session(agent.id)
      await request(page).getByText(words).first().waitFor()
      expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(6000)
      await page.context().close()
      agent.cancel(requestId)
      await stage.waitFor(agent.id, 0)
    }
  })

  check("[K-123] a plan shows what markdown would leave out, and nothing out of sight to the side", async () => {
    const agent = await stage.agent({ title: "Plans" })
    const plan = [
      '1. Tidy [up](./y "first hidden words")',
      '[x]: ./z "second hidden words"',
      `\`\`\`sh third hidden words\nls ${"-l ".repeat(200)}last\n\`\`\``,
      "| a |\n|---|\n| b | fourth hidden words |",
    ]
    agent.ask({ plan: plan.join("\n\n") }, { tool_name: "ExitPlanMode" })
    await stage.waitFor(agent.id, 1)
    const page = await stage.session(agent.id)
    const box = dock(page).getByRole("group", { name: "Plan", exact: true })
    for (const which of ["first", "second", "third", "fourth"])
      await box.getByText(new RegExp(`${which} hidden words`)).waitFor()
    expect(await box.locator("pre").evaluate((pre) => pre.scrollWidth <= pre.clientWidth)).toBe(true)
  })

  check(
    "[K-111] a request of 50,000 lines has few in the document, tells hidden characters, and must be read to its end",
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

  check("[K-111] a command of many lines tells hidden characters above it", async () => {
    const lines = Array.from({ length: 500 }, (_, index) => `npm run step-${index + 1}`)
    lines[399] = "pay\u202Eload"
    const page = await stage.session(await stage.asked(asksFor(lines.join("\n"))))
    await unread(page).waitFor()
    await dock(page).getByText("Hidden characters on line 400.").waitFor()
  })

  check("[K-112] a note below the request need not be seen to allow it", async () => {
    const id = await stage.asked(writes(Array.from({ length: 9 }, (_, index) => `line ${index}`).join("\n")))
    const page = await stage.session(id, { size: { width: 1280, height: 800 } })
    await allows(page).waitFor()
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

  check("[K-115] a request whose cues could not be had says that it was not checked", async () => {
    const id = await stage.asked(asksFor("rm -rf build"))
    const [ask] = await stage.openAsks(id)
    const page = await stage.cockpit.page()
    await page.route("**/risk-cues*", (route) => route.abort())
    await page.goto(`/s/${id}`)
    await dock(page).getByText("Not checked", { exact: true }).waitFor()
    await page.goto(`/requests/${ask.id}`)
    await page.locator("[data-inbox-row] [aria-current]").getByText("Not checked", { exact: true }).waitFor()
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
    for (const [reducedMotion, names] of [
      ["no-preference", ["arm-drop"]],
      ["reduce", []],
    ] as const) {
      const page = await stage.session(await stage.asked(asksFor(`npm run arm ${reducedMotion}`)))
      await page.emulateMedia({ reducedMotion })
      await armed(page)
      await page.keyboard.press("y")
      const arm = page.locator("[data-outcome] [data-arm]")
      await arm.waitFor()
      // Its style, which stays: the animation itself may be over by now.
      const animations = (drawn: Element) =>
        [...drawn.children].map((part) => getComputedStyle(part).animationName).filter((name) => name !== "none")
      expect(await arm.evaluate(animations)).toEqual(names)
    }
  })

  check("[K-114] a person who denies and interrupts did not make the session fail", async () => {
    const id = await stage.asked(asksFor("npm run stop"), "Stops")
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
    await page.locator("[data-session]").filter({ hasText: "Stops" }).waitFor()
    expect(await page.getByRole("list", { name: "Failed" }).count()).toBe(0)
  })
})
