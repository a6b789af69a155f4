/** What F6 goes through, in this order: what waits for you is always first. */
const REGIONS = [
  '[data-region="waiting"]',
  '[data-region="composer"]',
  '[data-region="content"]',
  '[data-region="panels"]',
  "nav",
]

let from: HTMLElement | undefined

export function cycleRegions(): void {
  const regions = REGIONS.flatMap((selector) => [...document.querySelectorAll<HTMLElement>(selector)]).filter(
    (element) => element.checkVisibility(),
  )
  const active = document.activeElement
  const current = regions.findIndex((region) => region.contains(active))
  const next = regions[(current + 1) % regions.length]
  if (next === undefined) return
  if (current === -1 && active instanceof HTMLElement) from = active
  focusInto(next)
}

/** Back to where one was before F6. */
export function leaveRegion(): void {
  if (from?.isConnected === true) from.focus()
  else document.querySelector<HTMLElement>('[data-region="composer"] textarea, #main')?.focus()
}

function focusInto(region: HTMLElement): void {
  const wanted = region.querySelector<HTMLElement>("[data-region-focus]")
  const first = wanted ?? region.querySelector<HTMLElement>("textarea, a[href], button, input, select, [tabindex='0']")
  const target = first ?? region
  if (target === region && !region.hasAttribute("tabindex")) region.tabIndex = -1
  target.focus()
}
