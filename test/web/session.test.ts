import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser, type PageOptions } from "./cockpit.ts"
import { asksFor, says, talks } from "./scenarios.ts"
import { feedOf, headerOf, messageOf, openSession, promptsOf, waitingOf } from "./session-page.ts"

describe.runIf(hasBrowser)("a session", () => {
  let cockpit: CockpitHarness
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
  })
  afterAll(async () => {
    await cockpit?.dispose()
  })

  const open = (id: string, options: PageOptions = {}) => openSession(cockpit, id, options)

  check("[V-1] a reload keeps the draft and the open panel", async () => {
    const { id } = await cockpit.agent({ title: "Draft", scenario: says("Hello.") })
    const page = await open(id)
    await messageOf(page).fill("half a thou")
    await page.getByRole("button", { name: "Panels" }).click()
    await page.getByRole("tab", { name: "Requests", exact: true }).click()
    await page.reload()
    await feedOf(page).waitFor()
    expect(await messageOf(page).inputValue()).toBe("half a thou")
    expect(await page.getByRole("tab", { name: "Requests", exact: true }).getAttribute("aria-selected")).toBe("true")
  })

  check("[V-27] two tabs keep their own drafts, and sending one leaves the other's alone", async () => {
    const { id } = await cockpit.agent({ title: "Drafts", scenario: says("Hello.") })
    const one = await open(id)
    const inOther = async () => {
      const page = await one.context().newPage()
      await page.goto(`/s/${id}`)
      await feedOf(page).waitFor()
      return page
    }
    const again = async (page: Page) => {
      await page.reload()
      await feedOf(page).waitFor()
      return messageOf(page).inputValue()
    }
    await messageOf(one).fill("from the first")
    const two = await inOther()
    expect(await messageOf(two).inputValue()).toBe("from the first")
    await messageOf(two).fill("from the second")
    expect(await again(one)).toBe("from the first")
    expect(await again(two)).toBe("from the second")
    await messageOf(two).press("Enter")
    await feedOf(one).getByText("from the second").waitFor()
    expect([await again(one), await again(two)]).toEqual(["from the first", ""])
  })

  check("[V-2] what cannot be sent says so, also after a reload, and a retry puts it into the log once", async () => {
    const { id } = await cockpit.agent({ title: "Cut", scenario: says("Hello.") })
    const page = await open(id)
    await feedOf(page).getByText("Hello.").first().waitFor()
    const before = (await promptsOf(cockpit.hub, id)).length
    await cockpit.hub.kill()
    await page.getByText(/Reconnecting|Last updated/).waitFor()
    const bar = page.getByRole("status", { name: "Connection" })
    await bar.getByRole("button", { name: "Retry now" }).click()
    const [barBox, headerBox] = await Promise.all([bar.boundingBox(), headerOf(page).boundingBox()])
    expect(barBox?.height).toBe(28)
    // Under the header: no button moves for it.
    expect(headerBox?.y).toBe(0)
    expect(barBox?.y).toBe(headerBox?.height)
    await messageOf(page).fill("are you there?")
    await messageOf(page).press("Enter")
    await page.getByText("Not sent").waitFor()
    await messageOf(page).fill("never mind")
    await messageOf(page).press("Enter")
    const unsent = waitingOf(page).getByRole("listitem").filter({ hasText: "never mind" })
    await unsent.getByRole("button", { name: "Copy" }).waitFor()
    await unsent.getByRole("button", { name: "Discard" }).click()
    await unsent.waitFor({ state: "detached" })
    await cockpit.hub.startAgain()
    await page.getByText(/Last updated/).waitFor({ state: "detached" })
    await page.reload()
    await waitingOf(page).getByText("are you there?").waitFor()
    expect(await waitingOf(page).getByText("never mind").count()).toBe(0)
    await page.getByRole("button", { name: "Retry" }).click()
    await feedOf(page).getByText("are you there?").waitFor()
    await page.getByText("Not sent").waitFor({ state: "detached" })
    expect((await promptsOf(cockpit.hub, id)).length).toBe(before + 1)
    await page.reload()
    await feedOf(page).getByText("are you there?").waitFor()
    expect(await page.getByText("Not sent").count()).toBe(0)
  })

  check("[V-3] in two tabs a message appears once in each", async () => {
    const { id } = await cockpit.agent({ title: "Two tabs", scenario: says("Hello.") })
    const [one, two] = [await open(id), await open(id)]
    await messageOf(one).fill("only once")
    await messageOf(one).press("Enter")
    for (const page of [one, two]) {
      await feedOf(page).getByText("only once").waitFor()
      expect(await feedOf(page).getByText("only once").count()).toBe(1)
    }
  })

  check("[V-31] that a turn began and how it ended is said, to those who listen too", async () => {
    const { id } = await cockpit.agent({ title: "Heard", scenario: says("Hello.") })
    const page = await open(id)
    await feedOf(page).getByText("Hello.").first().waitFor()
    await messageOf(page).fill("again")
    await messageOf(page).press("Enter")
    await page.getByRole("status", { name: "Announcements" }).getByText("Turn finished").waitFor()
  })

  check("[V-32] the sessions beside it are filtered, and the address keeps that from one to the next", async () => {
    const [one, two] = [
      await cockpit.agent({ title: "Alpha of the filter", scenario: says("Hello.") }),
      await cockpit.agent({ title: "Beta of the filter", scenario: says("Hello.") }),
    ]
    const page = await open(one.id)
    const beside = page.getByRole("complementary", { name: "Sessions" })
    await beside.getByRole("searchbox", { name: "Filter sessions" }).fill("of the filter")
    await expect.poll(() => beside.locator("[data-session]").count()).toBe(2)
    await beside.getByRole("link", { name: /Beta/ }).click()
    await page.getByRole("heading", { level: 1, name: "Beta of the filter" }).waitFor()
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(`/s/${two.id}?q=of+the+filter`)
    expect(await beside.locator("[data-session]").count()).toBe(2)
    await beside.getByRole("button", { name: "New session" }).waitFor()
  })

  check("[V-35] on a tablet the other sessions are in a drawer, which a choice, Escape and Back close", async () => {
    const [one, two] = [
      await cockpit.agent({ title: "Gamma of the drawer", scenario: says("Hello.") }),
      await cockpit.agent({ title: "Delta of the drawer", scenario: says("Hello.") }),
    ]
    const page = await openSession(cockpit, one.id, { size: "tablet" })
    const title = page.getByRole("heading", { level: 1 })
    const button = page.getByRole("button", { name: "Other sessions" })
    const drawer = page.getByRole("dialog", { name: "Sessions" })
    await button.click()
    await drawer.getByRole("searchbox", { name: "Filter sessions" }).fill("of the drawer")
    await expect.poll(() => drawer.locator("[data-session]").count()).toBe(2)
    await drawer.getByRole("link", { name: /Delta/ }).click()
    await drawer.waitFor({ state: "hidden" })
    await title.getByText("Delta of the drawer").waitFor()
    expect(new URL(page.url()).pathname).toBe(`/s/${two.id}`)
    await button.click()
    // The one that is shown already: there is nowhere to go.
    await drawer.getByRole("link", { name: /Delta/ }).click()
    await drawer.waitFor({ state: "hidden" })
    await button.click()
    await page.keyboard.press("Escape")
    await drawer.waitFor({ state: "hidden" })
    expect(await button.evaluate((element) => element.ownerDocument.activeElement === element)).toBe(true)
    await button.click()
    await drawer.waitFor()
    // Turned on its side there is room for the list, and turned back nobody asked for it.
    await page.setViewportSize({ width: 1194, height: 834 })
    await drawer.waitFor({ state: "hidden" })
    await page.getByRole("complementary", { name: "Sessions" }).waitFor()
    await page.setViewportSize({ width: 834, height: 1194 })
    await page.getByRole("complementary", { name: "Sessions" }).waitFor({ state: "detached" })
    expect(await drawer.count()).toBe(0)
    await button.click()
    await drawer.waitFor()
    await page.goBack()
    await drawer.waitFor({ state: "hidden" })
    await title.getByText("Delta of the drawer").waitFor()
    await page.goBack()
    await title.getByText("Gamma of the drawer").waitFor()
  })

  check("[V-4] it can be interrupted while it works, and then says by whom, not that it failed", async () => {
    const { id } = await cockpit.agent({ title: "Long work", scenario: talks(500, 100) })
    const page = await open(id)
    await page.getByRole("button", { name: "Interrupt" }).click()
    await feedOf(page)
      .getByText(/Interrupted by you/)
      .waitFor()
    await page.getByRole("button", { name: "Interrupt" }).waitFor({ state: "detached" })
    await page.getByText("Idle", { exact: true }).first().waitFor()
    expect(await page.getByText("Failed").count()).toBe(0)
  })

  check("[V-5] a viewer can read and not write", async () => {
    const { id } = await cockpit.agent({ title: "Watched", scenario: says("Hello.") })
    const page = await open(id, { role: "viewer" })
    await page.getByText("View only").waitFor()
    expect(await messageOf(page).count()).toBe(0)
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

  check("[C-2] while the hub is away nothing can be allowed, and the page says when it was last updated", async () => {
    const { id } = await cockpit.agent({ title: "Away", scenario: asksFor("npm test") })
    const page = await open(id)
    const allow = page.getByRole("region", { name: "Waiting for you" }).getByRole("button", { name: /^Allow once/ })
    await allow.waitFor()
    await cockpit.hub.kill()
    await page.getByText(/Last updated \d\d:\d\d:\d\d/).waitFor()
    expect(await allow.getAttribute("aria-disabled")).toBe("true")
    // Whether anything still runs nobody knows: no glyph moves as if it did.
    expect(await page.locator(".animate-pulse-slow").count()).toBe(0)
    await cockpit.hub.startAgain()
    await expect.poll(() => allow.getAttribute("aria-disabled"), { timeout: 40_000 }).toBe("false")
  })
})
