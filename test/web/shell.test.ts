import { afterAll, beforeAll, describe, expect } from "vitest"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser, SIZES } from "./cockpit.ts"
import { asksFor } from "./scenarios.ts"

describe.runIf(hasBrowser)("the shell", () => {
  let cockpit: CockpitHarness
  let session: string
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
    session = (await cockpit.agent({ title: "Asks", scenario: asksFor(`npm test ${"long ".repeat(60)}`) })).id
  })
  afterAll(async () => {
    await cockpit?.dispose()
  })

  check("[G-1] a question mark opens the shortcuts, and Escape returns the focus", async () => {
    const page = await cockpit.page()
    await page.goto("/sessions")
    const link = page.getByRole("list", { name: "Needs you" }).getByRole("link")
    await link.focus()
    await page.keyboard.press("?")
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor({ state: "hidden" })
    await expect.poll(() => link.evaluate((element) => element.ownerDocument.activeElement === element)).toBe(true)
  })

  check("[G-2] with single keys switched off, c does nothing", async () => {
    const page = await cockpit.page()
    await page.goto("/settings/keyboard")
    await page.getByRole("switch").click()
    await page.getByRole("heading", { name: "Settings" }).click()
    await page.keyboard.press("c")
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox").waitFor()
    expect(new URL(page.url()).pathname).toBe("/settings/keyboard")
    await page.keyboard.press("Escape")
    await page.getByRole("switch").click()
    await page.getByRole("heading", { name: "Settings" }).click()
    await page.keyboard.press("c")
    await page.getByRole("heading", { name: "New session" }).waitFor()
  })

  check("the palette goes to a session by its name, without a mouse", async () => {
    const page = await cockpit.page()
    await page.goto("/settings/appearance")
    await page.getByRole("heading", { name: "Settings" }).waitFor()
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox").pressSequentially("asks")
    await page.getByRole("option", { name: /^Asks/ }).waitFor()
    while ((await page.getByRole("option", { selected: true }).textContent())?.startsWith("Asks") !== true)
      await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await page.getByRole("feed", { name: "Transcript" }).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/s/${session}`)
  })

  check("a token signs in, a wrong one says so, and no token is ever in an address", async () => {
    const page = await cockpit.page({ signedIn: false })
    await page.goto("/sessions")
    await page.getByLabel("Token").fill("wrong")
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByText("That token isn't valid.").waitFor()
    await page.getByLabel("Token").fill(cockpit.hub.ready.token)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor()
    expect(page.url()).not.toContain(cockpit.hub.ready.token)
  })

  check("[T-2] the theme applies at once and stays", async () => {
    const page = await cockpit.page()
    await page.goto("/settings/appearance")
    const background = () => page.evaluate("getComputedStyle(document.body).backgroundColor")
    const light = await background()
    await page.getByRole("radio", { name: "Dark" }).check()
    await expect.poll(background).not.toBe(light)
    const dark = await background()
    await page.reload()
    await page.getByRole("radio", { name: "Dark" }).waitFor()
    expect(await background()).toBe(dark)
  })

  check("[T-3] a revoked token leads back to the sign-in, with the reason", async () => {
    const made = await cockpit.hub.post("/api/tokens", { role: "operator", name: "short-lived" })
    const page = await cockpit.page({ signedIn: false })
    await page.goto("/sessions")
    await page.getByLabel("Token").fill(made.token)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("list", { name: "Needs you" }).waitFor()
    await cockpit.hub.call("DELETE", `/api/tokens/${made.id}`)
    await page.getByRole("button", { name: "Sign in" }).waitFor()
    await page.getByText(/sign in again/).waitFor()
  })

  check("[T-4] About tells the versions, and what of the events this one does not know", async () => {
    const steps = [{ emit: { type: "zebra", stripes: 3 } }, { say: "Done." }]
    const { id } = await cockpit.agent({ title: "Stripes", scenario: { turns: [{ steps }] } })
    const page = await cockpit.page()
    await page.goto(`/s/${id}`)
    await page.getByRole("article", { name: /Unknown event zebra/ }).waitFor()
    await page.getByRole("link", { name: "Settings" }).click()
    await page.getByRole("link", { name: "About" }).click()
    await page.getByText(/^\d+\.\d+\.\d+$/).waitFor()
    await page.getByRole("list", { name: "Unknown events" }).getByText("zebra").waitFor()
    await page.getByText("1 event", { exact: true }).waitFor()
  })

  check("[L-1] with the keyboard up on a phone, the button to send is in view", async () => {
    const page = await cockpit.page({ size: { width: 390, height: 500 } })
    await page.goto(`/s/${session}`)
    await page.getByRole("textbox", { name: "Message" }).tap()
    const box = await page.getByRole("button", { name: /^(?:Send|Queue)$/ }).boundingBox()
    expect(box).not.toBeNull()
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(500)
  })

  check("[L-2] no route scrolls sideways, down to 320 px", async () => {
    const pending = async () => (await cockpit.hub.get(`/api/asks?state=pending&session=${session}`)).asks
    await expect.poll(async () => (await pending()).length, { timeout: 30_000 }).toBe(1)
    const [ask] = await pending()
    for (const size of [{ width: 320, height: 640 }, SIZES.phone, SIZES.tablet, SIZES.desktop]) {
      const page = await cockpit.page({ size })
      for (const route of [
        "/sessions",
        "/sessions?view=board",
        `/s/${session}`,
        `/s/${session}?panel=changes`,
        "/requests",
        `/requests/${ask.id}`,
        "/new",
        "/search?q=npm",
        "/machines",
        "/policy",
        "/policy/edit",
        "/policy/test",
        "/audit",
        "/settings/appearance",
        "/settings/keyboard",
        "/settings/notifications",
        "/settings/about",
      ]) {
        await page.goto(route)
        await page.getByRole("navigation", { name: "Main" }).waitFor()
        await page.getByRole("heading", { level: 1 }).first().waitFor()
        const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
        expect(overflow, `${route} at ${size.width}`).toBeLessThanOrEqual(0)
      }
      await page.context().close()
    }
  })
})
