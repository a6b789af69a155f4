import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const entry = new URL("../dist/index.js", import.meta.url).href

/** Told by the loader itself which files an import loads. */
const HOOKS = `data:text/javascript,${encodeURIComponent(`
  export async function load(url, context, next) {
    process._rawDebug(url)
    return next(url, context)
  }
`)}`

describe("the main entry", () => {
  it("[Q60] loads neither zod, nor the MCP SDK, nor ws, nor what reads sessions or runs a query", async () => {
    await promisify(execFile)("npx", ["tsc", "-b", "packages/sdk"], { cwd: root })
    const program = `import { register } from "node:module"; register(${JSON.stringify(HOOKS)}); await import(${JSON.stringify(entry)})`
    const { stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
      cwd: root,
    })
    const loaded = stderr.split("\n").filter((url) => url.startsWith("file:"))
    expect(loaded.some((url) => url.endsWith("sdk/dist/index.js"))).toBe(true)
    expect(loaded.filter((url) => url.includes("/node_modules/"))).toEqual([])
    expect(loaded.filter((url) => /\/(?:query-engine|sessions\/index)\.js$/.test(url))).toEqual([])
  })
})
