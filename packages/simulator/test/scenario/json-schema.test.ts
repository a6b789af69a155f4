import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { galleryFile, galleryNames } from "../../src/scenario/gallery.ts"
import { scenarioJsonSchema } from "../../src/scenario/json-schema.ts"
import { readYaml } from "../../src/scenario/yaml.ts"

const file = new URL("../../schema/scenario.schema.json", import.meta.url)
const published: Record<string, unknown> = JSON.parse(readFileSync(file, "utf8"))

describe("the published schema", () => {
  it("[SG5] is what the code checks by: npm run generate writes it anew", () => {
    expect(published).toEqual(JSON.parse(JSON.stringify(scenarioJsonSchema())))
  })

  it("[SG5] takes every scenario of the gallery, and none with a key that is not in the language", () => {
    const schema = z.fromJSONSchema(published)
    for (const name of galleryNames()) {
      const { value } = readYaml(readFileSync(galleryFile(name), "utf8"))
      expect(schema.safeParse(value).error, name).toBeUndefined()
      expect(schema.safeParse({ ...Object(value), nmae: "x" }).success, name).toBe(false)
    }
  })

  it("[SG5] is in the package, and named in every file of the gallery for editors", () => {
    const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
    expect(manifest.files).toEqual(expect.arrayContaining(["schema", "gallery"]))
    expect(manifest.exports["./scenario.schema.json"]).toBe("./schema/scenario.schema.json")
    for (const name of galleryNames()) {
      const [first] = readFileSync(galleryFile(name), "utf8").split("\n", 1)
      expect(first, name).toBe("# yaml-language-server: $schema=../schema/scenario.schema.json")
    }
  })
})
