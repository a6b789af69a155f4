import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { asksFor, says, talks } from "./scenarios.ts"

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
    await page.getByRole("tab", { name: "Asks" }).click()
    await page.reload()
    await feed(page).waitFor()
    expect(await message(page).inputValue()).toBe("half a thou")
    expect(await page.getByRole("tab", { name: "Asks" }).getAttribute("aria-selected")).toBe("true")
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
