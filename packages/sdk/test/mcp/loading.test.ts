import { execFile } from "node:child_process"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"

const here = dirname(fileURLToPath(import.meta.url))
const dist = join(here, "..", "..", "dist")

/** Loader hooks by which every module that is imported is named on standard error. */
const HOOKS = `import { writeSync } from "node:fs"
export async function load(url, context, nextLoad) {
  writeSync(2, "loaded " + url.slice(0, 500) + "\\n")
  return nextLoad(url, context)
}`

const script = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`

/** The modules that a program loads, imported and required ones. */
async function modulesOf(program: string): Promise<string[]> {
  const required = 'import { createRequire } from "node:module"; const { cache } = createRequire(import.meta.url)'
  const report = 'for (const path of Object.keys(cache)) console.error("loaded " + path)'
  const register = script(`import { register } from "node:module"; register(${JSON.stringify(script(HOOKS))})`)
  const words = ["--import", register, "--input-type=module", "-e", `${required}\n${program}\n${report}`]
  const { stderr } = await promisify(execFile)(process.execPath, words, { cwd: here, maxBuffer: 16 * 1024 * 1024 })
  return stderr.split("\n").flatMap((line) => /^loaded (.*)$/.exec(line)?.[1] ?? [])
}

const heavy = (modules: readonly string[]) =>
  modules.filter((path) => /node_modules\/(zod|@modelcontextprotocol)\//.test(path))

describe("what a program loads", () => {
  it("[K9] the import of the package loads neither zod nor the protocol's library", async () => {
    const modules = await modulesOf(`await import(${JSON.stringify(pathToFileURL(join(dist, "index.js")).href)})`)
    expect(modules.some((path) => path.endsWith("dist/index.js"))).toBe(true)
    expect(heavy(modules)).toEqual([])
  })

  it("[K9] making a tool loads neither, making a server loads both", async () => {
    const entry = JSON.stringify(pathToFileURL(join(dist, "index.js")).href)
    const toolOnly = `const { tool } = await import(${entry}); tool("t", "d", {}, async () => ({ content: [] }))`
    expect(heavy(await modulesOf(toolOnly))).toEqual([])
    const server = `const { createSdkMcpServer } = await import(${entry}); createSdkMcpServer({ name: "s" })`
    expect(heavy(await modulesOf(server)).length).toBeGreaterThan(0)
  })
})
