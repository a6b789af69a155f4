import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { Page } from "playwright-core"

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

const MENU = '[role="menu"]:popover-open'

/**
 * What breaks the accessibility rules. What an open menu covers for the moment is no target: beside one, sizes are those of the
 * menu alone. Evaluated, not added as an element: the page's policy would refuse that.
 */
export async function axe(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE)
  if ((await page.locator(MENU).count()) === 0) return run(page, "document", { runOnly: TAGS })
  const beside = await run(page, "document", { runOnly: TAGS, rules: { "target-size": { enabled: false } } })
  return [...beside, ...(await run(page, `document.querySelector('${MENU}')`, { runOnly: TAGS }))]
}

function run(page: Page, root: string, options: object): Promise<readonly string[]> {
  const told = `({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 200)).join(" | "))`
  return page.evaluate<readonly string[]>(`axe.run(${root}, ${JSON.stringify(options)}).then(${told})`)
}
