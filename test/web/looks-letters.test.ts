// What runs inside of a page is typed as such.
/// <reference lib="dom" />
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { READY } from "./asks-page.ts"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { asksFor } from "./scenarios.ts"

const FONTS = "**/*.woff2"

/** Letters, and a page whose letters are made twice as large. */
describe.runIf(hasBrowser)("the cockpit's letters", () => {
  let cockpit: CockpitHarness
  let session: string
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
    session = (await cockpit.agent({ title: "Asks", scenario: asksFor("npm test && npm run build") })).id
  })
  afterAll(async () => {
    await cockpit?.dispose()
  })

  async function openRequest(page: Page): Promise<void> {
    // The page loads to its end only with its fonts, which one of these holds back.
    await page.goto(`/s/${session}`, { waitUntil: "commit" })
    await page.getByRole("button", { name: /^Allow once/ }).waitFor()
  }

  check("[L-162] the page is set in the hub's own fonts, which may be kept for ever", async () => {
    const page = await cockpit.page()
    const seen: string[] = []
    page.on("response", (response) => {
      if (!response.url().endsWith(".woff2")) return
      const headers = response.headers()
      seen.push(`${new URL(response.url()).origin} ${headers["content-type"]} ${headers["cache-control"]}`)
    })
    await openRequest(page)
    await expect.poll(() => page.evaluate(loadedFonts)).toEqual(["Geist", "Geist Mono"])
    const { origin } = new URL(page.url())
    expect(new Set(seen)).toEqual(new Set([`${origin} font/woff2 public, max-age=31536000, immutable`]))
  })

  check("[L-163] letters that come late, or never, move nothing", async () => {
    const page = await cockpit.page()
    let release: () => void = () => undefined
    const late = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(FONTS, async (route) => {
      await late
      await route.continue()
    })
    await openRequest(page)
    release()
    await expect.poll(() => page.evaluate(loadedFonts)).toContain("Geist Mono")
    // In one go: ages and the like that change meanwhile would move something too.
    const { before, after, widths } = await page.evaluate(withAndWithoutFonts, places.toString())
    expect(before.length).toBeGreaterThan(10)
    expect(after).toEqual(before)
    // The sans came too late for this page, and is not taken.
    expect(widths.sans).toBe(widths.standIn)
  })

  check(
    "[L-164] at 200 % nothing is cut off: no screen scrolls sideways, and the request can be answered",
    async () => {
      // A window of 1280 by 800 shows half as many pixels of a page each way.
      const page = await cockpit.page({ size: { width: 640, height: 400 } })
      for (const route of ["/sessions", "/requests", "/new", "/search?q=npm", "/machines", "/policy", "/audit"]) {
        await page.goto(route)
        await page.getByRole("heading", { level: 1 }).first().waitFor()
        expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth"), route).toBeLessThanOrEqual(0)
      }
      await page.goto(`/s/${session}`)
      // So low a window is a phone's: the request has the screen for itself.
      await page.getByRole("button", { name: "Review", exact: true }).click()
      const sheet = page.getByRole("dialog", { name: /^Request/ })
      await sheet.locator(READY).waitFor()
      await page.keyboard.press("End")
      await sheet.locator("[data-act=primary]:not([data-held], [data-unread])").click()
      await expect
        .poll(async () => (await cockpit.hub.get(`/api/asks?state=pending&session=${session}`)).asks.length)
        .toBe(0)
    },
  )
})

function loadedFonts(): readonly string[] {
  const loaded = [...document.fonts].filter(({ status }) => status === "loaded").map(({ family }) => family)
  return [...new Set(loaded.map((name) => name.replaceAll('"', "")))]
    .filter((name) => !/Fallback|Consolas/.test(name))
    .sort()
}

/** Where everything stands in the fonts that came, and without any. */
function withAndWithoutFonts(placesText: string) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion, typescript/no-implied-eval -- a function of this file, in the page
  const look = new Function(`return (${placesText})()`) as () => readonly string[]
  const widthIn = (family: string) => {
    const text = document.createElement("span")
    text.textContent = "The quick brown fox jumps over the lazy dog"
    text.style.cssText = `position: absolute; font: 40px ${family}`
    document.body.append(text)
    const { width } = text.getBoundingClientRect()
    text.remove()
    return width
  }
  const widths = { sans: widthIn('"Geist", "Geist Fallback"'), standIn: widthIn('"Geist Fallback"') }
  const after = look()
  for (const sheet of document.styleSheets) {
    for (let at = sheet.cssRules.length - 1; at >= 0; at--) {
      if (/^@font-face[^}]*url\(/.test(sheet.cssRules[at]?.cssText ?? "")) sheet.deleteRule(at)
    }
  }
  return { before: look(), after, widths }
}

/** Where everything that is written stands. */
function places(): readonly string[] {
  return [...document.querySelectorAll<HTMLElement>("main *")]
    .filter((element) => element.checkVisibility() && [...element.childNodes].some((node) => node instanceof Text))
    .map((element) => {
      const { left, top, width, height } = element.getBoundingClientRect()
      return `${element.tagName} ${[left, top, width, height].map(Math.round).join(" ")}`
    })
}
