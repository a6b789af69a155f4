import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

/** Where the built cockpit is; undefined when there is none, and the hub then shows a plain page. */
export function cockpitDirectory(): string | undefined {
  try {
    // Not imported: it is files for a browser, found by the one name that its package exports.
    const manifest = createRequire(import.meta.url).resolve("@signalbox/web/package.json")
    const built = join(dirname(manifest), "dist")
    return existsSync(join(built, "index.html")) ? built : undefined
  } catch {
    return undefined
  }
}
