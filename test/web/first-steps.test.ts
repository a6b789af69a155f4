import { readFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import type { Page } from "playwright-core"
import { afterAll, describe, expect } from "vitest"
import { Machine } from "../runner/runner-process.ts"
import { axe } from "./axe.ts"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { asksFor } from "./scenarios.ts"

const WAIT = { timeout: 30_000 }
const KB = 1024

describe.runIf(hasBrowser)("an empty hub", () => {
  let machine: Machine
  let cockpit: CockpitHarness
  let opening: Promise<void> | undefined
  const isReady = () => (opening ??= prepare())
  async function prepare(): Promise<void> {
    machine = await Machine.open({ scenario: asksFor("npm test"), maxAgents: 4 })
    cockpit = await CockpitHarness.open(machine.hub)
  }
  afterAll(async () => {
    await machine?.endRunner("SIGTERM")
    await cockpit?.dispose()
    await machine?.dispose()
  })

  async function open(path: string, options: Parameters<CockpitHarness["page"]>[0] = {}): Promise<Page> {
    await isReady()
    const page = await cockpit.page(options)
    await page.goto(path)
    return page
  }
  const card = (page: Page, name: string) => page.getByRole("region", { name })
  const dock = (page: Page) => page.getByRole("region", { name: "Waiting for you" })
  /** The machine as it would be with another `claude`. */
  const withClaude = (page: Page, change: object) =>
    page.route("**/api/runners", async (route) => {
      const { runners } = await (await route.fetch()).json()
      await route.fulfill({ json: { runners: [{ ...runners[0], ...change }], more: false } })
    })

  check(
    "[S-140] an empty hub shows one sentence and two cards, and no controls without anything to act on",
    async () => {
      const page = await open("/sessions")
      await card(page, "Try a demo agent").waitFor()
      await card(page, "Start Claude Code").waitFor()
      await page.getByText("Agents work on your machines.").waitFor()
      for (const name of ["Filter sessions", "Group", "Archived", "List", "Board"])
        expect(await page.getByLabel(name, { exact: true }).count()).toBe(0)
      const viewer = await open("/sessions", { role: "viewer" })
      await viewer.getByText("No sessions yet.").waitFor()
      expect(await card(viewer, "Try a demo agent").count()).toBe(0)
    },
  )

  check("[S-143] what was found of Claude Code is said, with the way to sign in or to install it", async () => {
    const page = await open("/sessions")
    await withClaude(page, { name: "atlas", cliVersions: ["2.1.325"], claudePath: "/bin/claude", signIn: null })
    await page.reload()
    const claude = card(page, "Start Claude Code")
    await claude.getByText("Claude Code 2.1.325 on atlas, not signed in.").waitFor()
    await claude.getByText(/sign in with \/login/).waitFor()
    await claude.getByRole("link", { name: "Choose a folder" }).click()
    await page
      .getByRole("dialog", { name: "New session" })
      .getByRole("radio", { name: /^Claude Code/ })
      .waitFor()
    // A reply that is on its way would be given twice.
    await page.unrouteAll({ behavior: "wait" })
    await withClaude(page, { name: "atlas", cliVersions: [], claudePath: undefined })
    await page.goto("/sessions")
    await claude.getByText("Claude Code isn't installed on atlas.").waitFor()
    await claude.getByText("npm install -g @anthropic-ai/claude-code").waitFor()
  })

  check(
    "[S-141] [S-142] three clicks at most lead to a first answered request, and killing the hub loses nothing",
    async () => {
      const page = await open("/sessions")
      let clicks = 0
      const click = async (name: RegExp | string, within: Page | ReturnType<typeof dock> = page) => {
        clicks++
        await within.getByRole("button", { name }).click()
      }
      await click("Try a demo agent", card(page, "Try a demo agent"))
      await page.waitForURL(/\/s\/[\w-]+$/)
      const id = new URL(page.url()).pathname.slice(3)
      await dock(page).locator("[data-ask][data-armed='true']").waitFor(WAIT)
      const hint = page.getByRole("complementary", { name: "Demo" })
      await hint.getByText("kill the hub").waitFor()
      await machine.hub.kill()
      await hint.getByText("The hub is gone; the agent isn't.").waitFor(WAIT)
      await machine.hub.startAgain()
      await hint.getByText("The agent waits for you.").waitFor(WAIT)
      await dock(page).locator("[data-ask][data-armed='true']").waitFor(WAIT)
      await click(/^Allow once/, dock(page))
      await page.getByRole("feed", { name: "Transcript" }).getByText("It is done.").waitFor(WAIT)
      const { asks } = await machine.hub.get(`/api/asks?session=${id}`)
      expect(asks.map(({ state }: { state: string }) => state)).toEqual(["allowed"])
      expect(clicks).toBeLessThanOrEqual(3)
      await hint.getByRole("button", { name: "Got it" }).click()
      await hint.waitFor({ state: "detached" })
      await page.reload()
      await page.getByRole("feed", { name: "Transcript" }).getByText("It is done.").waitFor(WAIT)
      expect(await hint.count()).toBe(0)
    },
  )

  check("[G-140] every entry of the navigation leads to a screen", async () => {
    const page = await open("/sessions")
    const links = page.getByRole("navigation", { name: "Main" }).getByRole("link")
    for (const href of await links.evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""))) {
      await page.goto(href)
      await page.getByRole("heading", { level: 1 }).waitFor()
      expect(await page.getByText("Page not found.").count()).toBe(0)
    }
    const [{ id }] = (await machine.hub.get("/api/sessions")).sessions
    for (const [typed, words, action, to] of [
      ["/usage", /^Usage has no screen yet\./, "Go to sessions", "/sessions"],
      [`/s/${id}/replay`, /^A session can't be replayed yet\./, "Open the session", `/s/${id}`],
      ["/made/up", "Page not found.", "Go to sessions", "/sessions"],
    ] as const) {
      await page.goto(typed)
      await page.getByText(words).waitFor()
      expect(await axe(page), typed).toEqual([])
      await page.getByRole("button", { name: action }).click()
      await page.waitForURL((url) => url.pathname === to)
      await page.getByRole("heading", { level: 1 }).waitFor()
    }
  })

  check("[G-141] a badge of two digits leaves its icon in view, on a phone too", async () => {
    await isReady()
    const { asks } = await machine.hub.get("/api/asks")
    for (const size of ["desktop", "phone"] as const) {
      const page = await cockpit.page({ size })
      await page.route("**/api/asks?*", (route) =>
        route.fulfill({
          json: {
            asks: Array.from({ length: 42 }, (_, index) => ({ ...asks[0], id: `a${index}`, state: "pending" })),
            more: false,
          },
        }),
      )
      await page.goto("/sessions")
      const link = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: /^Requests.*42 waiting/ })
      await link.waitFor()
      const badge = await link.getByText("42", { exact: true }).boundingBox()
      const icon = await link.locator("svg").boundingBox()
      if (badge === null || icon === null) throw new Error("the badge or its icon is not shown")
      expect(badge.x).toBeGreaterThanOrEqual(icon.x + icon.width / 2)
      expect(badge.y).toBeLessThan(icon.y + icon.height / 3)
      await page.context().close()
    }
  })

  check("[C-140] the first load of the list and of a session is at most 200 KB of JavaScript, compressed", async () => {
    await isReady()
    const dist = join(import.meta.dirname, "../../packages/web/dist")
    const read = (file: string) => readFileSync(join(dist, file), "utf8")
    const shell = read("index.html").match(/assets\/[\w-]+\.js/g) ?? []
    const text = shell.map(read).join("\n")
    for (const screen of ["sessions-screen", "session-screen"]) {
      const [entry] = new RegExp(`assets/${screen}-[\\w-]+\\.js`).exec(text) ?? []
      if (entry === undefined) throw new Error(`the page does not load ${screen}`)
      const files = new Set([...shell, entry])
      // Grows while it is walked: a file's own imports are fetched with it.
      for (const file of files)
        for (const [, other] of read(file).matchAll(/(?:from|import)"\.\/([\w-]+\.js)"/g)) files.add(`assets/${other}`)
      const bytes = [...files].reduce((sum, file) => sum + gzipSync(read(file), { level: 9 }).length, 0)
      expect(bytes / KB, screen).toBeLessThanOrEqual(200)
    }
  })
})
