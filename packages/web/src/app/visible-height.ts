/**
 * Where a phone's keyboard covers the page instead of making it smaller, the shell is made as high as what is left. Only while
 * something is being typed, and not while the reader has zoomed in: then the visible part is smaller for another reason.
 */
export function fitToKeyboard(): void {
  const viewport = globalThis.visualViewport
  if (viewport === null || viewport === undefined) return
  const { style, dataset } = document.documentElement
  const fit = () => {
    const isTyping = isEditable(document.activeElement)
    const isCovered = isTyping && Math.abs(viewport.scale - 1) < 0.01 && viewport.height < innerHeight - 1
    if (isCovered) style.setProperty("--vvh", `${viewport.height}px`)
    else style.removeProperty("--vvh")
    const isLow = isTyping && viewport.height < 560 && matchMedia("(max-width: 639px)").matches
    if (isLow) dataset["typing"] = ""
    else delete dataset["typing"]
  }
  viewport.addEventListener("resize", fit)
  document.addEventListener("focusin", fit)
  document.addEventListener("focusout", fit)
}

export function isEditable(element: EventTarget | null): boolean {
  if (!(element instanceof HTMLElement)) return false
  if (element instanceof HTMLInputElement) return !["checkbox", "radio", "button", "range"].includes(element.type)
  return element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement || element.isContentEditable
}
