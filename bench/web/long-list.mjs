// A list of very many sessions: what scrolling to its end costs the page [S-155].
import { atMost } from "./budget.mjs"
import { becomes, installProbe, startCounting, stopCounting } from "./page-probe.mjs"

/** @typedef {import("./scene.mjs").Scene} Scene */

const COUNT = 20_000
const NEWEST = Date.parse("2030-01-01T00:00:00Z")
const LAST = `Long ago ${COUNT - 1}`

/** @param {Scene} scene @returns {Promise<import("./budget.mjs").Budget>} */
export async function longList(scene) {
  const id = await scene.agent({ title: "A model", scenario: { turns: [{ steps: [{ say: "Ready." }] }] } })
  const model = await scene.until(`/api/sessions/${id}`, (session) => session.turns === 1)
  const session = (/** @type {number} */ n) => ({
    ...model,
    id: `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
    title: `Long ago ${n}`,
    state: "ended",
    updatedAt: new Date(NEWEST - n * 60_000).toISOString(),
  })
  const page = await scene.coldPage()
  await page.addInitScript(installProbe)
  // The hub's own part is measured by hub-history.bench.mjs.
  await page.route(/\/api\/sessions\?/, async (route) => {
    const query = new URL(route.request().url()).searchParams
    const [from, limit] = [Number(query.get("cursor") ?? 0), Number(query.get("limit") ?? 100)]
    const sessions = Array.from({ length: Math.min(limit, COUNT - from) }, (_, n) => session(from + n))
    await route.fulfill({ json: { sessions, cursor: from + limit < COUNT ? String(from + limit) : null } })
  })
  await page.goto("/sessions")
  await becomes(page, "probe.firstRowsAt > 0")
  await startCounting(page)
  const toEnd = "document.querySelector('[data-region=content]').scrollTo({ top: 1e9, behavior: 'instant' })"
  await becomes(page, `(${toEnd}, document.body.innerText.includes(${JSON.stringify(LAST)}))`, 600_000)
  const { longTasks } = await stopCounting(page)
  const rows = await page.locator("[data-session]").count()
  await page.context().close()
  return {
    title: `a list of ${COUNT.toLocaleString("en")} sessions, scrolled to its end`,
    measures: [
      atMost("longest task", Math.max(0, ...longTasks), "ms", 500),
      atMost("rows in the document, at its end", rows, "", 80),
    ],
  }
}
