import { afterAll, describe, expect } from "vitest"
import { Machine } from "../runner/runner-process.ts"
import { AskingCockpit, detail, PATIENCE, rows } from "./asks-page.ts"
import { check, journey } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { asksFor } from "./scenarios.ts"

describe.runIf(hasBrowser)("the inbox", () => {
  let machine: Machine
  let stage: AskingCockpit
  let opening: Promise<void> | undefined
  /** Waits for conditions, which only a test may. */
  const isReady = () => (opening ??= prepare())
  async function prepare(): Promise<void> {
    machine = await Machine.open({ scenario: asksFor("npm run older") })
    stage = new AskingCockpit(await CockpitHarness.open(machine.hub))
    const { id } = await machine.launch({ title: "On a machine", prompt: "Go on" })
    await stage.waitFor(id, 1)
    await stage.asked(asksFor("npm run newer"), "By hand")
  }
  afterAll(async () => {
    await machine?.endRunner("SIGTERM")
    await stage?.dispose()
    await machine?.dispose()
  })
  const pending = async () => (await stage.hub.get("/api/asks?state=pending")).asks
  async function settleAll(): Promise<void> {
    for (const { id } of await pending()) {
      await stage.hub.post(`/api/asks/${id}/answer`, { behavior: "deny", message: "cleared" })
    }
    await expect.poll(async () => (await pending()).length, PATIENCE).toBe(0)
  }

  check("[A-1] the inbox has the asks of two sessions on two machines, the oldest first", async () => {
    await isReady()
    const page = await stage.inbox()
    await expect.poll(() => rows(page).count(), PATIENCE).toBe(2)
    const texts = await rows(page).allTextContents()
    expect(texts[0]).toContain("npm run older")
    expect(texts[1]).toContain("npm run newer")
    const groups = await page.getByRole("main").getByRole("heading", { level: 2 }).allTextContents()
    expect(groups[0]).toMatch(/^On a machine/)
    expect(groups[1]).toMatch(/^By hand.*External/)
  })

  check("[A-2] the way there and the page's title say how many wait", async () => {
    await isReady()
    const page = await stage.cockpit.page()
    await page.goto("/sessions")
    await page.getByRole("link", { name: "Requests, 2 waiting" }).first().waitFor()
    await expect.poll(() => page.title()).toMatch(/^\(2\) /)
  })

  check("[A-3] after a reload none is lost, and none that was settled is back", async () => {
    await isReady()
    const id = await stage.asked(asksFor("npm run settled"), "Settled")
    const page = await stage.inbox()
    await expect.poll(() => rows(page).count(), PATIENCE).toBe(3)
    const [ask] = await stage.openAsks(id)
    await stage.hub.post(`/api/asks/${ask.id}/answer`, { behavior: "deny", message: "no" })
    await expect.poll(() => rows(page).count(), PATIENCE).toBe(2)
    const before = await rows(page)
      .getByRole("link")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href")))
    await page.reload()
    await expect.poll(() => rows(page).count(), PATIENCE).toBe(2)
    expect(
      await rows(page)
        .getByRole("link")
        .evaluateAll((links) => links.map((link) => link.getAttribute("href"))),
    ).toEqual(before)
    await page.getByRole("link", { name: "Settled", exact: true }).click()
    const settled = page.getByRole("list", { name: "Settled requests" }).getByRole("listitem")
    await settled.filter({ hasText: "npm run settled" }).getByText("Denied").waitFor()
  })

  check("[A-4] what was settled shows what came of it, who did it and when, and no way to answer", async () => {
    await isReady()
    const id = await stage.asked(asksFor("npm run settled"))
    const [ask] = await stage.openAsks(id)
    await stage.hub.post(`/api/asks/${ask.id}/answer`, { behavior: "deny", message: "Not on a Friday" })
    const page = await stage.inbox(`/requests/${ask.id}`, { role: "operator" })
    await page.getByText(/^admin denied this at \d\d:\d\d\.$/).waitFor()
    await detail(page)
      .getByText(/^settled \d\d:\d\d:\d\d, (?:immediately|after \d+ s)$/)
      .waitFor()
    await detail(page).getByText("Not on a Friday").waitFor()
    expect(await page.getByRole("button", { name: /Allow|Deny|Edit/ }).count()).toBe(0)
  })

  check(
    "[A-5] after an answer the next one takes its place, and for 600 ms a click on it counts for nothing",
    async () => {
      await isReady()
      await settleAll()
      const agent = await stage.agent({ title: "Queue" })
      agent.ask({ command: "npm run one" })
      agent.ask({ command: "npm run two" })
      const [, two] = await stage.waitFor(agent.id, 2)
      const page = await stage.inbox()
      await detail(page).getByText("npm run one").waitFor()
      await detail(page).locator("[data-ask][data-armed='true']").waitFor()
      const heldBack = page.evaluate(clickAtOnce, two.id)
      await detail(page)
        .getByRole("button", { name: /^Allow once/ })
        .click()
      expect(await heldBack).toBeGreaterThanOrEqual(600)
      expect(await stage.states(agent.id)).toEqual(["allowed", "pending"])
      await detail(page)
        .getByRole("button", { name: /^Allow once/ })
        .click()
      await expect.poll(() => stage.states(agent.id), PATIENCE).toEqual(["allowed", "allowed"])
    },
  )

  check("[A-152] of many open requests those in view are in the document, and the chosen one", async () => {
    await isReady()
    await settleAll()
    const agent = await stage.agent({ title: "Many" })
    const command = (n: number) => `rm file-${n}; ${"echo again; ".repeat(40)}`
    const asked = Array.from({ length: 300 }, (_, index) => agent.ask({ command: command(index + 1) }))
    await stage.waitFor(agent.id, 300)
    const page = await stage.inbox()
    await page.getByRole("link", { name: "Open 300" }).waitFor()
    expect(await rows(page).count()).toBeLessThan(150)
    await expect.poll(() => rows(page).first().getByText("Deletes").count(), PATIENCE).toBe(1)
    await page.locator("[data-inbox-row] a").first().focus()
    await page.keyboard.press("End")
    await expect.poll(() => rows(page).last().getByText("file-300").count(), PATIENCE).toBe(1)
    expect(await rows(page).count()).toBeLessThan(150)
    // The first one is still shown beside them.
    expect(await page.locator("[data-inbox-row] [aria-current]").count()).toBe(1)
    for (const requestId of asked) agent.cancel(requestId)
    await stage.waitFor(agent.id, 0)
  })

  check("[A-6] nonsense in its address shows the inbox", async () => {
    await isReady()
    await settleAll()
    await stage.asked(asksFor("npm run sense"), "Sense")
    for (const query of ["kind=nonsense", "state=nonsense", "kind=&state=&machine="]) {
      const page = await stage.inbox(`/requests?${query}`)
      await expect.poll(() => rows(page).count(), PATIENCE).toBe(1)
      await detail(page).getByText("npm run sense").waitFor()
      expect(await page.getByRole("combobox", { name: "Kind" }).inputValue()).toBe("")
      await page.context().close()
    }
    const page = await stage.inbox("/requests?kind=%00&state=settled&machine=nonsense")
    await page.getByText("No requests match these filters.").waitFor()
    await page.goto("/requests?machine=nonsense")
    await page.getByText("No requests match these filters.").waitFor()
    await page.getByRole("button", { name: "Show all" }).click()
    await expect.poll(() => rows(page).count(), PATIENCE).toBe(1)
    await page.goto("/requests/nonsense?kind=nonsense")
    await detail(page).getByText("Request not found.").waitFor()
  })

  check("[A-150] requests of a session stand together, and j and k go through them as they stand", async () => {
    await isReady()
    await settleAll()
    const [one, two] = [await stage.agent({ title: "First asks" }), await stage.agent({ title: "Second asks" })]
    one.ask({ command: "npm run a" })
    await stage.waitFor(one.id, 1)
    two.ask({ command: "npm run b" })
    await stage.waitFor(two.id, 1)
    one.ask({ command: "npm run c && rm -rf build" }, { decision_reason: "It writes outside of the folder" })
    await stage.waitFor(one.id, 2)
    const page = await stage.inbox("/requests", { size: { width: 820, height: 1180 } })
    await expect.poll(() => rows(page).count(), PATIENCE).toBe(3)
    expect((await rows(page).allTextContents()).map((text) => /npm run ./.exec(text)?.[0])).toEqual([
      "npm run a",
      "npm run c",
      "npm run b",
    ])
    await rows(page).filter({ hasText: "npm run c" }).getByText("It writes outside of the folder").waitFor()
    await rows(page)
      .filter({ hasText: "npm run c" })
      .getByText(/Deletes/)
      .waitFor()
    // Two panes on a tablet: the request is beside the list.
    await detail(page).getByText("npm run a").first().waitFor()
    for (const [key, command] of [
      ["j", "npm run c"],
      ["j", "npm run b"],
      ["k", "npm run c"],
    ] as const) {
      await page.keyboard.press(key)
      await detail(page).getByText(command).first().waitFor()
      expect(await rows(page).count()).toBe(3)
    }
  })

  check("[A-151] an answered request leaves a receipt: who, what and when, and the way to its record", async () => {
    await isReady()
    await settleAll()
    const agent = await stage.agent({ title: "Receipt" })
    agent.ask({ command: "npm run mine" })
    agent.ask({ command: "npm run theirs" })
    const [, theirs] = await stage.waitFor(agent.id, 2)
    const page = await stage.inbox("/requests", { role: "operator" })
    await detail(page).locator("[data-ask][data-armed='true']").waitFor()
    await detail(page)
      .getByRole("button", { name: /^Allow once/ })
      .click()
    const receipts = page.getByRole("list", { name: "Just answered" }).getByRole("listitem")
    await receipts
      .filter({ hasText: "npm run mine" })
      .getByText(/^You allowed this at \d\d:\d\d$/)
      .waitFor()
    await stage.hub.post(`/api/asks/${theirs.id}/answer`, { behavior: "deny" })
    await receipts
      .filter({ hasText: "npm run theirs" })
      .getByText(/^admin denied this at \d\d:\d\d$/)
      .waitFor()
    expect(await receipts.getByRole("button").count()).toBe(0)
    // A page that was not there has it from the hub.
    await page.reload()
    await receipts
      .filter({ hasText: "npm run mine" })
      .getByText(/^You allowed this at/)
      .waitFor()
    await receipts.filter({ hasText: "npm run theirs" }).getByRole("link").click()
    await detail(page)
      .getByText(/^admin denied this at/)
      .waitFor()
    // More than a few leave the list short, and none of them is lost.
    const burst = Array.from({ length: 5 }, (_, n) => agent.ask({ command: `npm run burst-${n}` })).length
    for (const { id } of await stage.waitFor(agent.id, burst))
      await stage.hub.post(`/api/asks/${id}/answer`, { behavior: "deny" })
    await page.goto("/requests")
    await receipts.filter({ hasText: "npm run burst-4" }).waitFor()
    expect(await receipts.filter({ hasText: "npm run mine" }).count()).toBe(0)
    await receipts.getByRole("link", { name: /^Show \d+ more$/ }).click()
    const settled = page.getByRole("list", { name: "Settled requests" }).getByRole("listitem")
    await settled.filter({ hasText: "npm run mine" }).first().waitFor()
  })

  journey("kind and machine narrow it down, and both are in the address", async () => {
    await isReady()
    await settleAll()
    await stage.asked(asksFor("npm run by-hand"), "Filtered")
    const agent = await stage.agent({ title: "Plans" })
    agent.ask({ plan: "1. Rest" }, { tool_name: "ExitPlanMode" })
    await stage.waitFor(agent.id, 1)
    const page = await stage.inbox()
    await expect.poll(() => rows(page).count(), PATIENCE).toBe(2)
    await page.getByRole("combobox", { name: "Kind" }).selectOption({ label: "Plans" })
    await expect.poll(() => rows(page).count(), PATIENCE).toBe(1)
    expect(new URL(page.url()).searchParams.get("kind")).toBe("plan")
    await page.reload()
    await expect.poll(() => rows(page).count(), PATIENCE).toBe(1)
    await page.getByRole("combobox", { name: "Machine" }).selectOption({ label: "External" })
    expect(new URL(page.url()).searchParams.get("machine")).toBe("by-hand")
    await page.getByRole("combobox", { name: "Kind" }).selectOption({ label: "Questions" })
    await page.getByText("No requests match these filters.").waitFor()
    await page.getByRole("button", { name: "Show all" }).click()
    await expect.poll(() => rows(page).count(), PATIENCE).toBe(2)
  })

  check("[K-121] identical requests get one answer together, and only they", async () => {
    await isReady()
    await settleAll()
    // Nobody knows whether two external agents are on one machine.
    const [own, other] = [await stage.agent({ title: "A" }), await stage.agent({ title: "B" })]
    for (const agent of [own, own]) agent.ask({ command: "npm ci" })
    await stage.waitFor(own.id, 2)
    other.ask({ command: "npm ci" })
    await stage.waitFor(other.id, 1)
    const page = await stage.inbox()
    await detail(page).getByRole("checkbox", { name: "Apply to 2 identical" }).check()
    await detail(page).locator("[data-ask][data-armed='true']").waitFor()
    await detail(page)
      .getByRole("button", { name: /^Allow 2 identical/ })
      .click()
    await expect.poll(() => stage.states(own.id), PATIENCE).toEqual(["allowed", "allowed"])
    expect(await stage.states(other.id)).toEqual(["pending"])
  })

  journey("where nothing waits the last decision is told, and it can be looked at", async () => {
    await isReady()
    await settleAll()
    const agent = await stage.agent({ title: "Last" })
    agent.ask({ command: "npm run last" })
    const [ask] = await stage.waitFor(agent.id, 1)
    await stage.hub.post(`/api/asks/${ask.id}/answer`, { behavior: "allow" })
    const page = await stage.inbox("/requests", { role: "operator" })
    await page.getByText(/^No open requests\. Last decision:/).waitFor()
    await page.getByRole("link", { name: "Show it" }).click()
    await detail(page)
      .getByText(/^admin allowed this at/)
      .waitFor()
  })
})

/** In the page: clicks on the next request as soon as it is there and as often as it can, and tells after how long it counts. */
function clickAtOnce(id: string): Promise<number> {
  return new Promise((resolve) => {
    const look = () => {
      const card = document.querySelector<HTMLElement>(`[data-ask="${id}"]`)
      const answered = performance.getEntriesByType("resource").findLast(({ name }) => name.endsWith("/answer"))
      if (card !== null && answered instanceof PerformanceResourceTiming) {
        const since = performance.now() - answered.responseEnd
        if (card.dataset["armed"] === "true") return resolve(since)
        if (since < 550) card.querySelector<HTMLElement>("[data-act='primary']")?.click()
      }
      return requestAnimationFrame(look)
    }
    look()
  })
}
