const FIRST = '[data-region="waiting"]'
/** The regions that F6 goes through, in this order: what waits for you is always first. */
const REGIONS = [FIRST, '[data-region="composer"]', '[data-region="content"]', '[data-region="panels"]', "nav"]

let from: HTMLElement | undefined
/** Where F6 led last: as long as the focus is in there, the next F6 goes on from it. */
let entered: HTMLElement | undefined

/** Starts with what waits for you, wherever one is, and goes on from region to region. Under a dialog none can be reached. */
export function cycleRegions(): void {
  const within = [...document.querySelectorAll("dialog:modal")].at(-1) ?? document
  const regions = REGIONS.flatMap((selector) => [...within.querySelectorAll<HTMLElement>(selector)]).filter((element) =>
    element.checkVisibility(),
  )
  const active = document.activeElement
  const isUnderWay = entered?.contains(active) === true && regions.includes(entered)
  const current = isUnderWay && entered !== undefined ? regions.indexOf(entered) : -1
  const isInFirst = !isUnderWay && regions[0]?.contains(active) === true
  const next = regions[(isInFirst ? 1 : current + 1) % regions.length]
  if (next === undefined) return
  if (!isUnderWay && active instanceof HTMLElement) from = active
  entered = next
  focusInto(next)
}

/** Back to where one was before F6, else to what one writes in. */
export function leaveRegion(): void {
  const composer = document.querySelector<HTMLElement>('[data-region="composer"] textarea')
  goBackOr(composer ?? document.getElementById("main"))
}

/** The focused element is gone, and nothing came in its place. A field would bring up a phone's keyboard: it is not chosen for anybody. */
export function mendLostFocus(): void {
  const isLost = document.activeElement === document.body || document.activeElement === null
  if (isLost) goBackOr(document.getElementById("main"))
}

function goBackOr(other: HTMLElement | null): void {
  const isElsewhere = from?.isConnected === true && from !== document.body && from.closest(FIRST) === null
  const back = isElsewhere ? from : other
  entered = undefined
  from = undefined
  back?.focus()
}

function focusInto(region: HTMLElement): void {
  const wanted = region.querySelector<HTMLElement>("[data-region-focus]")
  const first = wanted ?? region.querySelector<HTMLElement>("textarea, a[href], button, input, select, [tabindex='0']")
  const target = first ?? region
  if (target === region && !region.hasAttribute("tabindex")) region.tabIndex = -1
  target.focus()
}
