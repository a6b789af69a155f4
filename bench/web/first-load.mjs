// How much JavaScript a page fetches before it shows what it was opened for.
import { gzipSync } from "node:zlib"
import { atMost, noted } from "./budget.mjs"
import { askedBefore, becomes, installProbe, readProbe } from "./page-probe.mjs"

const KB = 1024

/** @param {import("./scene.mjs").Scene} scene @param {string} path */
async function scriptsOf(scene, path) {
  const page = await scene.coldPage()
  await page.addInitScript(installProbe)
  /** @type {Map<string, import("playwright-core").Response>} */
  const scripts = new Map()
  page.on("response", (response) => {
    if (new URL(response.url()).pathname.endsWith(".js")) scripts.set(response.url(), response)
  })
  await page.goto(path)
  await becomes(page, "probe.firstRowsAt > 0")
  const { firstRowsAt } = await readProbe(page)
  const wanted = (await askedBefore(page)).flatMap((url) => scripts.get(url) ?? [])
  const bodies = await Promise.all(wanted.map((response) => response.body()))
  await page.context().close()
  const bytes = bodies.map((body) => gzipSync(body, { level: 9 }).length).reduce((sum, length) => sum + length, 0)
  return { kb: bytes / KB, files: bodies.length, firstRowsAt }
}

/** @param {import("./scene.mjs").Scene} scene @returns {Promise<import("./budget.mjs").Budget[]>} */
export async function firstLoad(scene) {
  const steps = [{ say: "Some **words**.\n\n```ts\nconst a = 1\n```" }]
  const session = await scene.agent({ title: "Short", scenario: { turns: [{ steps }] } })
  await scene.until(`/api/sessions/${session}`, ({ turns }) => turns === 1)
  const budgets = []
  for (const [name, path] of [
    ["/sessions", "/sessions"],
    ["/s/:id", `/s/${session}`],
  ]) {
    const { kb, files, firstRowsAt } = await scriptsOf(scene, path ?? "")
    budgets.push({
      title: `first load of ${name}: JavaScript, compressed, that is fetched before its first rows`,
      measures: [
        atMost("JavaScript", kb, "KB", 200),
        noted("files", files, ""),
        noted("first rows after", firstRowsAt, "ms"),
      ],
    })
  }
  return budgets
}
