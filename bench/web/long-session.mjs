// A session of 100,000 events: to its first rows, through it by wheel, and what a tour of it leaves in memory.
import { readFileSync } from "node:fs"
import { atLeast, atMost, median, noted, quantile } from "./budget.mjs"
import { askedBefore, becomes, installProbe, readProbe, startCounting, stopCounting } from "./page-probe.mjs"

/** @typedef {import("./scene.mjs").Scene} Scene */
/** @typedef {import("playwright-core").Page} Page */

const EVENTS = 100_000
const TURNS = 13
const OPENINGS = 5
const SCROLL_MS = 10_000
const STOPS = 100
const MB = 1024 * 1024

/** Words, thoughts, commands with long and short output, files read and written: some eight events in each round. */
const SCENARIO = {
  turns: [
    {
      repeat: true,
      steps: [
        {
          loop: 1000,
          as: "n",
          vary: {
            area: ["http", "jobs", "store", "events", "import", "export", "admin"],
            words: [
              "A short remark.",
              "## Part {{n}}\n\nSome **bold** words, and `code`.\n\n- one\n- two\n- three",
              "```ts\nexport const part = {{n}}\n```\n\nThat is all of it.",
              "| Part | Files |\n|---|---|\n| {{n}} | 12 |",
            ],
            output: [
              "ok",
              "12 passed\n1 failed\n\n  expected 3, got 4\n    at add.test.ts:7\n    at run.ts:12\n",
              "one\ntwo\nthree\nfour\nfive",
            ],
          },
          steps: [
            { think: "What does {{area}}-{{n}} do?" },
            { say: "{{words}}" },
            { tool: "Read", input: { file_path: "/x/{{area}}-{{n}}.ts" }, result: "export const a = {{n}}" },
            { tool: "Bash", input: { command: "npm test -- {{area}}-{{n}}" }, result: "{{output}}" },
            {
              tool: "Write",
              input: { file_path: "/x/{{area}}-{{n}}.ts", content: "export const a = {{n}}\nexport const b = 2\n" },
              result: "written",
            },
          ],
        },
        { say: "The very end." },
      ],
    },
  ],
}

/** @param {Scene} scene */
export async function makeLongSession(scene) {
  const args = ["--speed", "max", "--allowedTools", "Read,Bash,Write"]
  const id = await scene.agent({ title: "A long audit", scenario: SCENARIO, args })
  // Turn by turn: an agent that has so much to say at once does not answer its hub meanwhile.
  for (let turn = 1; turn < TURNS; turn++) {
    await scene.until(`/api/sessions/${id}`, ({ turns }) => turns === turn)
    await scene.say(id, "Go on")
  }
  const { lastSeq } = await scene.until(`/api/sessions/${id}`, ({ turns }) => turns === TURNS)
  if (lastSeq < EVENTS) throw new Error(`the long session has only ${lastSeq} events`)
  return { id, lastSeq: Number(lastSeq) }
}

/** @param {Scene} scene @param {string} id @param {{ slower?: number }} [options] */
async function opening(scene, id, { slower = 1 } = {}) {
  const page = await scene.coldPage()
  await page.addInitScript(installProbe)
  if (slower > 1) {
    const cdp = await page.context().newCDPSession(page)
    await cdp.send("Emulation.setCPUThrottlingRate", { rate: slower })
  }
  await page.goto(`/s/${id}`)
  await becomes(page, "probe.firstRowsAt > 0")
  const requests = (await askedBefore(page)).filter((url) => url.includes(`/api/sessions/${id}/events`)).length
  const { firstRowsAt } = await readProbe(page)
  return { page, firstRowsAt, requests }
}

/** @param {Scene} scene @param {string} id @returns {Promise<import("./budget.mjs").Budget>} */
export async function firstRows(scene, id) {
  const times = []
  let requests = 0
  for (let round = 0; round < OPENINGS; round++) {
    const opened = await opening(scene, id)
    times.push(opened.firstRowsAt)
    requests = Math.max(requests, opened.requests)
    await opened.page.context().close()
  }
  const slow = await opening(scene, id, { slower: 4 })
  await slow.page.context().close()
  return {
    title: `a session of ${EVENTS.toLocaleString("en")} events, cold: first rows, median of ${OPENINGS}`,
    measures: [
      atMost("first rows after", median(times), "ms", 1000),
      noted("slowest", Math.max(...times), "ms"),
      atMost("pages of events asked for by then", requests, "", 2),
      noted("first rows on a CPU four times slower", slow.firstRowsAt, "ms"),
    ],
  }
}

/** Frames that reached the screen, from the browser's own trace. @param {Buffer} trace */
function presented(trace) {
  /** @type {{ traceEvents: { name: string, ts: number }[] }} */
  const { traceEvents } = JSON.parse(trace.toString())
  return traceEvents.filter(({ name }) => name === "DrawFrame").length
}

/** @param {Scene} scene @param {string} id @returns {Promise<import("./budget.mjs").Budget>} */
export async function scrolling(scene, id) {
  const { page } = await opening(scene, id)
  const feed = page.getByRole("feed", { name: "Transcript" })
  await feed.hover()
  // The first motion makes the browser load what scrolling needs: it does not count.
  for (let n = 0; n < 20; n++) await page.mouse.wheel(0, -240)
  await scene.browser.startTracing(page, { categories: ["devtools.timeline.frame"] })
  await startCounting(page)
  const start = performance.now()
  let wheels = 0
  while (performance.now() - start < SCROLL_MS) {
    await page.mouse.wheel(0, -240)
    wheels += 1
  }
  const { gaps, longTasks } = await stopCounting(page)
  const seconds = (performance.now() - start) / 1000
  const drawn = presented(await scene.browser.stopTracing())
  await page.context().close()
  const total = gaps.reduce((sum, gap) => sum + gap, 0)
  return {
    title: `scrolling through it for ${SCROLL_MS / 1000} s`,
    measures: [
      atLeast("frames the page could draw", (gaps.length * 1000) / total, "/s", 55),
      noted("frames presented", drawn / seconds, "/s"),
      atMost("from frame to frame, 95 of 100", quantile(gaps, 0.95), "ms", 20),
      atMost("tasks over 100 ms", longTasks.filter((ms) => ms > 100).length, "", 0),
      noted("turns of the wheel", wheels / seconds, "/s"),
    ],
  }
}

/** @param {Page} page @param {string} id @param {number} seq */
async function goTo(page, id, seq) {
  await page.evaluate(
    `history.pushState(null, "", "/s/${id}?seq=${seq}"); dispatchEvent(new PopStateEvent("popstate"))`,
  )
  // Some events have no row of their own: the nearest one is gone to.
  await becomes(
    page,
    `(() => { const at = Number(document.activeElement?.closest("article")?.dataset.seq ?? 0); return Math.abs(at - ${seq}) < 400 })()`,
  )
}

/** @param {Scene} scene @param {Page} page @returns {Promise<{ heapMb: number, pssMb: number }>} */
export async function memoryOf(scene, page) {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send("HeapProfiler.collectGarbage")
  const { usedSize } = await cdp.send("Runtime.getHeapUsage")
  const system = await scene.browser.newBrowserCDPSession()
  const { processInfo } = await system.send("SystemInfo.getProcessInfo")
  // The page's own is the largest: others are spare.
  const sizes = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => pssKb(id))
  return { heapMb: usedSize / MB, pssMb: Math.max(...sizes) / 1024 }
}

/** @param {number} pid */
function pssKb(pid) {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? Number.NaN)
  } catch {
    return 0
  }
}

/** @param {Scene} scene @param {{ id: string, lastSeq: number }} session @returns {Promise<import("./budget.mjs").Budget>} */
export async function memory(scene, { id, lastSeq }) {
  const { page } = await opening(scene, id)
  const before = await memoryOf(scene, page)
  for (let stop = 0; stop <= STOPS; stop++) {
    await goTo(page, id, Math.max(1, Math.floor((lastSeq * stop) / STOPS)))
    await page.getByRole("feed", { name: "Transcript" }).hover()
    await page.mouse.wheel(0, 600)
  }
  await page.keyboard.press("End")
  await page.getByRole("feed", { name: "Transcript" }).getByText("The very end.").waitFor()
  const after = await memoryOf(scene, page)
  await page.context().close()
  return {
    title: `memory after a tour of it, from its beginning to its end with ${STOPS} stops`,
    measures: [
      atMost("JavaScript heap", after.heapMb, "MB", 120),
      noted("… when it was opened", before.heapMb, "MB"),
      atMost("renderer, its share of memory (PSS)", after.pssMb, "MB", 300),
      noted("… when it was opened", before.pssMb, "MB"),
    ],
  }
}
