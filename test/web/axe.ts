import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { Page } from "playwright-core"

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

/**
 * What breaks the accessibility rules. Of an open menu alone: what it covers for the moment is no target, and the same
 * screen is looked at without it. Evaluated, not added as an element: the page's policy would refuse that. */
export async function axe(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE)
  const run = `axe.run(document.querySelector("[role=menu]:popover-open") ?? document, { runOnly: ${JSON.stringify(TAGS)} }).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 200)).join(" | ")))`
  return page.evaluate<readonly string[]>(run)
}
