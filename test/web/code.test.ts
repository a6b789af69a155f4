import type { Locator, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { AskingCockpit, armed, dock, PATIENCE } from "./asks-page.ts"
import { check } from "./check.ts"
import { hasBrowser } from "./cockpit.ts"
import { feedOf, openSession, turnsAre, WAIT } from "./session-page.ts"

const FILE = Array.from({ length: 60 }, (_, index) => `const line${index + 1} = ${index + 1} // kept`)
const EDITS = ["--permission-mode", "acceptEdits", "--allowedTools", "Read"]

describe.runIf(hasBrowser)("code and diffs", () => {
  let stage: AskingCockpit
  beforeAll(async () => {
    stage = await AskingCockpit.open()
  })
  afterAll(async () => {
    await stage?.dispose()
  })

  /** An edit in the middle of a file that can be read, waiting for an answer. */
  const edited = async () => {
    const replies = { read_file: { contents: `${FILE.join("\n")}\n`, absPath: "/srv/api/a.ts" } }
    const agent = await stage.agent({ title: "Edits", replies })
    const input = { file_path: "/srv/api/a.ts", old_string: "line30 = 30", new_string: "line30 = later()" }
    agent.ask(input, { tool_name: "Edit" })
    await stage.waitFor(agent.id, 1)
    return agent.id
  }
  const textOf = (where: Locator | Page, words: string) => where.getByText(words, { exact: true })
  const colourOf = (where: Locator) => where.evaluate((element) => getComputedStyle(element).color)
  const nodesOf = (page: Page) => page.evaluate(() => document.querySelectorAll("*").length)

  check("[X-130] a diff counts its lines, marks words, folds the rest and tints the gutter alone", async () => {
    const page = await stage.session(await edited())
    // Only the file has lines to fold.
    const folded = dock(page).getByRole("button", { name: "Show 26 unchanged lines" }).first()
    await folded.waitFor()
    await dock(page).getByText("+1 −1").waitFor()
    expect(await dock(page).getByText("const line20 = 20 // kept").count()).toBe(0)
    const changed = dock(page).locator("[data-text=added]")
    expect(await changed.innerText()).toBe("const line30 = later() // kept")
    expect(await changed.evaluate((element) => getComputedStyle(element).backgroundColor)).toBe("rgba(0, 0, 0, 0)")
    expect(await changed.locator(".bg-diff-add").allTextContents()).toEqual(["later()"])
    await folded.click()
    await dock(page).getByText("const line20 = 20 // kept").waitFor()
    // The focus stays inside of the request.
    expect(await dock(page).evaluate((card) => card.contains(document.activeElement))).toBe(true)
  })

  check("[X-134] in a request no line looks like a comment because of a mark before it", async () => {
    const agent = await stage.agent({ title: "Marks" })
    const content = "export const comment = /[/*]/\nexport const after = steal()\n"
    agent.ask({ file_path: "/srv/api/marks.ts", content }, { tool_name: "Write" })
    await stage.waitFor(agent.id, 1)
    const page = await stage.session(agent.id)
    const lines = dock(page).locator("[data-text=added]")
    await lines.first().locator("span", { hasText: "export" }).waitFor()
    // It is painted as a comment, and looks like the text around it.
    const look = await lines.nth(1).evaluate((line) => {
      const painted = line.querySelector("span")
      return [painted?.textContent, painted && getComputedStyle(painted).color === getComputedStyle(line).color]
    })
    expect(look).toEqual(["export const after = steal()", true])
  })

  check("[X-132] with room for both, old and new stand side by side, and the choice is kept", async () => {
    const id = await edited()
    const page = await stage.session(id)
    await armed(page)
    await page.keyboard.press("d")
    const sheet = page.getByRole("dialog", { name: "Request" })
    await sheet.locator("[data-split]").waitFor()
    await sheet.getByRole("button", { name: "Side by side" }).click()
    await expect.poll(() => sheet.locator("[data-split]").count()).toBe(0)
    await page.reload()
    await sheet.getByRole("button", { name: "Side by side", pressed: false }).click()
    await sheet.locator("[data-split]").waitFor()
    await page.setViewportSize({ width: 700, height: 800 })
    await expect.poll(() => sheet.locator("[data-split]").count()).toBe(0)
  })

  check(
    "[X-133] a transcript with 50,000 lines has few of them in the document, the last one too",
    async () => {
      const content = Array.from({ length: 50_000 }, (_, index) => `row ${index + 1}`).join("\n")
      const scenario = { turns: [{ steps: [{ tool: "Write", input: { file_path: "large.txt", content } }] }] }
      const { id } = await stage.cockpit.agent({ title: "Large", scenario, args: EDITS })
      await turnsAre(stage.hub, id, 1)
      const page = await openSession(stage.cockpit, id)
      await feedOf(page).getByText("+50000 −0").waitFor()
      await feedOf(page)
        .getByRole("button", { name: /^Show 49,?960 more lines$/ })
        .click()
      const lines = feedOf(page).getByRole("group", { name: "Lines" })
      // The height is estimated until the last lines are drawn: the end is gone to again.
      const seen = async () => {
        await lines.evaluate((box) => box.scrollTo(0, box.scrollHeight))
        return textOf(lines, "row 50000").count()
      }
      await expect.poll(seen, WAIT).toBe(1)
      expect(await nodesOf(page)).toBeLessThan(6000)
    },
    300_000,
  )

  check("[X-133] lines out of view have the room they need, also after unchanged lines were opened", async () => {
    const some = (count: number, text: (n: number) => string) => Array.from({ length: count }, (_, n) => text(n))
    const kept = some(1000, (n) => `kept ${n}`)
    const wide = some(200, (n) => `wide ${n} ${"word ".repeat(200)}`)
    const content = [...some(200, (n) => `short ${n}`), ...kept, ...wide].join("\n")
    const replies = { read_file: { contents: `${kept.join("\n")}\n`, absPath: "/srv/api/a.txt" } }
    const agent = await stage.agent({ title: "Unfolds", replies })
    agent.ask({ file_path: "/srv/api/a.txt", content }, { tool_name: "Write" })
    await stage.waitFor(agent.id, 1)
    const page = await stage.session(agent.id)
    await dock(page).getByText("+400 −0").waitFor()
    const box = dock(page).getByRole("group", { name: "Request" })
    const fold = box.getByRole("button", { name: "Show 994 unchanged lines" })
    const at = (top: number, part: Locator) => async () => {
      await box.evaluate((element, to) => {
        element.scrollTop = to
      }, top)
      return part.count()
    }
    const heightOf = (piece: number) =>
      box.locator(`[data-piece="${piece}"]`).evaluate((element) => element.getBoundingClientRect().height)
    // The wide lines at the end are drawn once, and so their height is known.
    await expect.poll(at(1e9, box.getByText(/^wide 199 /)), PATIENCE).toBe(1)
    expect(await heightOf(9)).toBeGreaterThan(2000)
    await expect.poll(at(4000, fold), PATIENCE).toBe(1)
    await fold.click()
    // Short lines have that place now.
    await expect.poll(() => heightOf(9), PATIENCE).toBeLessThan(1200)
  })

  check("[X-134] code of answers, diffs and files that were read has colours, and the same characters", async () => {
    const say = "Look:\n\n```ts\nconst answer = 42 // because\n```\n"
    const steps = [
      { tool: "Write", input: { file_path: "src/a.py", content: "def f():\n    return 'x'\n" } },
      { tool: "Read", input: { file_path: "src/a.py" } },
      { say },
    ]
    const { id } = await stage.cockpit.agent({ title: "Colours", scenario: { turns: [{ steps }] }, args: EDITS })
    await turnsAre(stage.hub, id, 1)
    const page = await openSession(stage.cockpit, id)
    const block = page.getByRole("group", { name: "Code, ts" })
    await block.locator(".text-code-keyword").waitFor()
    expect(await block.innerText()).toBe("const answer = 42 // because")
    const diff = feedOf(page).locator("[data-text=added]")
    await diff.first().locator(".text-code-keyword").waitFor()
    expect(await diff.allInnerTexts()).toEqual(["def f():", "    return 'x'"])
    const keyword = block.locator(".text-code-keyword")
    expect(await colourOf(keyword)).not.toBe(await colourOf(block))
    // Where the system has its own colours, those are used and nothing is lost.
    await page.emulateMedia({ forcedColors: "active" })
    expect(await colourOf(keyword)).toBe(await colourOf(block))
  })

  check("[X-135] an edit that failed says so, and counts no lines", async () => {
    const steps = [
      {
        tool: "Edit",
        input: { file_path: "src/a.ts", old_string: "a", new_string: "b" },
        result: "String to replace not found in file.",
        isError: true,
      },
      { say: "Hm." },
    ]
    const { id } = await stage.cockpit.agent({ title: "Fails", scenario: { turns: [{ steps }] }, args: EDITS })
    await turnsAre(stage.hub, id, 1)
    const page = await openSession(stage.cockpit, id)
    const row = feedOf(page).locator("article").filter({ hasText: "src/a.ts" })
    await row
      .getByText(/Failed/)
      .first()
      .waitFor()
    await row.getByText("String to replace not found in file.").first().waitFor()
    expect(await row.getByText("+1 −1").count()).toBe(0)
    if ((await row.getByText("Not applied").count()) === 0)
      await row.getByRole("button", { name: /Edit/ }).first().click()
    await row.getByText(/^Not applied/).waitFor()
    await expect.poll(() => row.locator("[data-dim]").count(), PATIENCE).toBe(1)
  })
})
