import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { asksFor, says, talks, works } from "./scenarios.ts"

describe.runIf(hasBrowser)("a session", () => {
  let cockpit: CockpitHarness
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
  })
  afterAll(async () => {
    await cockpit?.dispose()
  })

  const feed = (page: Page) => page.getByRole("feed", { name: "Transcript" })
  const message = (page: Page) => page.getByRole("textbox", { name: "Message" })
  async function open(id: string, options: Parameters<CockpitHarness["page"]>[0] = {}): Promise<Page> {
    const page = await cockpit.page(options)
    await page.goto(`/s/${id}`)
    await feed(page).waitFor()
    return page
  }
  const prompts = async (id: string) => {
    const { events } = await cockpit.hub.get(`/api/sessions/${id}/events?after=0&limit=5000`)
    return events.filter(
      ({ from, message: { type } }: { from: string; message: { type: string } }) =>
        from === "client" && type === "user",
    )
  }

  check("[V-1] a reload keeps the draft and the open panel", async () => {
    const { id } = await cockpit.agent({ title: "Draft", scenario: says("Hello.") })
    const page = await open(id)
    await message(page).fill("half a thou")
    await page.getByRole("button", { name: "Panels" }).click()
    await page.getByRole("tab", { name: "Asks", exact: true }).click()
    await page.reload()
    await feed(page).waitFor()
    expect(await message(page).inputValue()).toBe("half a thou")
    expect(await page.getByRole("tab", { name: "Asks", exact: true }).getAttribute("aria-selected")).toBe("true")
  })

  check("[V-2] what cannot be sent says so, and a retry puts it into the log exactly once", async () => {
    const { id } = await cockpit.agent({ title: "Cut", scenario: says("Hello.") })
    const page = await open(id)
    await feed(page).getByText("Hello.").first().waitFor()
    const before = (await prompts(id)).length
    await cockpit.hub.kill()
    await page.getByText(/Reconnecting|Shown as of/).waitFor()
    await message(page).fill("are you there?")
    await message(page).press("Enter")
    await page.getByText("Not sent").waitFor()
    await cockpit.hub.startAgain()
    await page.getByText(/Shown as of/).waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Retry" }).click()
    await feed(page).getByText("are you there?").waitFor()
    await page.getByText("Not sent").waitFor({ state: "detached" })
    expect((await prompts(id)).length).toBe(before + 1)
  })

  check("[V-3] in two tabs a message appears once in each", async () => {
    const { id } = await cockpit.agent({ title: "Two tabs", scenario: says("Hello.") })
    const [one, two] = [await open(id), await open(id)]
    await message(one).fill("only once")
    await message(one).press("Enter")
    for (const page of [one, two]) {
      await feed(page).getByText("only once").waitFor()
      expect(await feed(page).getByText("only once").count()).toBe(1)
    }
  })

  check("[V-4] it can be interrupted while it works, and then says by whom, not that it failed", async () => {
    const { id } = await cockpit.agent({ title: "Long work", scenario: talks(500, 100) })
    const page = await open(id)
    await page.getByRole("button", { name: "Interrupt" }).click()
    await feed(page)
      .getByText(/Interrupted by/)
      .waitFor()
    await page.getByRole("button", { name: "Interrupt" }).waitFor({ state: "detached" })
    await page.getByText("Idle", { exact: true }).first().waitFor()
    expect(await page.getByText("Failed").count()).toBe(0)
  })

  check("[V-5] a viewer can read and not write", async () => {
    const { id } = await cockpit.agent({ title: "Watched", scenario: says("Hello.") })
    const page = await open(id, { role: "viewer" })
    await page.getByText("You are viewing. Operators can send messages.").waitFor()
    expect(await message(page).count()).toBe(0)
  })

  check("[V-6] a model that the agent refuses is told, and the old one stays", async () => {
    const { id } = await cockpit.agent({ title: "Model", scenario: says("Hello.") })
    const page = await open(id)
    await feed(page).getByText("Hello.").first().waitFor()
    await page.route("**/control", (route) =>
      route.request().postDataJSON().request.subtype === "set_permission_mode"
        ? route.fulfill({ status: 502, json: { error: { code: "control/refused", message: "the agent says no" } } })
        : route.continue(),
    )
    const mode = page.getByRole("combobox", { name: "Mode", exact: true })
    const before = await mode.inputValue()
    await mode.selectOption("plan")
    await page
      .getByRole("alert")
      .getByText(/the agent says no/)
      .waitFor()
    expect(await mode.inputValue()).toBe(before)
  })

  check("[V-7] the panels' edge moves with the arrow keys and says where it is", async () => {
    const { id } = await cockpit.agent({ title: "Edge", scenario: says("Hello.") })
    const page = await open(id)
    await page.getByRole("button", { name: "Panels" }).click()
    const edge = page.getByRole("separator", { name: "Width of the panels" })
    const before = Number(await edge.getAttribute("aria-valuenow"))
    await edge.focus()
    await page.keyboard.press("ArrowLeft")
    expect(Number(await edge.getAttribute("aria-valuenow"))).toBe(before + 20)
  })

  /** A session that has changed files, set an agent to work and left a command running. */
  const worked = async (title: string) => {
    const { id } = await cockpit.agent({
      title,
      scenario: works,
      args: ["--permission-mode", "acceptEdits", "--allowedTools", "Bash"],
    })
    await expect.poll(async () => (await cockpit.hub.get(`/api/sessions/${id}`)).turns, { timeout: 20_000 }).toBe(1)
    return id
  }
  const openPanel = async (id: string, name: string) => {
    const page = await open(id)
    await page.getByRole("button", { name: "Panels" }).click()
    await page.getByRole("tab", { name }).click()
    return { page, panel: page.getByRole("tabpanel", { name }) }
  }

  check("[V-8] Changes has the net difference of each file, of all turns or of one", async () => {
    const id = await worked("Changes")
    const { page, panel } = await openPanel(id, "Changes")
    await panel.getByText("clock.ts").first().waitFor()
    await panel.getByText("2 files").waitFor()
    // Written with 50, then changed to 20: what was in between is no difference.
    await panel.getByText("export const tick = 20").waitFor()
    expect(await panel.getByText("export const tick = 50").count()).toBe(0)
    await message(page).fill("again")
    await message(page).press("Enter")
    await panel.getByRole("combobox", { name: "Turn" }).selectOption({ index: 1 })
    await panel.getByText("2 files").waitFor()
  })

  check(
    "[V-9] Tasks has the to-do list, sub-agents and what runs in the background, which can be stopped",
    async () => {
      const { panel } = await openPanel(await worked("Tasks"), "Tasks")
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
    const { panel, page } = await openPanel(await worked("Context"), "Context")
    await panel.getByRole("meter", { name: "Context used" }).waitFor()
    await panel.getByRole("list", { name: "What fills the context" }).getByText("Messages").waitFor()
    await page.route("**/control", (route) =>
      route.fulfill({
        status: 502,
        json: {
          error: { code: "control/refused", message: "the agent refused it: Unsupported control request subtype" },
        },
      }),
    )
    await panel.getByRole("button", { name: "Refresh" }).click()
    await panel.getByText("Not supported by CLI 2.1.120").waitFor()
  })

  check("[V-11] Tools has the commands and agents, by name and by what they are for", async () => {
    const { panel } = await openPanel(await worked("Tools"), "Tools")
    await panel.getByText("This session has no MCP servers.").waitFor()
    await panel.getByRole("region", { name: "Commands" }).getByText("Replace the history by a summary").waitFor()
    await panel.getByRole("region", { name: "Agents" }).getByText("general-purpose", { exact: true }).waitFor()
  })

  check(
    "[V-12] a slash offers the agent's commands; Enter takes one and sends nothing, Escape lets it be",
    async () => {
      const { id } = await cockpit.agent({ title: "Slash", scenario: says("Hello.") })
      const page = await open(id)
      await feed(page).getByText("Hello.").first().waitFor()
      const before = (await prompts(id)).length
      const commands = page.getByRole("listbox", { name: "Commands" })
      await message(page).pressSequentially("/com")
      await commands.getByRole("option", { name: /^\/compact/ }).waitFor()
      await message(page).press("Enter")
      expect(await message(page).inputValue()).toBe("/compact ")
      await commands.waitFor({ state: "detached" })
      await message(page).fill("/c")
      await commands.waitFor()
      const chosen = () => commands.getByRole("option", { selected: true }).textContent()
      const first = await chosen()
      await message(page).press("ArrowDown")
      await expect.poll(chosen).not.toBe(first)
      await message(page).press("Escape")
      await commands.waitFor({ state: "detached" })
      expect(await message(page).inputValue()).toBe("/c")
      expect((await prompts(id)).length).toBe(before)
    },
  )

  check("[C-1] what happened while the connection was cut is there afterwards, all of it, once, in order", async () => {
    const { id } = await cockpit.agent({ title: "Cut off", scenario: says("Hello.") })
    const page = await open(id)
    await feed(page).getByText("Hello.").first().waitFor()
    await page.context().setOffline(true)
    await page.evaluate("dispatchEvent(new Event('offline'))")
    for (let n = 0; n < 10; n++) await cockpit.hub.post(`/api/sessions/${id}/messages`, { content: `message ${n}` })
    await page.context().setOffline(false)
    await feed(page).getByText("message 9").waitFor()
    const seqs = await feed(page)
      .locator("article")
      .evaluateAll((articles) => articles.map((article) => Number(article.getAttribute("data-seq"))))
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
  })

  check("[C-2] while the hub is away nothing can be allowed, and the page says as of when it is", async () => {
    const { id } = await cockpit.agent({ title: "Away", scenario: asksFor("npm test") })
    const page = await open(id)
    const allow = page.getByRole("region", { name: "Waiting for you" }).getByRole("button", { name: /Allow/ })
    await allow.waitFor()
    await cockpit.hub.kill()
    await page.getByText(/as of \d\d:\d\d:\d\d/).waitFor()
    expect(await allow.getAttribute("aria-disabled")).toBe("true")
    await cockpit.hub.startAgain()
    await expect.poll(() => allow.getAttribute("aria-disabled"), { timeout: 40_000 }).toBe("false")
  })
})
