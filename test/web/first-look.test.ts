import { afterAll, beforeAll, describe, expect } from "vitest"
import { journey } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { asksFor, says } from "./scenarios.ts"

/** What somebody stumbled over who had never seen it. */
describe.runIf(hasBrowser)("somebody new to the cockpit", () => {
  let cockpit: CockpitHarness
  let asking: string
  let done: string
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
    asking = (await cockpit.agent({ title: "Fix atlas tests", scenario: asksFor("npm test") })).id
    done = (await cockpit.agent({ title: "Bump deps", scenario: says("Done.") })).id
    await cockpit.agent({ title: "Docs refresh", scenario: says("Done.") })
  })
  afterAll(async () => {
    await cockpit?.dispose()
  })

  journey("archives by a key, is told so, and goes on from the next row", async () => {
    const page = await cockpit.page()
    await page.goto("/sessions")
    const link = (name: RegExp) => page.locator("[data-session] > a").filter({ hasText: name })
    await link(/Bump deps/).focus()
    await page.keyboard.press("#")
    await link(/Bump deps/).waitFor({ state: "detached" })
    await page.getByRole("status", { name: "Announcements" }).getByText("Archived Bump deps").waitFor()
    await page.locator("[data-session] > a:focus").waitFor()
    await page.getByRole("checkbox", { name: "Archived" }).check()
    await link(/Bump deps/)
      .getByText("Archived")
      .waitFor()
    await cockpit.hub.call("PATCH", `/api/sessions/${done}`, { archived: false })
  })

  journey("is asked before a session that waits is archived, and still finds it", async () => {
    const page = await cockpit.page()
    await page.goto("/sessions")
    const waiting = page.getByRole("list", { name: "Needs you" }).getByRole("link", { name: /Fix atlas tests/ })
    await waiting.focus()
    await page.keyboard.press("#")
    const confirm = page.getByRole("alertdialog", { name: "Archive “Fix atlas tests”?" })
    await confirm.getByText("1 open request will stay open").waitFor()
    await confirm.getByRole("button", { name: "Cancel" }).click()
    expect((await cockpit.hub.get(`/api/sessions/${asking}`)).archived).toBe(false)
    await page.keyboard.press("#")
    await confirm.getByRole("button", { name: "Archive" }).click()
    await waiting.getByText("Archived").waitFor()
  })

  journey("finds the open session marked, Home at work, and its warnings within their box", async () => {
    const page = await cockpit.page({ role: "admin" })
    await page.goto(`/s/${done}`)
    await page.getByRole("feed", { name: "Transcript" }).getByText("Done.").waitFor()
    await page.locator('[data-session] > a[aria-current="page"]').getByText("Bump deps").waitFor()
    await page.keyboard.press("Home")
    await page.getByRole("feed", { name: "Transcript" }).locator("article:focus").waitFor()
    await page.getByRole("combobox", { name: "Mode", exact: true }).selectOption({ label: "Bypass permissions" })
    const box = page.getByRole("alertdialog")
    await box.waitFor()
    expect(await box.evaluate((dialog) => dialog.scrollWidth - dialog.clientWidth)).toBe(0)
  })

  journey("types on after the key of the search", async () => {
    const page = await cockpit.page()
    await page.goto("/sessions")
    await page.getByRole("heading", { level: 1 }).waitFor()
    await page.evaluate(() => {
      for (const key of ["/", "c", "?"])
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }))
    })
    await page.waitForURL(/\/search\?q=c%3F/)
    expect(await page.getByRole("searchbox", { name: "Search all sessions" }).inputValue()).toBe("c?")
    await page.goto(`/search?session=${done}`)
    await page.getByRole("searchbox", { name: "Search this session" }).waitFor()
  })

  journey("finds the commands first behind More, on a phone", async () => {
    const page = await cockpit.page({ size: { width: 390, height: 844 } })
    await page.goto("/sessions")
    await page.getByRole("button", { name: "More" }).click()
    const options = page.getByRole("listbox", { name: "Results" }).getByRole("option")
    await options.first().getByText("New session").waitFor()
    expect(await options.filter({ hasText: "Machines" }).first().isVisible()).toBe(true)
  })

  journey("is told as a viewer why there is nothing to start", async () => {
    const page = await cockpit.page({ role: "viewer" })
    await page.goto("/new")
    await page.getByText("View only. Operators can start sessions.").waitFor()
  })
})
