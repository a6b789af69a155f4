import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { OTHER_NODES } from "../scripts/node-versions.mjs"
import { guardingChecks, leftOut, smoke } from "./gate.ts"

const root = dirname(dirname(fileURLToPath(import.meta.url)))

interface LockEntry {
  readonly resolved?: string
  readonly hasInstallScript?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

describe("the repository", () => {
  const lock: { packages: Record<string, LockEntry> } = JSON.parse(
    readFileSync(join(root, "package-lock.json"), "utf8"),
  )

  it("the lockfile carries no download addresses", () => {
    const addresses = Object.values(lock.packages).filter(({ resolved }) => resolved?.includes("://"))
    expect(addresses).toEqual([])
  })

  it("[CL31] no dependency runs a script when it is installed", () => {
    const withScript = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript === true)
    expect(withScript.map(([name]) => name)).toEqual([])
  })

  it("the lockfile names the packages of every platform, or npm ci refuses it: npm run lock completes it", () => {
    const wanted = Object.values(lock.packages).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}))
    expect(wanted.length).toBeGreaterThan(0)
    expect(wanted.filter((name) => lock.packages[`node_modules/${name}`] === undefined)).toEqual([])
  })

  it("every case that the gate names exists", () => {
    const text = ["conformance", "hub", "shim", "terminal"].flatMap((suite) => textsIn(join(root, "test", suite)))
    const programs = readdirSync(join(root, "test", "differential", "programs"))
    const names = [...smoke].map((entry) => entry.slice(entry.indexOf(": ") + 2))
    const exists = (name: string) =>
      programs.includes(`${name}.ts`) ||
      text.some((content) => content.includes(`"${name}"`) || content.includes(`[${name}]`))
    expect(names.filter((name) => !exists(name))).toEqual([])
  })

  it("every check of the cockpit that the gate names is in a file that the gate runs", () => {
    const files = readdirSync(join(root, "test/web"), { recursive: true, encoding: "utf8" })
    const run = files
      .map((name) => `test/web/${name}`)
      .filter((path) => path.endsWith(".test.ts") && !leftOut.includes(path))
      .map((path) => readFileSync(join(root, path), "utf8"))
    expect([...guardingChecks].filter((id) => !run.some((text) => text.includes(`[${id}]`)))).toEqual([])
  })

  it("[CL81] the README names the versions of Node that test:full runs on", () => {
    const readme = readFileSync(join(root, "README.md"), "utf8")
    const named = OTHER_NODES.map((version) => version.replace(/\.\d+$/, ""))
    expect(named).toHaveLength(2)
    expect(readme).toContain(`also on ${named.join(" and ")}.`)
  })

  it("npm run build builds every room", () => {
    const { references } = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8"))
    // The cockpit is a bundle for browsers: scripts/web-build.mjs builds it.
    const built = [...references.map(({ path }: { path: string }) => path), "packages/web"]
    const rooms = readdirSync(join(root, "packages")).map((room) => `packages/${room}`)
    expect(new Set(built)).toEqual(new Set(rooms))
  })
})

function textsIn(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))
  return files.map((file) => readFileSync(join(folder, file), "utf8"))
}
