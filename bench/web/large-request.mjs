// A request of very many lines: what it costs the page, and whether it can be read and answered meanwhile.
import { atMost, noted } from "./budget.mjs"
import { becomes, installProbe, startCounting, stopCounting } from "./page-probe.mjs"

/** @typedef {import("./scene.mjs").Scene} Scene */
/** @typedef {import("playwright-core").Page} Page */

const LINES = 50_000
const PAGES = 20

/** @param {number} from @param {string} word */
const text = (from, word) => Array.from({ length: LINES }, (_, n) => `${word} ${from + n} = compute(${n})`).join("\n")

const REQUESTS = [
  { tool: "Write", input: { file_path: "/srv/api/large.ts", content: text(1, "const line") } },
  {
    tool: "Edit",
    input: { file_path: "/srv/api/large.ts", old_string: text(1, "let line"), new_string: text(1, "const line") },
  },
]

/** @param {Scene} scene @returns {Promise<import("./budget.mjs").Budget[]>} */
export async function largeRequests(scene) {
  const budgets = []
  for (const request of REQUESTS) budgets.push(await largeRequest(scene, request))
  return budgets
}

/** @param {Scene} scene @param {typeof REQUESTS[number]} request @returns {Promise<import("./budget.mjs").Budget>} */
async function largeRequest(scene, request) {
  const turns = [{ steps: [{ say: "Ready." }] }, { steps: [{ ...request, result: "ok" }] }]
  const id = await scene.agent({ title: `A large ${request.tool}`, scenario: { turns } })
  await scene.until(`/api/sessions/${id}`, (session) => session.turns === 1)
  const page = await scene.coldPage()
  await page.addInitScript(installProbe)
  await page.goto(`/s/${id}`)
  await becomes(page, "probe.firstRowsAt > 0")
  await startCounting(page)
  await scene.say(id, "again")
  const card = page.locator("[data-ask]")
  await card.locator("[data-unread]").waitFor()
  const body = card.getByRole("group", { name: "Request" })
  await body.focus()
  for (let n = 0; n < PAGES; n++) await page.keyboard.press("PageDown")
  const nodes = await nodesOf(page)
  await page.keyboard.press("End")
  const allow = card.getByRole("button", { name: /^Allow once/ })
  await allow.waitFor()
  const nodesAtEnd = await nodesOf(page)
  await card.and(page.locator("[data-armed='true']")).waitFor()
  await page.waitForTimeout(500)
  const pressedAt = performance.now()
  await page.keyboard.press("y")
  await scene.until(`/api/asks?session=${id}`, ({ asks }) => asks[0]?.state === "allowed")
  const answeredMs = performance.now() - pressedAt
  const { longTasks } = await stopCounting(page)
  await page.context().close()
  return {
    title: `a pending ${request.tool} of ${LINES.toLocaleString("en")} lines`,
    measures: [
      atMost("longest task, from its arrival to its answer", Math.max(0, ...longTasks), "ms", 200),
      atMost("elements in the document, while read", nodes, "", 6000),
      atMost("elements in the document, at its end", nodesAtEnd, "", 6000),
      noted("from y to the hub's answer", answeredMs, "ms"),
    ],
  }
}

/** @param {Page} page @returns {Promise<number>} */
function nodesOf(page) {
  return page.evaluate("document.querySelectorAll('*').length")
}
