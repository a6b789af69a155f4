// A list of very many sessions, of a real hub: what scrolling to its end costs the page [S-155].
import { rmSync } from "node:fs"
import { history } from "../hub-history.bench.mjs"
import { startHub } from "../hub-process.mjs"
import { atMost } from "./budget.mjs"
import { becomes, installProbe, startCounting, stopCounting } from "./page-probe.mjs"

/** @typedef {import("./scene.mjs").Scene} Scene */

const COUNT = 20_000
const SCROLLER = "document.querySelector('[data-region=content]')"
const TO_END = `${SCROLLER}.scrollTo({ top: 1e9, behavior: 'instant' })`
/** The first that there was. */
const LAST =
  "[...document.querySelectorAll('[data-session] bdi')].some(({ textContent }) => textContent === 'Session 0')"

/** @param {Scene} scene @returns {Promise<import("./budget.mjs").Budget>} */
export async function longList(scene) {
  const data = await history(COUNT)
  const hub = await startHub(data)
  const page = await scene.coldPage(hub)
  await page.addInitScript(installProbe)
  await page.goto("/sessions")
  await becomes(page, "probe.firstRowsAt > 0")
  // Rows are held under a pointer, which takes more than a list that nobody points at.
  await page.mouse.move(700, 450)
  await startCounting(page)
  await becomes(page, `(${TO_END}, ${LAST})`, 600_000)
  const { longTasks } = await stopCounting(page)
  const rows = await page.locator("[data-session]").count()
  await page.context().close()
  await hub.stop()
  rmSync(data, { recursive: true })
  return {
    title: `a list of ${COUNT.toLocaleString("en")} sessions, scrolled to its end`,
    measures: [
      atMost("longest task", Math.max(0, ...longTasks), "ms", 200),
      atMost("rows in the document, at its end", rows, "", 80),
    ],
  }
}
