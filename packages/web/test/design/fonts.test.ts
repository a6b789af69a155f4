import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"

const DESIGN = join(import.meta.dirname, "../../src/design")
const css = readFileSync(join(DESIGN, "fonts.css"), "utf8")
const fonts = readdirSync(join(DESIGN, "fonts")).filter((name) => name.endsWith(".woff2"))
const bytesOf = (name: string) => readFileSync(join(DESIGN, "fonts", name))

describe("the fonts", () => {
  it("[L-162] weigh at most 60 KB together, and are what their names say", () => {
    expect(fonts.length).toBeGreaterThan(1)
    expect(fonts.map((name) => bytesOf(name).toString("latin1", 0, 4))).toEqual(fonts.map(() => "wOF2"))
    expect(fonts.reduce((sum, name) => sum + bytesOf(name).length, 0)).toBeLessThanOrEqual(60_000)
  })

  it("[L-162] come with their licence, which their package ships too", () => {
    expect(readFileSync(join(DESIGN, "fonts/OFL.txt"), "utf8")).toMatch(
      /^Copyright.*SIL OPEN FONT LICENSE Version 1\.1/s,
    )
    expect(readFileSync(join(DESIGN, "../../package.json"), "utf8")).toContain('"src/design/fonts/OFL.txt"')
  })

  it("[L-162] are all used, from this hub alone, and say how they come", () => {
    const used = [...css.matchAll(/url\("\.\/fonts\/([\w.-]+)"\)/g)].map(([, name]) => name)
    expect(used.toSorted()).toEqual(fonts.toSorted())
    expect(css).not.toMatch(/https?:/)
    expect(css.match(/font-display: (?:optional|swap)/g)).toHaveLength(fonts.length)
  })

  it("[L-163] the sans is fetched with the page, and what stands in for a font has its measures", () => {
    const page = readFileSync(join(DESIGN, "../../index.html"), "utf8")
    expect(page).toMatch(
      /rel="preload" href="\/src\/design\/fonts\/geist\.woff2" as="font" type="font\/woff2" crossorigin/,
    )
    const standIns = css.split("@font-face").filter((face) => face.includes("local("))
    expect(standIns.length).toBeGreaterThan(1)
    for (const face of standIns) {
      for (const measure of ["size-adjust", "ascent-override", "descent-override", "line-gap-override"])
        expect(face).toContain(measure)
    }
  })
})
