import { execFile, spawn } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { publint } from "publint"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { cacheDirectory, ensureInstalledPackage, npmCommand, npmEnvironment } from "../scripts/package-cache.mjs"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const runFile = promisify(execFile)
const ATTW = "0.18.5"

let place = ""
/** Has `node` and nothing else: no compiler, no git, none of the repository's commands. */
let path = ""
let tarballs: readonly string[] = []

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), "signalbox-install-"))
  path = join(place, "path")
  mkdirSync(path)
  symlinkSync(process.execPath, join(path, "node"))
  mkdirSync(join(place, "tarballs"))
  await npm(root, process.env["PATH"], ["pack", "--workspaces", "--pack-destination", join(place, "tarballs")])
  tarballs = readdirSync(join(place, "tarballs"))
}, 600_000)
afterAll(() => rmSync(place, { recursive: true, force: true, maxRetries: 5 }))

/** npm with the registry and the cache of whoever runs the tests, and otherwise only what is on this PATH. */
async function npm(cwd: string, PATH: string | undefined, args: readonly string[]): Promise<void> {
  const { command, args: script } = await npmCommand()
  const flags = ["--no-audit", "--no-fund", "--prefer-offline"]
  await runFile(command, [...script, ...args, ...flags], {
    cwd,
    env: { ...npmEnvironment(), PATH },
    maxBuffer: 2 ** 26,
  })
}

const tarball = (name: string) => join(place, "tarballs", name)

describe("tarballs", () => {
  it("[CL31] have the code, its licence and a page for npm, and nothing of the build's own", async () => {
    expect(tarballs).toHaveLength(readdirSync(join(root, "packages")).length)
    for (const name of tarballs) {
      const { stdout } = await runFile("tar", ["-tzf", tarball(name)])
      const files = stdout.trim().split("\n")
      const wanted = ["package/LICENSE", "package/README.md", "package/package.json"]
      expect(
        wanted.filter((file) => !files.includes(file)),
        name,
      ).toEqual([])
      expect(files.filter((file) => file.startsWith("package/dist/")).length, name).toBeGreaterThan(5)
      expect(
        files.filter((file) => /\/\.|\/test\/|tsbuildinfo/.test(file)),
        name,
      ).toEqual([])
    }
  })

  it("[CL46] publint and are-the-types-wrong have nothing against them", async () => {
    const attw = await ensureInstalledPackage({
      what: `are-the-types-wrong ${ATTW}`,
      directory: join(cacheDirectory("attw"), ATTW),
      packages: [`@arethetypeswrong/cli@${ATTW}`],
      flags: [],
      locate: (directory) => {
        const script = join(directory, "node_modules", "@arethetypeswrong", "cli", "dist", "index.js")
        return existsSync(script) ? script : undefined
      },
      missing: `are-the-types-wrong ${ATTW} was fetched but is not where npm puts it.`,
      say: (text) => process.stderr.write(`${text}\n`),
    })
    for (const name of tarballs) {
      const bytes = readFileSync(tarball(name))
      const pack = { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) }
      expect((await publint({ pack, strict: true })).messages, name).toEqual([])
      const { stdout } = await runFile(process.execPath, [attw, tarball(name), "--format", "json"], {
        maxBuffer: 2 ** 26,
      })
      const { analysis, problems } = JSON.parse(stdout)
      expect(problems ?? analysis?.problems ?? {}, name).toEqual({})
    }
  }, 300_000)
})

describe("installed with npm i -g into an empty prefix", () => {
  let bin = ""
  beforeAll(async () => {
    mkdirSync(join(place, "home"))
    await npm(join(place, "tarballs"), path, ["install", "--global", "--prefix", join(place, "prefix"), ...tarballs])
    bin = join(place, "prefix", "bin")
  }, 600_000)

  it("[CL31] the command starts a hub with its cockpit, an agent, and stops both", { timeout: 300_000 }, async () => {
    const env = { PATH: `${bin}:${path}`, HOME: join(place, "home") }
    const cwd = join(place, "home")
    const signalbox = async (...args: string[]) => (await runFile(join(bin, "signalbox"), args, { env, cwd })).stdout
    const hub = spawn(join(bin, "signalbox"), ["up", "--json", "--no-open", "--port", "0"], {
      env,
      cwd,
      stdio: ["ignore", "pipe", "inherit"],
    })
    const ended = new Promise((resolve) => hub.once("exit", resolve))
    try {
      const lines = createInterface({ input: hub.stdout })[Symbol.asyncIterator]()
      const { url } = JSON.parse((await lines.next()).value)
      const page = await (await fetch(url)).text()
      const script = /<script[^>]* src="([^"]+)"/.exec(page)?.[1] ?? "none"
      expect((await fetch(new URL(script, url))).headers.get("content-type")).toContain("javascript")
      const id = (await signalbox("new", "--agent", "simulator", "--prompt", "hello")).trim()
      const turns = async () => JSON.parse(await signalbox("ls", "--json")).sessions[0]?.turns
      await expect.poll(turns, { timeout: 60_000 }).toBe(1)
      expect(await signalbox("log", id)).toContain("turn: done")
      await signalbox("down", "--agents")
      expect(await ended).toBe(0)
    } finally {
      hub.kill("SIGKILL")
    }
    expect((await runFile(join(bin, "signalbox-shim"), [], { env })).stdout).toMatch(/signalbox-shim\.mjs\n$/)
    expect((await runFile(join(bin, "claude-sim"), ["--version"], { env })).stdout).toContain("Claude Code")
  })
})

describe("installed into a project", () => {
  let project = ""
  beforeAll(async () => {
    project = join(place, "project")
    mkdirSync(project)
    writeFileSync(join(project, "package.json"), '{"private":true}\n')
    const rooms = ["sdk", "client", "simulator", "transport", "protocol"]
    const files = rooms.map((room) => `../tarballs/${tarballs.find((name) => name.startsWith(`signalbox-${room}-`))}`)
    await npm(project, path, ["install", ...files])
  }, 600_000)

  const body = `
async function main() {
  const options = { pathToClaudeCodeExecutable: claudeSimPath, env: { PATH: process.env.PATH, HOME: process.env.HOME } }
  for await (const message of query({ prompt: "hello", options }))
    if (message.type === "result") console.log(message.subtype, typeof connectHub, new AbortError("x") instanceof Error)
}
main()
`
  const names = ["{ AbortError, query }", "{ connectHub }", "{ claudeSimPath }"]
  const packages = ["@signalbox/sdk", "@signalbox/client", "@signalbox/simulator"]
  const imports = packages.map((name, index) => `import ${names[index]} from "${name}"\n`).join("")
  const requires = packages.map((name, index) => `const ${names[index]} = require("${name}")\n`).join("")

  it.each([
    ["import", "program.mjs", imports],
    ["require", "program.cjs", requires],
  ])("[CL46] SDK, client and simulator work by %s, and say nothing on stderr", async (_, file, head) => {
    writeFileSync(join(project, file), head + body)
    const env = { PATH: path, HOME: project }
    const { stdout, stderr } = await runFile(process.execPath, [file], { cwd: project, env })
    expect(stdout).toBe("success function true\n")
    expect(stderr).toBe("")
  })

  it("[CL46] both ways load one and the same class", async () => {
    const program = `import { AbortError } from "@signalbox/sdk"
import { createRequire } from "node:module"
console.log(createRequire(import.meta.url)("@signalbox/sdk").AbortError === AbortError)\n`
    writeFileSync(join(project, "identity.mjs"), program)
    expect((await runFile(process.execPath, ["identity.mjs"], { cwd: project })).stdout).toBe("true\n")
  })

  it.each(["types.mts", "types.cts"])("[CL46] a program has its types in %s", async (file) => {
    const program = `import { type Options, query } from "@signalbox/sdk"
import { connectHub } from "@signalbox/client"
import { openSimulatedAgent } from "@signalbox/simulator"
import { AssistantMessage } from "@signalbox/protocol/schemas"
const options: Options = { maxTurns: 1 }
export const used = [query({ prompt: "hello", options }), connectHub, openSimulatedAgent, AssistantMessage]
// @ts-expect-error: no such option, which only real types know
export const wrong: Options = { maxTurns: "many" }\n`
    writeFileSync(join(project, file), program)
    const flags = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2023"]
    const tsc = join(root, "node_modules", ".bin", "tsc")
    const types = ["--types", "node", "--typeRoots", join(root, "node_modules", "@types")]
    const result = await runFile(tsc, [...flags, ...types, file], { cwd: project }).catch((error) => error)
    expect(result.stdout).toBe("")
  })
})
