import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { axe } from "./axe.ts"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { asksFor, says } from "./scenarios.ts"

describe.runIf(hasBrowser)("one person, several browsers", () => {
  let cockpit: CockpitHarness
  let asking: string
  let done: string
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
    asking = (await cockpit.agent({ title: "Fix atlas tests", scenario: asksFor("npm test") })).id
    done = (await cockpit.agent({ title: "Bump deps", scenario: says("Done.") })).id
  })
  afterAll(async () => {
    await cockpit?.dispose()
  })

  const row = (page: Page, list: string, title: string) =>
    page.getByRole("list", { name: list, exact: true }).getByRole("listitem").filter({ hasText: title })
  const browsers = (page: Page) => page.getByRole("list", { name: "Signed-in browsers" }).getByRole("listitem")

  check(
    "[S-100] what is read in one browser is read in the person's others, after a reload too, and in nobody else's",
    async () => {
      const [here, there, other] = [
        await cockpit.page(),
        await cockpit.page({ size: "phone" }),
        await cockpit.page({ role: "operator" }),
      ]
      for (const page of [here, there, other]) {
        await page.goto("/sessions")
        await row(page, "Finished", "Bump deps").waitFor()
      }
      await here.goto(`/s/${done}`)
      await here.getByRole("feed").getByText("Done.").first().waitFor()
      await row(there, "Idle", "Bump deps").waitFor()
      await there.reload()
      await row(there, "Idle", "Bump deps").waitFor()
      await row(other, "Finished", "Bump deps").waitFor()
    },
  )

  check("[S-100] a reader who follows a link far up has not read the end", async () => {
    const steps = Array.from({ length: 60 }, (_, n) => ({ say: `Step ${n}.\n\nOne line.\n\nAnother line.` }))
    const { id } = await cockpit.agent({ title: "Long talk", scenario: { turns: [{ steps }] } })
    await expect.poll(async () => (await cockpit.hub.get(`/api/sessions/${id}`)).turns, { timeout: 60_000 }).toBe(1)
    const page = await cockpit.page()
    const sessions = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Sessions" })
    await page.goto(`/s/${id}?seq=3`)
    await page.getByRole("feed").getByText("Step 0.").waitFor()
    await page.getByRole("button", { name: "Jump to latest" }).waitFor()
    // Marks show at once in the page that makes them.
    await sessions.click()
    await row(page, "Finished", "Long talk").waitFor()
    await page.goto(`/s/${id}`)
    await page.getByRole("feed").getByText("Step 59.").waitFor()
    await sessions.click()
    await row(page, "Idle", "Long talk").waitFor()
  })

  check(
    "[G-100] a browser whose clock is wrong by days shows the same ages, and nothing is lost or expired by it",
    async () => {
      const page = await cockpit.page()
      await page.clock.install({ time: Date.now() + 5 * 86_400_000 })
      await page.goto(`/s/${asking}`)
      const dock = page.getByRole("region", { name: /Waiting for you/ })
      await dock
        .getByText(/\d+ (?:s|min) ago/)
        .first()
        .waitFor()
      expect(await dock.getByText(/\d+ d ago/).count()).toBe(0)
      await page.goto("/sessions")
      await row(page, "Needs you", "Fix atlas tests")
        .getByText(/^\d+ (?:s|min)$/)
        .waitFor()
      const behind = await cockpit.page()
      await behind.clock.install({ time: Date.now() - 5 * 86_400_000 })
      await behind.goto("/sessions")
      const shown = row(behind, "Needs you", "Fix atlas tests").getByText(/^\d+ (?:s|min)$/)
      await shown.waitFor()
      // It stood still at nought before.
      await expect.poll(() => shown.textContent(), { timeout: 15_000 }).not.toBe("0 s")
    },
  )

  check("[T-100] signed-in browsers are listed, and one that is signed out is back at the sign-in", async () => {
    const [page, phone] = [
      await cockpit.page({ role: "viewer" }),
      await cockpit.page({ role: "viewer", size: "phone" }),
    ]
    await phone.goto("/sessions")
    await phone.getByRole("heading", { name: "Sessions", level: 1 }).waitFor()
    await page.goto("/settings/access")
    await expect.poll(() => browsers(page).count()).toBe(2)
    await browsers(page).filter({ hasText: "This browser" }).waitFor()
    expect(await page.getByRole("heading", { name: "Tokens" }).count()).toBe(0)
    await browsers(page)
      .filter({ hasNotText: "This browser" })
      .getByRole("button", { name: /^Sign out/ })
      .click()
    await page.getByRole("alertdialog").getByRole("button", { name: "Sign out" }).click()
    await expect.poll(() => browsers(page).count()).toBe(1)
    await phone.getByRole("button", { name: "Sign in" }).waitFor()
    await browsers(page).getByRole("button", { name: "Sign out this browser" }).click()
    await page.getByRole("alertdialog").getByRole("button", { name: "Sign out" }).click()
    await page.getByText("You signed out.").waitFor()
  })

  check(
    "[T-101] an admin creates a token, which is shown once, and revokes it after being told what stops",
    async () => {
      const page = await cockpit.page()
      await page.goto("/settings/access")
      await page.getByRole("button", { name: "Create token" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Create token" }).click()
      await page.getByText("Enter a name.").waitFor()
      await page.getByRole("textbox", { name: "Name" }).fill("ci")
      await page.getByRole("combobox", { name: "Role" }).selectOption("viewer")
      await page.keyboard.press("Tab")
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      await page.route("**/api/tokens", async (route) => {
        if (route.request().method() === "POST") await held
        await route.continue()
      })
      await page.getByRole("dialog").getByRole("button", { name: "Create token" }).click()
      // A token that is being made is shown: neither key nor button closes the dialog before.
      await page.keyboard.press("Escape")
      await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click({ force: true })
      await page.getByRole("dialog").getByRole("button", { name: "Close" }).click()
      release()
      const token = (await page.getByLabel("Token", { exact: true }).textContent()) ?? ""
      expect(token).toMatch(/^sbx_[\w-]{43}$/)
      const headers = { authorization: `Bearer ${token}` }
      const me = async () => (await fetch(`${cockpit.hub.ready.url}/api/me`, { headers })).status
      expect(await me()).toBe(200)
      await page.keyboard.press("Escape")
      await page.getByRole("button", { name: "Copy token" }).waitFor()
      await page.getByRole("button", { name: "Done" }).click()
      const tokens = page.getByRole("list", { name: "Tokens" }).getByRole("listitem")
      const made = tokens.filter({ has: page.getByText("ci", { exact: true }) })
      await made.getByText(/^viewer · created .* · expires /).waitFor()
      expect(await page.getByText(token).count()).toBe(0)
      const login = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ token }) }
      expect((await fetch(`${cockpit.hub.ready.url}/api/login`, login)).ok).toBe(true)
      await page.reload()
      const signedIn = browsers(page).filter({ hasText: "ci, viewer" })
      await signedIn.waitFor()
      await made.getByRole("button", { name: "Revoke ci" }).click()
      await page
        .getByText("Anything that uses it stops working at once. 1 signed-in browser will be signed out.")
        .waitFor()
      await page.getByRole("alertdialog").getByRole("button", { name: "Revoke" }).click()
      await made.waitFor({ state: "detached" })
      // The browsers that it signed in are gone from the other list too.
      await signedIn.waitFor({ state: "detached" })
      expect(await me()).toBe(401)
      await page.getByRole("list", { name: "Tokens" }).getByRole("button", { name: "Revoke admin" }).click()
      await page.getByRole("alertdialog").getByRole("button", { name: "Revoke" }).click()
      await page.getByText(/^Not revoked: This is the last admin token/).waitFor()
    },
  )

  check("[T-102] Access is free of what axe finds, in both themes, and does not scroll sideways", async () => {
    for (const options of [
      { theme: "light" },
      { theme: "dark", size: "phone" },
      { size: { width: 320, height: 640 } },
    ] as const) {
      const page = await cockpit.page(options)
      await page.goto("/settings/access")
      await browsers(page).first().waitFor()
      expect(await axe(page)).toEqual([])
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0)
    }
  })
})
