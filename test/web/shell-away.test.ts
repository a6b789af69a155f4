import type { Scenario } from "@signalbox/simulator"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { READY } from "./asks-page.ts"
import { journey } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { asksFor } from "./scenarios.ts"

/** Asks for one thing, then answers whatever it is told. */
const ASKS_ONCE: Scenario = {
  turns: [
    { steps: [{ tool: "Bash", input: { command: "npm test" }, result: "ok" }] },
    { repeat: true, steps: [{ say: "Heard." }] },
  ],
}
const PATIENCE = { timeout: 90_000, interval: 100 }

/** A page that lives on: beside another one, through a restart of its hub, through a sleep, with little room, with few rights. */
describe.runIf(hasBrowser)("a page that is kept open", () => {
  let cockpit: CockpitHarness
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
  })
  afterAll(async () => {
    await cockpit?.dispose()
  })

  const feed = (page: Page) => page.getByRole("feed", { name: "Transcript" })
  const dock = (page: Page) => page.getByRole("region", { name: "Waiting for you" })
  const message = (page: Page) => page.getByRole("textbox", { name: "Message" })
  const askOf = async (id: string) => (await cockpit.hub.get(`/api/asks?session=${id}`)).asks[0]

  async function open(path: string, options: Parameters<CockpitHarness["page"]>[0] = {}): Promise<Page> {
    const page = await cockpit.page(options)
    await page.goto(path)
    return page
  }
  async function asked(title: string, scenario = asksFor("npm test")): Promise<string> {
    const { id } = await cockpit.agent({ title, scenario })
    await expect.poll(async () => (await askOf(id))?.state, PATIENCE).toBe("pending")
    return id
  }
  /** Every message of a person in the feed, in the order it is shown. */
  const prompts = (page: Page) =>
    feed(page)
      .locator("article[data-kind='prompt']")
      .evaluateAll((rows) => rows.flatMap((row) => /message \d+\./.exec(row.textContent ?? "")?.[0] ?? []))
  async function say(id: string, from: number, to: number): Promise<void> {
    for (let n = from; n < to; n++) await cockpit.hub.post(`/api/sessions/${id}/messages`, { content: `message ${n}.` })
  }
  const counted = (to: number) => Array.from({ length: to }, (_, n) => `message ${n}.`)

  it("through a restart of the hub a draft, an open question and the place in the list stay", async () => {
    const id = await asked("Restarted")
    const list = await open("/sessions")
    await list.getByRole("list", { name: "Needs you" }).getByText("Restarted").waitFor()
    const page = await open(`/s/${id}`)
    await dock(page)
      .getByRole("button", { name: /Allow once/ })
      .waitFor()
    await message(page).fill("half a thou")
    await cockpit.hub.kill()
    for (const one of [list, page]) await one.getByText(/Last updated/).waitFor()
    await cockpit.hub.startAgain()
    for (const one of [list, page]) await one.getByText(/Last updated/).waitFor({ state: "detached", timeout: 60_000 })
    expect(await message(page).inputValue()).toBe("half a thou")
    await list.getByRole("list", { name: "Needs you" }).getByText("Restarted").waitFor()
    await page.keyboard.press("F6")
    await dock(page).locator(READY).waitFor()
    await page.keyboard.press("y")
    await feed(page).getByText("It is done.").waitFor()
    expect((await askOf(id)).state).toBe("allowed")
  }, 180_000)

  journey(
    "after a laptop's sleep it has what happened, once and in order, and asks nothing that was settled",
    async () => {
      const id = await asked("Slept", ASKS_ONCE)
      const page = await open(`/s/${id}`)
      await dock(page)
        .getByRole("button", { name: /Allow once/ })
        .waitFor()
      const cdp = await page.context().newCDPSession(page)
      await cdp.send("Page.setWebLifecycleState", { state: "frozen" })
      // While the lid is closed the question is answered elsewhere, the hub is restarted, and the talk goes on.
      await cockpit.hub.post(`/api/asks/${(await askOf(id)).id}/answer`, { behavior: "deny", message: "not now" })
      await expect.poll(async () => (await cockpit.hub.get(`/api/sessions/${id}`)).state, PATIENCE).toBe("idle")
      await say(id, 0, 5)
      await cockpit.hub.kill()
      await cockpit.hub.startAgain()
      await expect.poll(async () => (await cockpit.hub.get(`/api/sessions/${id}`)).transport, PATIENCE).not.toBe(null)
      await say(id, 5, 8)
      await cdp.send("Page.setWebLifecycleState", { state: "active" })
      await expect.poll(() => prompts(page), PATIENCE).toEqual(counted(8))
      await page.getByText(/Last updated/).waitFor({ state: "detached" })
      await dock(page).waitFor({ state: "detached" })
      const seqs = await feed(page)
        .locator("article")
        .evaluateAll((rows) => rows.map((row) => Number(row.getAttribute("data-seq"))))
      expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
    },
  )

  journey("a second tab has what the first one did, and what is signed out in one is signed out in both", async () => {
    const id = await asked("Tabs")
    const first = await open(`/s/${id}`)
    const second = await first.context().newPage()
    await second.goto(`/s/${id}`)
    for (const page of [first, second])
      await dock(page)
        .getByRole("button", { name: /Allow once/ })
        .waitFor()
    await first.keyboard.press("F6")
    await dock(first).locator(READY).waitFor()
    await first.keyboard.press("y")
    for (const page of [first, second]) await feed(page).getByText("It is done.").waitFor()
    await second.goto("/settings/appearance")
    await second.getByRole("radio", { name: "Dark" }).check()
    await expect.poll(() => first.evaluate("document.documentElement.dataset.theme")).toBe("dark")
    await second.getByRole("button", { name: "Sign out" }).click()
    await second.getByRole("button", { name: "Sign in" }).waitFor()
    await first.reload()
    await first.getByRole("button", { name: "Sign in" }).waitFor()
  })

  journey("a viewer is shown every screen, asked for nothing and refused nothing", async () => {
    const id = await asked("Viewed")
    const page = await cockpit.page({ role: "viewer" })
    const refused: string[] = []
    page.on("response", (response) => {
      if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`)
    })
    for (const path of [
      "/sessions",
      `/s/${id}`,
      `/s/${id}?panel=asks`,
      `/requests/${(await askOf(id)).id}`,
      "/search?q=npm",
      "/machines",
      "/settings/notifications",
    ]) {
      await page.goto(path)
      await page.getByRole("heading", { level: 1 }).first().waitFor()
      const offered = await page
        .getByRole("button", {
          name: /^(?:Allow|Deny|Send|Queue|Interrupt|New session|Stop|Add a machine|Drain|Remove)/,
        })
        .count()
      expect(offered, path).toBe(0)
    }
    await page.keyboard.press("c")
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox").pressSequentially("new")
    expect(await page.getByRole("option", { name: /New session/ }).count()).toBe(0)
    await page.goto("/new")
    await page
      .getByText(/viewer|Operators/)
      .first()
      .waitFor()
    expect(refused).toEqual([])
  })

  journey("with a phone's keyboard up, what is typed, what was said and what waits all have their place", async () => {
    const id = await asked("Phone")
    const page = await open(`/s/${id}`, { size: "phone" })
    await dock(page).waitFor()
    await message(page).tap()
    await page.setViewportSize({ width: 390, height: 460 })
    await page.getByRole("navigation", { name: "Main" }).waitFor({ state: "hidden" })
    const inside = async (name: string, box: { y: number; height: number } | null) => {
      expect(box, name).not.toBeNull()
      expect(box?.y ?? -1, name).toBeGreaterThanOrEqual(0)
      expect((box?.y ?? 0) + (box?.height ?? 0), name).toBeLessThanOrEqual(460)
    }
    await inside("send", await page.getByRole("button", { name: /^(?:Send|Queue)$/ }).boundingBox())
    await inside("message", await message(page).boundingBox())
    await inside("review", await dock(page).getByText("Review", { exact: true }).boundingBox())
    expect((await feed(page).boundingBox())?.height ?? 0).toBeGreaterThan(80)
    await page.keyboard.type("one\ntwo\nthree\nfour\nfive\nsix\nseven\neight")
    await inside("a long message's button", await page.getByRole("button", { name: /^(?:Send|Queue)$/ }).boundingBox())
    await page.setViewportSize({ width: 390, height: 844 })
    await page.getByRole("heading", { level: 1 }).first().tap()
    await page.getByRole("navigation", { name: "Main" }).waitFor()
  })
})
