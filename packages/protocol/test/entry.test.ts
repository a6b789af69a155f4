import { execFile } from "node:child_process"
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"

const room = dirname(dirname(fileURLToPath(import.meta.url)))

/** The built entry in a folder from which nothing else can be resolved. */
async function importAlone(leaveOut: RegExp, code: string, file = "index.js"): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-entry-"))
  try {
    await cp(join(room, "dist"), join(folder, "dist"), { recursive: true, filter: (source) => !leaveOut.test(source) })
    await writeFile(join(folder, "package.json"), '{"type":"module"}')
    const script = `const entry = await import(${JSON.stringify(join(folder, "dist", file))}); ${code}`
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script])
    return stdout
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

describe("the main entry, as built", () => {
  it("[M10] loads and decodes without zod and without the schemas", async () => {
    const code = 'console.log(entry.decode(\'{"type":"keep_alive"}\').kind)'
    expect(await importAlone(/[\\/]dist[\\/]schemas/, code)).toBe("known\n")
  })

  it("[M10] so does the hub's contract", async () => {
    const code = 'console.log(entry.readStreamLine(\'{"ev":"pong"}\').ev)'
    expect(await importAlone(/[\\/]dist[\\/]schemas/, code, "hub-api/index.js")).toBe("pong\n")
  })

  it("[M10] names what it exports, so that nothing becomes public by accident", async () => {
    const names = JSON.parse(
      await importAlone(/[\\/]dist[\\/]schemas/, "console.log(JSON.stringify(Object.keys(entry)))"),
    )
    expect(names).toMatchSnapshot()
  })
})
