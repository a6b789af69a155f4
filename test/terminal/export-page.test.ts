import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { Scenario } from "@signalbox/simulator"
import { chromium } from "playwright-core"
import { describe, expect, it } from "vitest"
import { folder, startHub } from "../../packages/cli/test/signalbox-process.ts"
import { ensureSystemPackage } from "../../scripts/system-package.mjs"

const browserPath = ensureSystemPackage("chromium")
const POLL = { timeout: 30_000, interval: 100 }

const hostile = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`
const scenario: Scenario = {
  turns: [
    {
      steps: [
        { think: hostile },
        {
          say: `# ${hostile}\n\n${"wide ".repeat(100)}\n\n| a | b |\n|---|---|\n| ${"long".repeat(60)} | ${hostile} |`,
        },
        { tool: "Read", input: { file_path: `${"deep/".repeat(60)}file.ts` }, result: "x".repeat(500) },
        { tool: "Bash", input: { command: `echo ${"y".repeat(400)}` }, result: hostile, isError: true },
        { tool: "Edit", input: { file_path: "/p/a.ts", old_string: "one", new_string: hostile } },
      ],
    },
  ],
}

describe.skipIf(browserPath === undefined)("an exported page, in a browser", () => {
  it("[EX1] asks for nothing, runs nothing, and fits a phone and a desktop, in both colours", async () => {
    const hub = await startHub("runner")
    const [work, out] = [folder(), join(folder(), "page.html")]
    const file = join(work, "scenario.json")
    writeFileSync(file, JSON.stringify(scenario))
    const how = [
      "--agent",
      "simulator",
      "--arg=--scenario",
      `--arg=${file}`,
      "--arg=--allowedTools",
      "--arg=Bash,Read,Edit",
    ]
    const id = (await hub.run(["new", ...how, "--cwd", work, "--prompt", hostile, "--title", hostile])).stdout.trim()
    await expect.poll(async () => (await hub.run(["log", id])).stdout, POLL).toContain("turn: done")
    expect(await hub.run(["export", id, "--html", out])).toMatchObject({ code: 0 })
    const browser = await chromium.launch({ executablePath: browserPath ?? "", args: ["--no-sandbox"] })
    try {
      for (const width of [390, 1200]) {
        for (const colorScheme of ["light", "dark"] as const) {
          const page = await browser.newPage({ viewport: { width, height: 844 }, colorScheme })
          const heard: string[] = []
          page.on("console", (message) => heard.push(message.text()))
          page.on("request", (request) => heard.push(request.url()))
          await page.goto(pathToFileURL(out).href)
          // One that is opened is no longer closed: the first closed one is always the next.
          const closed = page.locator("main > details:not([open]) > summary")
          for (let left = await closed.count(); left > 0; left--) await closed.first().click()
          expect(await page.locator("main > details[open]").count()).toBeGreaterThan(2)
          expect(heard).toEqual([pathToFileURL(out).href])
          expect(await page.title()).toBe(hostile)
          expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0)
          expect(await page.locator("script, main img, iframe").count()).toBe(0)
          const ground = await page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
          expect(ground).toMatch(colorScheme === "light" ? /0\.98/ : /0\.17/)
          await page.close()
        }
      }
    } finally {
      await browser.close()
    }
  })
})
