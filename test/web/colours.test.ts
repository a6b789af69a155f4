// What runs inside of a page is typed as such.
/// <reference lib="dom" />
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { isWholeRun } from "../gate.ts"
import { check, journey } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { asksFor, talks, works } from "./scenarios.ts"

const SHOTS = join(import.meta.dirname, "shots")

/** For people who see, move or point otherwise: the system's own colours, no motion, targets that can be hit. */
describe.runIf(hasBrowser)("the cockpit as the system asks for it", () => {
  let cockpit: CockpitHarness
  let asking: string
  let talking: string
  let working: string
  beforeAll(async () => {
    mkdirSync(SHOTS, { recursive: true })
    cockpit = await CockpitHarness.open()
    asking = (await cockpit.agent({ title: "Asks", scenario: asksFor("npm test") })).id
    const partial = ["--include-partial-messages"]
    talking = (await cockpit.agent({ title: "Talks", scenario: talks(2000, 100), args: partial })).id
    const free = ["--permission-mode", "acceptEdits", "--allowedTools", "Bash"]
    working = (await cockpit.agent({ title: "Works", scenario: works, args: free })).id
  })
  afterAll(async () => {
    await cockpit?.dispose()
  })

  /** Every screen, with something on it. */
  const screens = async (): Promise<readonly (readonly [path: string, ready: (page: Page) => Promise<void>])[]> => {
    const look = async () => (await cockpit.hub.get(`/api/asks?state=pending&session=${asking}`)).asks
    await expect.poll(async () => (await look()).length, { timeout: 60_000 }).toBe(1)
    const [ask] = await look()
    const heading = (page: Page) => page.getByRole("heading", { level: 1 }).first().waitFor()
    return [
      ["/sessions", (page) => page.getByRole("list", { name: "Needs you" }).waitFor()],
      [`/s/${asking}`, (page) => page.locator("[data-region='waiting']").waitFor()],
      [`/s/${talking}`, (page) => page.getByRole("feed").getByText("More words come.").first().waitFor()],
      [`/s/${working}?panel=tasks`, (page) => page.getByRole("tabpanel").waitFor()],
      ["/requests", (page) => page.getByRole("list", { name: "Open requests" }).waitFor()],
      [`/requests/${ask.id}`, (page) => page.getByRole("button", { name: /Allow once/ }).waitFor()],
      ["/new", (page) => page.getByRole("textbox", { name: "First message" }).waitFor()],
      ["/search?q=npm", heading],
      ["/machines", heading],
      ["/policy/test", heading],
      ["/audit", heading],
      ["/settings/appearance", heading],
      ["/settings/keyboard", heading],
      ["/settings/notifications", heading],
    ]
  }

  it("[L-167] who wants no motion gets none, and others little", async () => {
    const page = await cockpit.page()
    const moving = () => page.evaluate(runningAnimations)
    for (const [path, ready] of isWholeRun ? await screens() : (await screens()).slice(0, 3)) {
      await page.goto(path)
      await ready(page)
      expect(await moving(), path).toEqual([])
      await page.keyboard.press("Control+k")
      await page.getByRole("dialog", { name: "Command palette" }).waitFor()
      expect(await moving(), `${path}, palette`).toEqual([])
    }
    // Otherwise the sign of a session that runs would move: the check above can fail.
    await page.emulateMedia({ reducedMotion: "no-preference" })
    await page.goto("/sessions")
    await page.getByRole("list", { name: "Running" }).waitFor()
    await expect.poll(async () => (await moving()).length).toBeGreaterThan(0)
  }, 180_000)

  check("[X-128] a caret stands where the agent writes, and does not move for those who want no motion", async () => {
    const page = await cockpit.page()
    await page.goto(`/s/${talking}`)
    const caret = () =>
      page.locator(".has-caret > :last-child").evaluate((element) => ({
        width: Number.parseFloat(getComputedStyle(element, "::after").inlineSize),
        moves: getComputedStyle(element, "::after").animationName,
      }))
    await page.locator(".has-caret").waitFor()
    const still = await caret()
    expect(still.width).toBeGreaterThan(1)
    expect(still.moves).toBe("none")
    await page.emulateMedia({ reducedMotion: "no-preference" })
    expect((await caret()).moves).toBe("caret")
  })

  it("[L-168] in the system's own colours every sign, focus and choice can still be told", async () => {
    const page = await cockpit.page()
    await page.emulateMedia({ forcedColors: "active" })
    await page.goto("/sessions")
    await page.getByRole("list", { name: "Needs you" }).waitFor()
    const glyphs = await page.evaluate(glyphColours)
    expect(glyphs.length).toBeGreaterThan(0)
    expect(glyphs).not.toContain("rgba(0, 0, 0, 0)")
    await page.screenshot({ path: join(SHOTS, "forced-colours-sessions.png") })
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    expect(await page.evaluate(focusColour)).toBe(await page.evaluate(systemColour, "Highlight"))

    await page.goto("/settings/keyboard")
    const single = page.getByRole("switch")
    const background = () => single.evaluate((element) => getComputedStyle(element).backgroundColor)
    const on = await background()
    await single.focus()
    await page.keyboard.press("Space")
    await expect.poll(background).not.toBe(on)
    await page.keyboard.press("Space")
    const here = page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Keyboard" })
    expect(await here.evaluate((element) => getComputedStyle(element).outlineStyle)).not.toBe("none")

    await page.goto(`/s/${asking}`)
    await page.locator("[data-region='waiting']").waitFor()
    await page.screenshot({ path: join(SHOTS, "forced-colours-session.png") })
    // Buttons without a border of their own would be words among words.
    const borders = await page.locator("[data-region='waiting'] [data-act]").evaluateAll((buttons) =>
      buttons.map((button) => {
        const { borderTopStyle, borderTopColor } = getComputedStyle(button)
        return borderTopStyle === "solid" && borderTopColor !== "rgba(0, 0, 0, 0)"
      }),
    )
    expect(borders.length).toBeGreaterThan(1)
    expect(borders).not.toContain(false)
  }, 180_000)

  for (const [how, size, least] of [
    ["a pointer", "desktop", 24],
    ["a pointer on a tablet", "tablet", 24],
    ["a finger", "phone", 44],
  ] as const) {
    journey(`[L-170] what is pressed with ${how} is large enough for it`, async () => {
      const page = await cockpit.page({ size })
      const small: string[] = []
      for (const [path, ready] of await screens()) {
        await page.goto(path)
        await ready(page)
        small.push(...(await page.evaluate(smallTargets, least)).map((target) => `${path}: ${target}`))
      }
      expect(small).toEqual([])
    })
  }
})

function runningAnimations(): readonly string[] {
  return document
    .getAnimations()
    .filter((animation) => animation.playState === "running" && Number(animation.effect?.getTiming().duration ?? 0) > 0)
    .map((animation) => (animation instanceof CSSAnimation ? animation.animationName : animation.constructor.name))
}

function glyphColours(): readonly string[] {
  return [...document.querySelectorAll<SVGElement>("[data-session] svg[role='img']")].map((glyph) => {
    const { stroke, color } = getComputedStyle(glyph)
    return stroke === "none" ? color : stroke
  })
}

function focusColour(): string {
  const element = document.activeElement
  return element === null ? "" : getComputedStyle(element).outlineColor
}

function systemColour(name: string): string {
  const probe = document.createElement("i")
  probe.style.color = name
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** By the size of what takes the press: a box with its label, a link in a line of text not at all. */
function smallTargets(least: number): readonly string[] {
  const pressed =
    "button, a[href], select, summary, input, [role=tab], [role=menuitem], [role=slider], [role=separator][tabindex]"
  return [...document.querySelectorAll<HTMLElement>(pressed)].flatMap((element) => {
    const target = element.matches("input") ? (element.closest("label") ?? element) : element
    const { width, height } = target.getBoundingClientRect()
    const isThere =
      element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && width > 1 && height > 1
    const isInText = element.matches("a") && getComputedStyle(element).display === "inline"
    const isSlim = element.matches("[role=slider], [role=separator]")
    if (!isThere || isInText || (isSlim ? Math.max(width, height) : Math.min(width, height)) >= least - 0.5) return []
    const name = element.getAttribute("aria-label") ?? element.textContent ?? ""
    return [`${element.tagName.toLowerCase()} "${name.slice(0, 40)}" ${Math.round(width)}×${Math.round(height)}`]
  })
}
