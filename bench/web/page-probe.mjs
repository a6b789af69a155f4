// What runs inside of the page, before anything of the cockpit does.
/// <reference lib="dom" />

/** @typedef {import("playwright-core").Page} Page */
/**
 * @typedef {{ gaps: number[], longTasks: number[], commits: number, shift: number, interactions: number[], firstRowsAt: number,
 *   askedAt: number[], isCounting: boolean }} Probe
 */

/** Installed with `addInitScript`: it must stand alone. */
export function installProbe() {
  /** @type {Probe} */
  const probe = {
    gaps: [],
    longTasks: [],
    commits: 0,
    shift: 0,
    interactions: [],
    firstRowsAt: 0,
    askedAt: [],
    isCounting: false,
  }
  Object.assign(globalThis, { probe })
  let last = 0
  const frame = (/** @type {number} */ now) => {
    if (probe.isCounting && last > 0) probe.gaps.push(now - last)
    last = probe.isCounting ? now : 0
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)

  const observe = (
    /** @type {string} */ type,
    /** @type {(entry: any) => void} */ take,
    /** @type {object} */ more = {},
  ) => {
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (probe.isCounting) take(entry)
    })
    observer.observe({ type, buffered: false, ...more })
  }
  observe("longtask", ({ duration }) => probe.longTasks.push(duration))
  observe("layout-shift", ({ value, hadRecentInput }) => {
    if (!hadRecentInput) probe.shift += value
  })
  observe(
    "event",
    ({ interactionId, duration }) => {
      if (interactionId > 0) probe.interactions.push(duration)
    },
    { durationThreshold: 16 },
  )

  let wasWaiting = false
  const look = () => {
    const isWaiting = document.querySelector('[data-region="waiting"]') !== null
    if (isWaiting && !wasWaiting) requestAnimationFrame(() => probe.askedAt.push(Date.now()))
    wasWaiting = isWaiting
    if (probe.firstRowsAt !== 0) return
    const row = document.querySelector(location.pathname.startsWith("/s/") ? '[role="feed"] article' : "[data-session]")
    if (row === null || row.getBoundingClientRect().height === 0) return
    probe.firstRowsAt = -1
    requestAnimationFrame(() => {
      probe.firstRowsAt = performance.now()
    })
  }
  new MutationObserver((records) => {
    look()
    // One call for all that one commit of the page changed in what is read.
    const isRead = records.some(
      ({ target }) => (target.parentElement ?? document.body).closest('[role="feed"]') !== null,
    )
    if (probe.isCounting && isRead) probe.commits += 1
  }).observe(document, { subtree: true, childList: true, characterData: true })
}

/** @param {Page} page */
export function startCounting(page) {
  return page.evaluate(
    "void Object.assign(probe, { gaps: [], longTasks: [], commits: 0, shift: 0, interactions: [], isCounting: true })",
  )
}

/** @param {Page} page @returns {Promise<Probe>} */
export function stopCounting(page) {
  return page.evaluate("Object.assign(probe, { isCounting: false })")
}

/** @param {Page} page @returns {Promise<Probe>} */
export function readProbe(page) {
  return page.evaluate("probe")
}

/**
 * Asked again and again from outside: the page's own policy lets nothing be evaluated later.
 * @param {Page} page @param {string} condition @param {number} [patienceMs]
 */
export async function becomes(page, condition, patienceMs = 120_000) {
  const end = performance.now() + patienceMs
  while (!(await page.evaluate(`Boolean(${condition})`))) {
    if (performance.now() > end) throw new Error(`the page did not become so: ${condition}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Addresses that were asked for before the first rows were there. @param {Page} page @returns {Promise<string[]>} */
export function askedBefore(page) {
  return page.evaluate(
    "performance.getEntriesByType('resource').filter(({ startTime }) => startTime < probe.firstRowsAt).map(({ name }) => name)",
  )
}
