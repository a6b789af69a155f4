import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { cockpitLooks, isWholeRun } from "../gate.ts"
import { axe } from "./axe.ts"
import { journey } from "./check.ts"
import { hasBrowser } from "./cockpit.ts"
import { type Shot, writeContactSheet } from "./contact-sheet.ts"
import { LooksScene } from "./looks-scene.ts"

const SHOTS = join(import.meta.dirname, "shots")

interface Screen {
  readonly name: string
  readonly path: (scene: LooksScene) => string
  readonly ready: (page: Page) => Promise<unknown>
  /** In the gate too; the others are states of the same screens. */
  readonly gate?: true
}

/** The list's group of sessions that wait: for people who may answer, and for those who may only look. */
const WAITING = /^(?:Needs you|Waiting for someone)/
const inFeed = (text: string) => (page: Page) => page.getByRole("feed").getByText(text).first().waitFor()
const button = (name: RegExp) => (page: Page) => page.getByRole("button", { name }).first().waitFor()
const asked = (title: string) => (scene: LooksScene) => `/s/${scene.session(title)}`
const panel = (name: string): Screen => ({
  name: `session-${name}`,
  path: (scene) => `/s/${scene.session("Clock rework")}?panel=${name}`,
  ready: (page) => page.getByRole("tabpanel").waitFor(),
})
async function pressed(page: Page, key: string, title: string): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor()
  await page.keyboard.press(key)
  await page.getByRole("dialog", { name: title }).waitFor()
}

const SCREENS: readonly Screen[] = [
  {
    name: "sessions",
    path: () => "/sessions",
    ready: (page) => page.getByRole("list", { name: WAITING }).waitFor(),
    gate: true,
  },
  { name: "sessions-menu", path: () => "/sessions", ready: openMenu },
  {
    name: "sessions-none",
    path: () => "/sessions?q=zebra",
    ready: (page) => page.getByRole("main").getByRole("button").first().waitFor(),
  },
  { name: "session", path: asked("Bump deps"), ready: inFeed("latest"), gate: true },
  { name: "session-tools-rows", path: asked("Clock rework"), ready: inFeed("That was all of them.") },
  {
    name: "session-ask",
    path: asked("Fix flaky auth tests"),
    ready: (page) => page.locator('[data-region="waiting"]').waitFor(),
    gate: true,
  },
  { name: "session-menu", path: asked("Bump deps"), ready: openHeaderMenu },
  panel("changes"),
  panel("tasks"),
  panel("context"),
  panel("tools"),
  { ...panel("asks"), gate: true },
  { ...panel("raw"), path: (scene) => `/s/${scene.session("Clock rework")}?panel=raw&event=3` },
  {
    name: "session-missing",
    path: () => "/s/nowhere",
    ready: (page) => page.getByText("Session not found.").waitFor(),
  },
  {
    name: "requests",
    path: () => "/requests",
    ready: (page) => page.getByRole("list", { name: "Open requests" }).getByRole("listitem").first().waitFor(),
    gate: true,
  },
  {
    name: "requests-settled",
    path: () => "/requests?state=settled",
    ready: (page) => page.getByRole("heading", { name: "Requests" }).waitFor(),
  },
  {
    name: "new-session",
    path: () => "/new",
    ready: (page) => page.getByRole("textbox", { name: "First message" }).waitFor(),
    gate: true,
  },
  {
    name: "search",
    path: () => "/search?q=deps",
    ready: (page) => page.locator("[data-hit]").first().waitFor(),
    gate: true,
  },
  {
    name: "search-none",
    path: () => "/search?q=zebra&in=titles",
    ready: (page) => page.getByText("No matches with").waitFor(),
  },
  {
    name: "machines-list",
    path: () => "/machines",
    ready: (page) => page.getByText("borealis").first().waitFor(),
    gate: true,
  },
  {
    name: "machine-one",
    path: (scene) => `/machines/${scene.machine("atlas")}`,
    ready: (page) => page.getByRole("heading", { name: "atlas" }).waitFor(),
  },
  {
    name: "policy",
    path: () => "/policy",
    ready: (page) => page.getByText("No rules yet.").waitFor(),
  },
  {
    name: "policy-edit",
    path: () => "/policy/edit",
    ready: (page) => page.getByRole("textbox", { name: "Name" }).waitFor(),
  },
  {
    name: "policy-test",
    path: () => "/policy/test",
    ready: (page) => page.getByRole("textbox", { name: "Input" }).waitFor(),
  },
  {
    name: "audit",
    path: () => "/audit",
    ready: (page) => page.getByRole("list", { name: "Audit" }).waitFor(),
  },
  {
    name: "appearance",
    path: () => "/settings/appearance",
    ready: (page) => page.getByRole("radio", { name: "Dark" }).waitFor(),
    gate: true,
  },
  {
    name: "keyboard",
    path: () => "/settings/keyboard",
    ready: (page) => page.getByRole("switch").waitFor(),
    gate: true,
  },
  {
    name: "notifications",
    path: () => "/settings/notifications",
    ready: (page) => page.getByText(/can't be answered from a notification|you aren't notified/).waitFor(),
    gate: true,
  },
  {
    name: "permissions",
    path: () => "/settings/permissions",
    ready: (page) => page.getByRole("switch").waitFor(),
  },
  {
    name: "about",
    path: () => "/settings/about",
    ready: (page) => page.getByRole("heading", { name: "Versions" }).waitFor(),
  },
  { name: "palette", path: () => "/sessions", ready: (page) => pressed(page, "Control+k", "Command palette") },
  { name: "shortcuts", path: () => "/sessions", ready: (page) => pressed(page, "?", "Keyboard shortcuts") },
  {
    name: "nowhere",
    path: () => "/nowhere",
    ready: (page) => page.getByText("Page not found.").waitFor(),
  },
]

/** Asks have addresses of their own, known when they are there. */
const ASKS: readonly (readonly [name: string, title: string, ready: (page: Page) => Promise<unknown>])[] = [
  ["ask-command", "Fix flaky auth tests", button(/^Allow once/)],
  ["ask-denied", "Fix flaky auth tests", denying],
  ["ask-edited", "Fix flaky auth tests", editing],
  ["ask-write", "Migrate db", button(/^(?:Allow once|Read to the end to allow)/)],
  ["ask-questions", "Data export", button(/Send answers/)],
  ["ask-of-plan", "Passwordless sign-in", button(/ask before edits|Read to the end to approve/)],
  ["ask-form", "Payments incident", button(/^Accept/)],
]

async function openMenu(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Menu of Bump deps" }).click()
  await page.getByRole("menu").waitFor()
}
async function openHeaderMenu(page: Page): Promise<void> {
  await page.getByRole("feed").getByText("latest").waitFor()
  await page.locator("main header").getByRole("button", { name: "Menu of Bump deps" }).click()
  await page.getByRole("menu").waitFor()
}
async function denying(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Deny…/ }).click()
  await page.getByRole("textbox", { name: /Reason/ }).waitFor()
}
async function editing(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Edit/ }).click()
  await page.getByRole("textbox", { name: /Edit command/ }).waitFor()
}

/** Every screen as people see it: a picture for a person to judge, and nothing that the accessibility rules object to. */
describe.runIf(hasBrowser)("how the cockpit looks", () => {
  let scene: LooksScene
  const shots: Shot[] = []
  beforeAll(async () => {
    mkdirSync(SHOTS, { recursive: true })
    scene = await LooksScene.open()
    await fill(scene)
  }, 300_000)
  afterAll(async () => {
    if (shots.length > 0) writeContactSheet(join(SHOTS, "screens.html"), "Every screen of the cockpit", shots)
    await scene?.dispose()
  })

  async function look(page: Page, name: string): Promise<readonly string[]> {
    const violations = await axe(page)
    await page.screenshot({ path: join(SHOTS, `${name}.png`) })
    shots.push({ name, violations: violations.length })
    return violations.map((violation) => `${name}: ${violation}`)
  }

  it.each(cockpitLooks)(
    "[L-166] on a %s in the %s theme every screen is free of what axe finds",
    async (size, theme) => {
      const page = await scene.cockpit.page({ size, theme })
      const found: string[] = []
      for (const { name, path, ready } of SCREENS.filter(({ gate }) => isWholeRun || gate === true)) {
        await page.goto(path(scene))
        await ready(page)
        found.push(...(await look(page, `${name}-${size}-${theme}`)))
      }
      for (const [name, title, ready] of isWholeRun ? ASKS : []) {
        const { id } = await scene.asks(title)
        await page.goto(`/requests/${id}`)
        await ready(page)
        found.push(...(await look(page, `${name}-${size}-${theme}`)))
      }
      const signIn = await scene.cockpit.page({ size, theme, signedIn: false })
      await signIn.goto("/")
      await signIn.getByRole("button", { name: "Sign in" }).waitFor()
      found.push(...(await look(signIn, `sign-in-${size}-${theme}`)))
      for (const one of [page, signIn]) await one.context().close()
      expect(found).toEqual([])
    },
    600_000,
  )

  journey("[L-166] a viewer's screens are free of it too", async () => {
    const page = await scene.cockpit.page({ role: "viewer" })
    const found: string[] = []
    for (const { name, path, ready } of SCREENS.filter(({ gate, name }) => gate === true && name !== "new-session")) {
      await page.goto(path(scene))
      await ready(page)
      found.push(...(await axe(page)).map((violation) => `${name}: ${violation}`))
    }
    expect(found).toEqual([])
  })

  journey("[L-166] and so is what is shown while the hub is away", async () => {
    const page = await scene.cockpit.page({ theme: "dark" })
    await page.goto(asked("Fix flaky auth tests")(scene))
    await page.getByRole("region", { name: "Waiting for you" }).waitFor()
    await scene.hub.kill()
    await page.getByText(/Last updated/).waitFor()
    expect(await look(page, "hub-away")).toEqual([])
    await scene.hub.startAgain()
    await page.getByText(/Last updated/).waitFor({ state: "detached" })
  })
})

async function fill(scene: LooksScene): Promise<void> {
  const api = { on: "atlas", folder: "api" } as const
  const web = { on: "borealis", folder: "web" } as const
  await scene.launch({
    ...api,
    title: "Fix flaky auth tests",
    prompt: "Make the auth tests deterministic",
    mode: "acceptEdits",
  })
  await scene.launch({ ...web, title: "Bump deps", prompt: "Update all dependencies" })
  await scene.launch({ ...web, title: "Clock rework", prompt: "Show me every tool" })
  await scene.launch({ ...web, title: "Migrate db", prompt: "Write the migration for the new column" })
  await scene.launch({ ...web, title: "Data export", prompt: "Customers want an export" })
  await scene.launch({ ...api, title: "Passwordless sign-in", prompt: "Plan the sign-in by e-mail link" })
  await scene.launch({ ...web, title: "Payments incident", prompt: "Open an incident for the card payments" })
  await scene.launch({ ...api, title: "Docs refresh", prompt: "Bring the documentation up to date" })
  await scene.handmade()
  await scene.allow("Fix flaky auth tests", ({ input }) => String(input.command).startsWith("rm"))
  await scene.allow("Passwordless sign-in", ({ kind }) => kind === "plan")
  for (const title of ["Bump deps", "Clock rework"]) await scene.allow(title)
}
