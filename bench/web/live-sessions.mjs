// What happens now: words that stream in, keys and clicks meanwhile, questions that arrive.
import { atMost, median, noted, quantile } from "./budget.mjs"
import { memoryOf } from "./long-session.mjs"
import { becomes, installProbe, readProbe, startCounting, stopCounting } from "./page-probe.mjs"

/** @typedef {import("./scene.mjs").Scene} Scene */

const OTHERS = 7
const DELTAS_PER_SECOND = 200
const STREAM_MS = 10_000
const ASKS = 5
const SOAK_MINUTES = 30
const args = ["--include-partial-messages"]

/** @param {number} seconds @param {number} perSecond */
const talks = (seconds, perSecond) => ({
  turns: [
    {
      repeat: true,
      steps: [
        {
          say: {
            repeat: "More **words** come, and `code` with them.\n\n",
            times: Math.ceil((seconds * perSecond) / 8),
          },
          deltas: seconds * perSecond,
          pauseMs: 1000 / perSecond,
        },
      ],
    },
  ],
})

/** Rounds of about five seconds: words that stream in, then tools. @param {number} minutes */
const works = (minutes) => ({
  turns: [
    {
      steps: [
        {
          loop: minutes * 12,
          as: "n",
          steps: [
            {
              say: { repeat: "Round {{n}}: more **words** come, and `code` with them.\n\n", times: 12 },
              deltas: 100,
              pauseMs: 50,
            },
            { tool: "Read", input: { file_path: "/x/part-{{n}}.ts" }, result: "export const a = {{n}}" },
            { tool: "Bash", input: { command: "npm test -- part-{{n}}" }, result: "12 passed\n1 failed\n" },
          ],
        },
      ],
    },
  ],
})

/** @param {Scene} scene @param {string} id */
async function watch(scene, id) {
  const page = await scene.coldPage()
  await page.addInitScript(installProbe)
  await page.goto(`/s/${id}`)
  await becomes(page, "probe.firstRowsAt > 0")
  return page
}

/** Eight sessions talk; one of them is watched. @param {Scene} scene @returns {Promise<import("./budget.mjs").Budget[]>} */
export async function streaming(scene) {
  for (let n = 0; n < OTHERS; n++) await scene.agent({ title: `Other ${n}`, scenario: talks(120, 20), args })
  const id = await scene.agent({ title: "Watched", scenario: talks(60, DELTAS_PER_SECOND), args })
  const page = await watch(scene, id)
  const feed = page.getByRole("feed", { name: "Transcript" })
  await feed.getByText("More words come").first().waitFor()
  await startCounting(page)
  await page.waitForTimeout(STREAM_MS)
  const stream = await stopCounting(page)
  const interaction = await interactions(page)
  await page.context().close()
  return [
    {
      title: `${DELTAS_PER_SECOND} deltas a second, eight live sessions`,
      measures: [
        atMost("from frame to frame, 95 of 100", quantile(stream.gaps, 0.95), "ms", 34),
        atMost("commits of the page", stream.commits / (STREAM_MS / 1000), "/s", 30),
        noted("tasks over 100 ms", stream.longTasks.filter((ms) => ms > 100).length, ""),
      ],
    },
    interaction,
  ]
}

/** @param {import("playwright-core").Page} page @returns {Promise<import("./budget.mjs").Budget>} */
async function interactions(page) {
  await startCounting(page)
  await page.getByRole("textbox", { name: "Message" }).click()
  await page.keyboard.type("Please look at the tests too, and tell me what you find.", { delay: 30 })
  for (let n = 0; n < 5; n++) {
    await page.getByRole("button", { name: "Panels", exact: true }).click()
    for (const tab of await page.getByRole("tab").all()) await tab.click()
    await page.getByRole("button", { name: "Panels", exact: true }).click()
  }
  // Entries come with the next frame that is drawn.
  await page.waitForTimeout(500)
  const { interactions: took } = await stopCounting(page)
  return {
    title: "from a key or a click to the next frame, during that stream (INP)",
    measures: [
      atMost("slowest", Math.max(0, ...took), "ms", 200),
      noted("median of those over 16 ms", took.length === 0 ? 0 : median(took), "ms"),
      noted("interactions over 16 ms", took.length, ""),
    ],
  }
}

/** A whole turn, from what was asked to its end. @param {Scene} scene @returns {Promise<import("./budget.mjs").Budget>} */
export async function layoutShift(scene) {
  const id = await scene.agent({ title: "Shifts", scenario: talks(8, 50), args })
  await scene.until(`/api/sessions/${id}`, ({ turns }) => turns === 1)
  const page = await watch(scene, id)
  await startCounting(page)
  await scene.say(id, "again")
  await scene.until(`/api/sessions/${id}`, ({ turns }) => turns === 2)
  await page.getByText("Idle", { exact: true }).first().waitFor()
  const { shift } = await stopCounting(page)
  await page.context().close()
  return { title: "layout shift in a streamed turn (CLS)", measures: [atMost("shift", shift, "", 0.02)] }
}

/** From the hub's own time of an ask to the frame that shows it. @param {Scene} scene @returns {Promise<import("./budget.mjs").Budget>} */
export async function askLatency(scene) {
  const steps = [{ tool: "Bash", input: { command: "npm test" }, result: "ok" }]
  const id = await scene.agent({ title: "Asks", scenario: { turns: [{ repeat: true, steps }] } })
  const asks = `/api/asks?session=${id}&state=pending`
  await scene.until(asks, (body) => body.asks.length === 1)
  const page = await watch(scene, id)
  const took = []
  for (let n = 0; n <= ASKS; n++) {
    const { asks: open } = await scene.until(asks, (body) => body.asks.length === 1)
    await becomes(page, `probe.askedAt.length > ${n}`)
    const { askedAt } = await readProbe(page)
    // The first one was there before the page was.
    if (n > 0) took.push((askedAt[n] ?? Number.NaN) - Date.parse(open[0].askedAt))
    await scene.answer(open[0].id)
    await becomes(page, `document.querySelector('[data-region="waiting"]') === null`)
    await scene.until(`/api/sessions/${id}`, ({ turns }) => turns === n + 1)
    await scene.say(id, "again")
  }
  await page.context().close()
  return {
    title: `from the hub to the screen: an ask, ${ASKS} times`,
    measures: [atMost("slowest", Math.max(...took), "ms", 500), noted("median", median(took), "ms")],
  }
}

/** Half an hour of work: what stays behind of each minute. @param {Scene} scene @returns {Promise<import("./budget.mjs").Budget>} */
export async function soak(scene) {
  const id = await scene.agent({
    title: "Soak",
    scenario: works(SOAK_MINUTES + 5),
    args: [...args, "--allowedTools", "Read,Bash"],
  })
  const page = await watch(scene, id)
  const heaps = []
  for (let minute = 0; minute <= SOAK_MINUTES; minute++) {
    heaps.push((await memoryOf(scene, page)).heapMb)
    await page.waitForTimeout(60_000)
  }
  const { lastSeq } = await scene.until(`/api/sessions/${id}`, () => true)
  await page.context().close()
  return {
    title: `${SOAK_MINUTES} minutes of a session that works`,
    measures: [
      atMost("growth of the JavaScript heap", slope(heaps), "MB/min", 1),
      noted("heap at the beginning", heaps[0] ?? Number.NaN, "MB"),
      noted("heap at the end", heaps.at(-1) ?? Number.NaN, "MB"),
      noted("events by then", lastSeq, ""),
    ],
  }
}

/** Slope of the line that fits best. @param {readonly number[]} values */
function slope(values) {
  const middle = (values.length - 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const over = values.reduce((sum, value, at) => sum + (at - middle) * (value - mean), 0)
  return over / values.reduce((sum, _, at) => sum + (at - middle) ** 2, 0)
}
