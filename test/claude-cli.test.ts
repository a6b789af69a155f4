import { execFile } from "node:child_process"
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"

// The installer against a registry of our own: packages of a few bytes, and no network.

const run = promisify(execFile)
const SCRIPT = fileURLToPath(new URL("../scripts/claude-cli.mjs", import.meta.url))
const MAIN = "@anthropic-ai/claude-code"
const musl = !JSON.stringify(process.report.getReport()).includes("glibcVersionRuntime")
const NATIVE = `${MAIN}-${process.platform}-${process.arch}${musl ? "-musl" : ""}`

type Manifest = { name: string; version: string; optionalDependencies?: Record<string, string> }

const tarballs = new Map<string, Buffer>()
const manifests: Manifest[] = []
let downloads = 0
let root = ""
let registry = ""

const server = createServer((request, response) => {
  const path = decodeURIComponent(request.url ?? "").slice(1)
  const tarball = tarballs.get(path)
  if (tarball !== undefined) {
    downloads++
    response.end(tarball)
    return
  }
  const versions = manifests.filter((manifest) => manifest.name === path)
  if (versions.length === 0) {
    response.writeHead(404).end("{}")
    return
  }
  const dist = ({ name, version }: Manifest) => ({ tarball: `${registry}/${name}-${version}.tgz` })
  const entries = versions.map((manifest) => [manifest.version, { ...manifest, dist: dist(manifest) }])
  const latest = versions.at(-1)?.version
  response.setHeader("content-type", "application/json")
  response.end(JSON.stringify({ name: path, "dist-tags": { latest }, versions: Object.fromEntries(entries) }))
})

async function publish(manifest: Manifest, file: string): Promise<void> {
  const directory = await mkdtemp(join(root, "pack-"))
  await mkdir(join(directory, "package"))
  await writeFile(join(directory, "package", "package.json"), JSON.stringify(manifest))
  await writeFile(join(directory, "package", file), "a program\n")
  await run("tar", ["-czf", join(directory, "package.tgz"), "-C", directory, "package"])
  tarballs.set(`${manifest.name}-${manifest.version}.tgz`, await readFile(join(directory, "package.tgz")))
  manifests.push(manifest)
}

/** Runs the script with a cache of its own. */
async function install(
  version: string,
  cache: string,
  registryUrl = registry,
): Promise<{ stdout: string; stderr: string }> {
  const env = {
    PATH: process.env["PATH"],
    HOME: root,
    XDG_CACHE_HOME: join(root, cache),
    npm_config_registry: registryUrl,
    npm_config_cache: join(root, "npm-cache"),
    npm_config_fetch_retries: "0",
    // What an outer `npm test --workspace …` would pass on.
    npm_config_workspace: "packages/nowhere",
    npm_config_omit: "optional",
  }
  return run(process.execPath, [SCRIPT, version], { env })
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "signalbox-registry-"))
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve)
  })
  const address = server.address()
  registry = typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : ""
  await publish({ name: MAIN, version: "0.0.1" }, "cli.js")
  await publish({ name: MAIN, version: "0.0.2", optionalDependencies: { [NATIVE]: "0.0.2" } }, "wrapper.cjs")
  await publish({ name: NATIVE, version: "0.0.2" }, "claude")
  await publish({ name: MAIN, version: "0.0.3" }, "wrapper.cjs")
})

afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await rm(root, { recursive: true, force: true })
})

describe("scripts/claude-cli.mjs", () => {
  test("installs a version that is a script, once for two processes, and says so on stderr", async () => {
    const before = downloads
    const both = await Promise.all([install("0.0.1", "a"), install("0.0.1", "a")])
    const path = join(root, "a/signalbox/claude-code/0.0.1/node_modules", MAIN, "cli.js")
    for (const { stdout } of both) expect(stdout).toBe(`${path}\n`)
    expect(both.map((output) => output.stderr).join("")).toContain(`installing ${MAIN}@0.0.1`)
    expect(downloads - before).toBe(1)
    const again = await install("0.0.1", "a", "http://127.0.0.1:9")
    expect(again).toEqual({ stdout: `${path}\n`, stderr: "" })
  })

  test("installs the native build for this platform, and makes it executable", async () => {
    const { stdout } = await install("0.0.2", "a")
    expect(stdout).toBe(`${join(root, "a/signalbox/claude-code/0.0.2/node_modules", NATIVE, "claude")}\n`)
    await run("test", ["-x", stdout.trim()])
  })

  test("takes over from an installation that was abandoned half done", async () => {
    await mkdir(join(root, "b/signalbox/claude-code/0.0.1/node_modules"), { recursive: true })
    const { stdout } = await install("0.0.1", "b")
    expect(stdout).toMatch(/cli\.js\n$/)
  })

  test.each([
    [
      "the registry cannot be reached",
      "0.0.1",
      "http://127.0.0.1:9",
      "the npm registry cannot be reached (ECONNREFUSED)",
    ],
    ["the version does not exist", "0.0.9", undefined, "does not have that version"],
    ["there is no build for this platform", "0.0.3", undefined, "It may not be published for this platform"],
    ["the version is not exact", "latest", undefined, "Not an exact Claude Code version"],
  ])("says what to do when %s", async (_, version, registryUrl, message) => {
    await expect(install(version, "c", registryUrl)).rejects.toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(message),
    })
  })
})
