// @ts-check
// The CommonJS side of each entry point: one file that requires the ES module beside it, and its types. Node can do that
// since 20.19, so the code exists once and `instanceof` holds however a class was loaded.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"

const TYPES = `// @ts-ignore TypeScript before 5.8 takes a require of an ES module for an error.
export * from `

/** @typedef {{ exports?: Record<string, string | { require?: string, default: string }> }} Manifest */

/** Writes what every package ships besides the compiler's output. @param {string} root */
export function completePackages(root) {
  const licence = readFileSync(join(root, "LICENSE"), "utf8")
  for (const room of readdirSync(join(root, "packages"))) {
    const folder = join(root, "packages", room)
    if (!existsSync(join(folder, "package.json"))) continue
    writeChanged(join(folder, "LICENSE"), licence)
    /** @type {Manifest} */
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
    for (const target of Object.values(manifest.exports ?? {})) {
      if (typeof target === "string" || target.require === undefined) continue
      const module = JSON.stringify(`./${basename(target.default)}`)
      writeChanged(join(folder, target.require), `module.exports = require(${module})\n`)
      writeChanged(join(folder, target.require.replace(/\.cjs$/, ".d.cts")), `${TYPES}${module}\n`)
    }
  }
}

/** @param {string} file @param {string} text */
function writeChanged(file, text) {
  if (!existsSync(file) || readFileSync(file, "utf8") !== text) writeFileSync(file, text)
}
