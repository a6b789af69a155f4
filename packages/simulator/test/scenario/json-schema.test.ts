import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { galleryNames, loadScenario } from "../../src/scenario/load-scenario.ts"
import { checkScenario, scenarioJsonSchema } from "../../src/scenario/parse-scenario.ts"
import { readYaml } from "../../src/scenario/yaml.ts"

const file = new URL("../../schema/scenario.schema.json", import.meta.url)
const published: Record<string, unknown> = JSON.parse(readFileSync(file, "utf8"))
const yamlOf = (name: string) => readFileSync(new URL(`../../gallery/${name}.yaml`, import.meta.url), "utf8")

describe("the published schema", () => {
  it("[SG5] is what the code checks by: npm run generate writes it anew", () => {
    expect(published).toEqual(JSON.parse(JSON.stringify(scenarioJsonSchema())))
  })

  it("[SG5] takes every scenario of the gallery, and none with a key that is not in the language", () => {
    const schema = z.fromJSONSchema(published)
    for (const name of galleryNames()) {
      const { value } = readYaml(yamlOf(name))
      expect(schema.safeParse(value).error, name).toBeUndefined()
      expect(schema.safeParse({ ...Object(value), nmae: "x" }).success, name).toBe(false)
    }
  })

  it("[SG5] is in the package, and named in every file of the gallery for editors", () => {
    const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
    expect(manifest.files).toEqual(expect.arrayContaining(["schema", "gallery"]))
    expect(manifest.exports["./scenario.schema.json"]).toBe("./schema/scenario.schema.json")
    for (const name of galleryNames()) {
      const [first] = yamlOf(name).split("\n", 1)
      expect(first, name).toBe("# yaml-language-server: $schema=../schema/scenario.schema.json")
    }
  })
})

describe("the gallery as JSON", () => {
  it("[SG7] is what its YAML says, file by file: npm run generate writes it anew", async () => {
    const files = readdirSync(new URL("../../gallery/", import.meta.url)).filter((name) => name.endsWith(".yaml"))
    expect(files.toSorted()).toEqual(galleryNames().map((name) => `${name}.yaml`))
    // The order of the fields too: it is seen on the wire.
    for (const name of galleryNames())
      expect(JSON.stringify(await loadScenario(name)), name).toBe(JSON.stringify(readYaml(yamlOf(name)).value))
  })

  it.each(galleryNames())("[SG7] %s passes the full check, which nobody makes when it is loaded", async (name) => {
    expect(checkScenario(await loadScenario(name))).toHaveProperty("scenario")
  })
})
