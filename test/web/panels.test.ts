import { fileURLToPath } from "node:url"
import type { Locator } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { says, works } from "./scenarios.ts"
import { feedOf, messageOf, openPanel, openSession, promptsOf, turnsAre } from "./session-page.ts"

const SERVER = fileURLToPath(new URL("../../packages/simulator/test/support/mcp-server.mjs", import.meta.url))

describe.runIf(hasBrowser)("the panels of a session", () => {
  let cockpit: CockpitHarness
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
  })
  afterAll(async () => {
    await cockpit?.dispose()
  })

  /** A session that has changed files, set an agent to work and left a command running. */
  const worked = async (title: string) => {
    const { id } = await cockpit.agent({
      title,
      scenario: works,
      args: ["--permission-mode", "acceptEdits", "--allowedTools", "Bash"],
    })
    await turnsAre(cockpit.hub, id, 1)
    return id
  }

  check("[V-8] Changes has the net difference of each file, of all turns or of one", async () => {
    const { page, panel } = await openPanel(cockpit, await worked("Changes"), "Changes")
    await panel.getByText("clock.ts").first().waitFor()
    await panel.getByText("2 files").waitFor()
    // Written with 50, then changed to 20: what was in between is no difference.
    await panel.getByText("export const tick = 20", { exact: true }).waitFor()
    expect(await panel.getByText("export const tick = 50").count()).toBe(0)
    await messageOf(page).fill("again")
    await messageOf(page).press("Enter")
    await panel.getByRole("combobox", { name: "Turn" }).selectOption({ index: 1 })
    await panel.getByText("2 files").waitFor()
  })

  check("[V-17] a comment on a line of a change goes into the message, with its place, and is not sent", async () => {
    const id = await worked("Comments")
    const { page, panel } = await openPanel(cockpit, id, "Changes")
    const file = (name: string) => panel.getByRole("group").filter({ hasText: name })
    await messageOf(page).fill("Please look at these:")
    await file("src/clock.ts").getByRole("button", { name: "Comment on line 1" }).focus()
    // From the keyboard: down one line, and in.
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await panel.getByRole("textbox", { name: /^Comment on line 2 of / }).fill("Why not performance.now()?")
    await page.keyboard.press("Control+Enter")
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Comment on line 2")
    await file("test/clock.test.ts").getByRole("button", { name: "Comment on line 1" }).click()
    const second = panel.getByRole("textbox", { name: /^Comment on line 1 of .*clock\.test\.ts/ })
    await second.fill("Test the other too")
    // Half-written words stay when another line is pressed, the file is folded or the panel is closed.
    await file("src/clock.ts").getByRole("button", { name: "Comment on line 1" }).click()
    const first = panel.getByRole("textbox", { name: /^Comment on line 1 of .*src\/clock\.ts/ })
    await first.fill("Half a word")
    await file("src/clock.ts").getByRole("button", { name: "Comment on line 3" }).click()
    expect(await first.inputValue()).toBe("Half a word")
    const panels = page.getByRole("button", { name: "Panels", exact: true })
    await panels.click()
    await panel.waitFor({ state: "detached" })
    await panels.click()
    await first.waitFor()
    expect([await first.inputValue(), await second.inputValue()]).toEqual(["Half a word", "Test the other too"])
    await first.press("Escape")
    await first.waitFor({ state: "detached" })
    await second.press("Control+Enter")
    const expected = [
      "Please look at these:",
      "src/clock.ts:2\n> return Date.now()\nWhy not performance.now()?",
      "test/clock.test.ts:1\n> expect(tick).toBe(20)\nTest the other too\n",
    ].join("\n\n")
    expect(await messageOf(page).inputValue()).toBe(expected)
    expect(await promptsOf(cockpit.hub, id)).toHaveLength(1)
    // It is a draft like any other.
    await page.reload()
    await expect.poll(() => messageOf(page).inputValue()).toBe(expected)
  })

  check("[V-130] the changed files are a tree: one stop for Tab, arrows inside, Enter leads to a file", async () => {
    const { page, panel } = await openPanel(cockpit, await worked("Tree"), "Changes")
    const tree = panel.getByRole("tree", { name: "Changed files" })
    await tree.waitFor()
    expect(await tree.getByRole("treeitem").allTextContents()).toEqual([
      "src+5 −0",
      "clock.ts+5 −0",
      "test+1 −0",
      "clock.test.ts+1 −0",
    ])
    expect(await tree.locator("[tabindex='0']").count()).toBe(1)
    await tree.getByRole("treeitem", { name: /^src/ }).focus()
    await page.keyboard.press("ArrowLeft")
    expect(await tree.getByRole("treeitem").count()).toBe(3)
    await page.keyboard.press("End")
    await page.keyboard.press("Enter")
    const summary = panel.locator("summary").filter({ hasText: "test/clock.test.ts" })
    await expect.poll(() => summary.evaluate((element) => element === document.activeElement)).toBe(true)
  })

  check("[V-9] Tasks has the list also where the agent keeps it task by task", async () => {
    const task = (subject: string, id: string) => ({
      tool: "TaskCreate",
      input: { subject, description: subject },
      result: `Task #${id} created successfully: ${subject}`,
    })
    const steps = [
      task("Read the tests", "1"),
      task("Mend the clock", "2"),
      { tool: "TaskUpdate", input: { taskId: "1", status: "completed" } },
      { say: "One is done." },
    ]
    const { id } = await cockpit.agent({ title: "Task by task", scenario: { turns: [{ steps }] } })
    await turnsAre(cockpit.hub, id, 1)
    const { panel } = await openPanel(cockpit, id, "Tasks")
    const list = panel.getByRole("region", { name: "To-do list" }).getByRole("listitem")
    await list.first().waitFor()
    expect(await list.allTextContents()).toEqual(["done: Read the tests", "to do: Mend the clock"])
  })

  check(
    "[V-9] Tasks has the to-do list, sub-agents and what runs in the background, which can be stopped",
    async () => {
      const { panel } = await openPanel(cockpit, await worked("Tasks"), "Tasks")
      await panel.getByRole("region", { name: "To-do list" }).getByText("Mend the clock").waitFor()
      const tasks = panel.getByRole("region", { name: "Sub-agents and background tasks" }).getByRole("listitem")
      await tasks.filter({ hasText: "Look for other sleeps" }).getByText("Done", { exact: true }).waitFor()
      const watch = tasks.filter({ hasText: "Watch the tests" })
      await watch.getByText("Running", { exact: true }).waitFor()
      await watch.getByRole("button", { name: "Stop Watch the tests" }).click()
      await watch.getByText("Stopped", { exact: true }).waitFor()
    },
  )

  check("[V-10] Context shows what fills it, and says so where the CLI cannot tell", async () => {
    const { panel } = await openPanel(cockpit, await worked("Context"), "Context")
    await panel.getByRole("meter", { name: "Context used" }).waitFor()
    await panel.getByRole("list", { name: "What fills the context" }).getByText("Messages").waitFor()
    const old = await cockpit.agent({ title: "Old", version: "2.1.37", scenario: says("Hello.") })
    await turnsAre(cockpit.hub, old.id, 1)
    const page = await openSession(cockpit, old.id)
    // The oldest say nothing at all to what they do not know: the hub's own time-out tells.
    await page.route("**/control", async (route) => {
      const body = route.request().postDataJSON()
      await route.continue({ postData: JSON.stringify({ ...body, timeoutMs: 1000 }) })
    })
    await page.getByRole("button", { name: "Panels" }).click()
    await page.getByRole("tab", { name: "Context" }).click()
    await page.getByText("Not supported by CLI 2.1.37").waitFor()
  })

  check("[V-11] Tools has the commands and agents, by name and by what they are for", async () => {
    const { panel } = await openPanel(cockpit, await worked("Tools"), "Tools")
    await panel.getByText("No MCP servers.").waitFor()
    await panel.getByRole("region", { name: "Commands" }).getByText("Replace the history by a summary").waitFor()
    await panel.getByRole("region", { name: "Agents" }).getByText("general-purpose", { exact: true }).waitFor()
  })

  check("[V-18] an MCP server is switched off and on and connected anew, as the agent confirms it", async () => {
    const servers = { desk: { command: process.execPath, args: [SERVER] }, gone: { command: "/no/such/server" } }
    const { id } = await cockpit.agent({
      title: "Servers",
      scenario: says("Hello."),
      args: ["--mcp-config", JSON.stringify({ mcpServers: servers })],
    })
    await turnsAre(cockpit.hub, id, 1)
    const { panel } = await openPanel(cockpit, id, "Tools")
    const item = (name: string) =>
      panel.getByRole("region", { name: "MCP servers" }).getByRole("listitem").filter({ hasText: name })
    await item("desk").getByText("connected · 3 tools").waitFor()
    await item("desk").getByRole("switch", { name: "Use desk" }).click()
    await item("desk").getByText("disabled", { exact: true }).waitFor()
    expect(await item("desk").getByRole("button", { name: "Reconnect desk" }).count()).toBe(0)
    await item("desk").getByRole("switch", { name: "Use desk" }).click()
    await item("desk").getByText("connected · 3 tools").waitFor()
    await item("desk").getByRole("button", { name: "Reconnect desk" }).click()
    await item("desk").getByText("connected · 3 tools").waitFor()
    await item("gone").getByText("failed", { exact: true }).waitFor()
    await item("gone").getByRole("button", { name: "Reconnect gone" }).click()
    await panel
      .getByRole("alert")
      .getByText(/^gone: /)
      .waitFor()
  })

  check("[V-37] tokens are told by kind and by model, in each result and in About this session", async () => {
    const id = await worked("Tokens")
    const page = await openSession(cockpit, id)
    await feedOf(page)
      .getByRole("button", { name: /tokens$/ })
      .first()
      .click()
    const { models, tokens } = await cockpit.hub.get(`/api/sessions/${id}`)
    const [name] = Object.keys(models)
    const KINDS = ["in", "out", "cache read", "cache write", "total", "cost"]
    const all = tokens.input + tokens.output + tokens.cacheRead + tokens.cacheCreation
    const told = async (table: Locator) => {
      await table.waitFor()
      return table.getByRole("row").allInnerTexts()
    }
    const turn = await told(feedOf(page).getByRole("group", { name: "Tokens" }))
    expect(turn.map((line) => /^[a-z ]*/.exec(line.trim())?.[0].trim())).toEqual(["", ...KINDS])
    expect(turn[0]).toContain(name)
    expect(turn[5]).toContain(all.toLocaleString("en"))
    await page.getByRole("button", { name: "Menu of Tokens" }).click()
    await page.getByRole("menuitem", { name: /^About/ }).click()
    const about = await told(page.getByRole("dialog").getByRole("group", { name: "Tokens" }))
    expect(about[0]).toContain(name)
    expect(about[5]).toContain(all.toLocaleString("en"))
  })
})
