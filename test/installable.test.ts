import { execFile, spawn } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, normalize } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterEach, describe, expect, it } from "vitest"
import { runsNow } from "./gate.ts"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const runFile = promisify(execFile)

interface Manifest {
  readonly name: string
  readonly version: string
  readonly files?: readonly string[]
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
}

const rooms = readdirSync(join(root, "packages")).filter((room) =>
  existsSync(join(root, "packages", room, "package.json")),
)
const manifests = rooms.map((room) => {
  const manifest: Manifest = JSON.parse(readFileSync(join(root, "packages", room, "package.json"), "utf8"))
  return { room, manifest }
})

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "signalbox-install-"))
  open.push(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }))
  return path
}

describe("the packages", () => {
  it("[CL31] have one version, and ask each other for it", () => {
    const versions = new Set(manifests.map(({ manifest }) => manifest.version))
    expect([...versions]).toHaveLength(1)
    const asked = manifests.flatMap(({ manifest }) =>
      Object.entries(manifest.dependencies ?? {}).filter(([name]) => name.startsWith("@signalbox/")),
    )
    expect(asked.filter(([, version]) => !versions.has(version))).toEqual([])
    expect(asked.length).toBeGreaterThan(10)
  })

  it("[CL31] bring their executables, which can be executed", () => {
    const executables = manifests.flatMap(({ room, manifest }) =>
      Object.entries(manifest.bin ?? {}).map(([name, path]) => ({
        name,
        isPacked: manifest.files?.includes(normalize(path).split("/")[0] ?? "") === true,
        canRun: (statSync(join(root, "packages", room, path)).mode & 0o111) === 0o111,
      })),
    )
    expect(executables.map(({ name }) => name).toSorted()).toEqual(["claude-sim", "signalbox", "signalbox-shim"])
    expect(executables.filter(({ isPacked, canRun }) => !isPacked || !canRun)).toEqual([])
  })
})

if (runsNow("installable", "packed and installed elsewhere")) {
  it("[CL31] packed and installed into an empty folder, they give a working command", {
    timeout: 600_000,
  }, async () => {
    const place = folder()
    await runFile("npm", ["pack", "--workspaces", "--pack-destination", place], { cwd: root })
    const tarballs = readdirSync(place).filter((file) => file.endsWith(".tgz"))
    expect(tarballs).toHaveLength(rooms.length)
    writeFileSync(join(place, "package.json"), '{"private":true}\n')
    const flags = ["--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"]
    await runFile("npm", ["install", ...flags, ...tarballs.map((file) => join(place, file))], { cwd: place })
    const bin = (name: string) => join(place, "node_modules/.bin", name)
    const data = join(place, "data")
    const env = { PATH: process.env["PATH"], HOME: place }
    const signalbox = async (...args: string[]) => {
      const { stdout } = await runFile(bin("signalbox"), [...args, "--data", data], { env, cwd: place })
      return stdout
    }
    const hub = spawn(bin("signalbox"), ["up", "--json", "--port", "0", "--data", data], {
      env,
      cwd: place,
      stdio: ["ignore", "pipe", "inherit"],
    })
    open.push(() => hub.kill("SIGKILL"))
    open.push(() => signalbox("down", "--agents"))
    for await (const line of createInterface({ input: hub.stdout })) {
      expect(JSON.parse(line)).toMatchObject({ event: "ready", data })
      break
    }
    const id = (await signalbox("new", "--agent", "simulator", "--prompt", "hello")).trim()
    const turns = async () => JSON.parse(await signalbox("ls", "--json")).sessions[0]?.turns
    await expect.poll(turns, { timeout: 60_000 }).toBe(1)
    expect(await signalbox("log", id)).toContain("turn: done")
    expect((await runFile(bin("signalbox-shim"), [], { env })).stdout).toMatch(/signalbox-shim\.mjs\n$/)
    expect((await runFile(bin("claude-sim"), ["--version"], { env })).stdout).toContain("Claude Code")
  })
}
