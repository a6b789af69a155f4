import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Locator, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { animatedPicture, type Frame, readPicture } from "./animated-picture.ts"
import { hasBrowser } from "./cockpit.ts"
import { LooksScene } from "./looks-scene.ts"

const ROOT = join(import.meta.dirname, "../..")
/** `npm run pictures` puts them where README looks for them; a run of the tests leaves those alone. */
const FOLDER =
  process.env["SIGNALBOX_PICTURES"] === "docs" ? join(ROOT, "docs/pictures") : join(import.meta.dirname, "shots")
const MOST_BYTES = 600 * 1024

const SMALL = { width: 1080, height: 720 }
const FRAME_MS = 90
/** Frames of one scene: a slow machine is waited for without more of them. */
const MOST_FRAMES = 30
const PATIENCE = { timeout: 60_000 }

/** README's pictures, taken of a real hub with simulated agents. */
describe.runIf(hasBrowser)("README's pictures", () => {
  let scene: LooksScene
  beforeAll(async () => {
    mkdirSync(FOLDER, { recursive: true })
    scene = await LooksScene.open()
    await fill(scene)
  }, 300_000)
  afterAll(async () => {
    await scene?.dispose()
  })

  function keep(name: string, bytes: Buffer): void {
    expect(bytes.length, name).toBeLessThanOrEqual(MOST_BYTES)
    writeFileSync(join(FOLDER, name), bytes)
  }
  async function shoot(page: Page): Promise<Buffer> {
    await page.evaluate("document.fonts.ready")
    return page.screenshot()
  }

  it("[L-165] sessions.png: the sessions on two machines, those that wait first", async () => {
    const page = await scene.cockpit.page({ size: { width: 1280, height: 800 }, theme: "light" })
    await page.goto("/sessions")
    await page.getByRole("list", { name: "Needs you" }).waitFor()
    keep("sessions.png", await shoot(page))
  }, 120_000)

  it("[L-165] session.png: what the agent did, and the command that waits", async () => {
    const page = await scene.cockpit.page({ size: { width: 1280, height: 860 }, theme: "light" })
    await page.goto(`/s/${scene.session("Fix flaky auth tests")}`)
    await page.getByRole("button", { name: /^Allow once/ }).waitFor()
    await page.getByRole("feed").getByText("The failure comes from").first().waitFor()
    keep("session.png", await shoot(page))
  }, 120_000)

  it("[L-165] allow.png: a request comes, F6 and y allow it, and the agent goes on", async () => {
    const id = await scene.launch({ title: "Release 1.4", prompt: "Release it", on: "atlas", folder: "api" })
    const page = await scene.cockpit.page({ size: SMALL, theme: "dark" })
    // This once the motion is what is shown.
    await page.emulateMedia({ reducedMotion: "no-preference" })
    await page.goto(`/s/${id}`)
    // The first frame is all that some readers see.
    await page.getByRole("feed").getByText("Release it").first().waitFor()
    const frames: Frame[] = []
    const film = async (until: Locator, restMs: number) => {
      for (let count = 0; count < MOST_FRAMES; count++) {
        frames.push({ png: await shoot(page), forMs: FRAME_MS })
        if (await until.isVisible()) break
      }
      await until.waitFor(PATIENCE)
      frames.push({ png: await shoot(page), forMs: restMs })
    }
    await film(page.getByRole("button", { name: /^Allow once/ }), 1800)
    await page.keyboard.press("F6")
    await film(page.locator("[data-ask][data-armed='true']"), 900)
    await page.keyboard.press("y")
    await film(page.getByRole("feed").getByText("is out").first(), 2600)
    const bytes = animatedPicture(frames)
    keep("allow.png", bytes)
    expect(readPicture(frames[0]?.png ?? Buffer.alloc(0))).toMatchObject(SMALL)
    expect(readPicture(bytes).rgb.equals(readPicture(frames[0]?.png ?? Buffer.alloc(0)).rgb)).toBe(true)
  }, 180_000)

  it("[L-165] README shows these, and no others", () => {
    const shown = [...readFileSync(join(ROOT, "README.md"), "utf8").matchAll(/docs\/pictures\/([\w.-]+)/g)]
    expect(shown.length).toBeGreaterThan(1)
    for (const [, name] of shown) expect(["allow.png", "session.png", "sessions.png"]).toContain(name)
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
  await scene.launch({ ...web, title: "Migrate db", prompt: "Write the migration for the new column" })
  await scene.launch({ ...web, title: "Data export", prompt: "Customers want an export" })
  await scene.launch({ ...api, title: "Docs refresh", prompt: "Bring the documentation up to date" })
  await scene.launch({ ...web, title: "Bump deps", prompt: "Update all dependencies" })
  await scene.launch({ ...api, title: "Clock rework", prompt: "Show me every tool" })
  await scene.launch({ ...api, title: "Contract review", prompt: "A prompt that is too long" })
  await scene.allow("Fix flaky auth tests", ({ input }) => String(input.command).startsWith("rm"))
  for (const title of ["Bump deps", "Clock rework", "Contract review"]) await scene.allow(title)
  for (const title of ["Migrate db", "Data export"]) await scene.asks(title)
}
