import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { fileURLToPath } from "node:url"
import { publint } from "publint"
import { describe, expect, it } from "vitest"

const root = dirname(dirname(fileURLToPath(import.meta.url)))

interface Manifest {
  readonly name: string
  readonly version: string
  readonly engines?: { readonly node: string }
  readonly files?: readonly string[]
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, unknown>>
  readonly typesVersions?: { readonly "*": Readonly<Record<string, unknown>> }
  readonly dependencies?: Readonly<Record<string, string>>
}

const manifestIn = (folder: string): Manifest => JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"))
const manifests = readdirSync(join(root, "packages"))
  .filter((room) => existsSync(join(root, "packages", room, "package.json")))
  .map((room) => ({ room, manifest: manifestIn(join("packages", room)) }))

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

  it("[CL31] the command's package is named signalbox, and the repository itself has another name", () => {
    expect(manifests.find(({ room }) => room === "cli")?.manifest.name).toBe("signalbox")
    expect(manifestIn(".")).toMatchObject({ private: true, name: "signalbox-workspace" })
  })

  it.each(manifests)("[CL46] $manifest.name serves import, require and every way to find types", ({ manifest }) => {
    const entries = Object.entries(manifest.exports ?? {}).filter(([, target]) => typeof target === "object")
    for (const [name, target] of entries) {
      expect(Object.keys(target ?? {}), name).toEqual(["@signalbox/source", "require", "default"])
    }
    const paths = Object.keys(manifest.exports ?? {}).map((name) => name.replace(/^\.\/?/, ""))
    const subpaths = paths.filter((path) => path !== "" && path !== "package.json")
    expect(Object.keys(manifest.typesVersions?.["*"] ?? {})).toEqual(subpaths)
    expect(manifest.engines).toEqual(manifestIn(".").engines)
  })

  it.each(manifests)("[CL46] publint has nothing against $manifest.name", async ({ room }) => {
    const { messages } = await publint({ pkgDir: join(root, "packages", room), pack: false, strict: true })
    expect(messages).toEqual([])
  })
})
