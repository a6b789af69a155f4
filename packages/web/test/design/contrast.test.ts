import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"

const SOURCES = join(import.meta.dirname, "../../src")
const sourceFiles = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".tsx"))
  .map((name) => ({ name, text: readFileSync(join(SOURCES, name), "utf8") }))
const css = readFileSync(join(import.meta.dirname, "../../src/design/tokens.css"), "utf8")

type Colour = readonly [lightness: number, chroma: number, hue: number]
type Theme = "light" | "dark"

const tokens = new Map(
  [...css.matchAll(/--color-([\w-]+): light-dark\(oklch\(([^)]+)\), oklch\(([^)]+)\)\)/g)].map(
    ([, name = "", light = "", dark = ""]) => {
      const read = (text: string): Colour => {
        const [l = 0, c = 0, h = 0] = text.split(" ").map(Number)
        return [l, c, h]
      }
      return [name, { light: read(light), dark: read(dark) }] as const
    },
  ),
)

/** OKLCH to linear sRGB, as CSS Color 4 has it. */
function linear([l, c, h]: Colour): readonly number[] {
  const [a, b] = [c * Math.cos((h * Math.PI) / 180), c * Math.sin((h * Math.PI) / 180)]
  const [x, y, z] = [
    (l + 0.3963377774 * a + 0.2158037573 * b) ** 3,
    (l - 0.1055613458 * a - 0.0638541728 * b) ** 3,
    (l - 0.0894841775 * a - 1.291485548 * b) ** 3,
  ]
  return [
    4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z,
    -1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z,
    -0.0041960863 * x - 0.7034186147 * y + 1.707614701 * z,
  ]
}

/** On eight bits, as a screen shows it. */
function luminance(colour: Colour): number {
  const [r = 0, g = 0, b = 0] = linear(colour).map((value) => {
    const clamped = Math.min(1, Math.max(0, value))
    const encoded = clamped <= 0.0031308 ? 12.92 * clamped : 1.055 * clamped ** (1 / 2.4) - 0.055
    const shown = Math.round(encoded * 255) / 255
    return shown <= 0.04045 ? shown / 12.92 : ((shown + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(first: string, second: string, theme: Theme): number {
  const [a, b] = [first, second].map((name) => {
    const token = tokens.get(name)
    if (token === undefined) throw new Error(`there is no colour ${name}`)
    return luminance(token[theme])
  })
  const [high, low] = [Math.max(a ?? 0, b ?? 0), Math.min(a ?? 0, b ?? 0)]
  return (high + 0.05) / (low + 0.05)
}

const BASES = ["canvas", "surface", "sunken", "raised"]
const SOFT = [...tokens.keys()].filter((name) => name.endsWith("-soft") || name.startsWith("diff-"))
const TONES = ["accent", "caution", "clear", "danger", "info", "plan"]
const on = (text: string, backgrounds: readonly string[], least: number) =>
  backgrounds.map((background) => [text, background, least] as const)

/** Every colour that is written with, on everything it may stand on. The edge of a field and the ring of the focus need 3. */
const PAIRS = [
  ...["text", "text-2"].flatMap((text) => on(text, [...BASES, ...SOFT], 7)),
  ...["text-3", ...TONES].flatMap((text) => on(text, [...BASES, ...SOFT], 4.5)),
  ...on("on-accent", ["accent"], 4.5),
  ...on("on-caution", ["caution-solid"], 4.5),
  ...on("on-danger", ["danger-solid"], 4.5),
  // Code stands on a block of its own, and what changed in it on the tint of a change.
  ...["comment", "string", "number", "keyword", "name"].flatMap((tone) =>
    on(`code-${tone}`, ["canvas", "surface", "sunken", "diff-add", "diff-del"], 4.5),
  ),
  ...on("edge", BASES, 3),
  ...on("focus", [...BASES, ...SOFT], 3),
]

/** Drawn, never written with: they part things, or stand around a button whose word tells it. */
const DRAWN = ["line", "rim"]

describe("the colours", () => {
  it("[L-160] are all in a pair that is checked, or only drawn", () => {
    const checked = new Set([...PAIRS.flatMap(([text, background]) => [text, background]), ...DRAWN])
    expect([...tokens.keys()].filter((name) => !checked.has(name))).toEqual([])
  })

  it("are all read by this test, for both themes", () => {
    expect(tokens.size).toBe(css.match(/light-dark\(/g)?.length)
    expect(tokens.size).toBeGreaterThan(25)
  })

  it.each(["light", "dark"] as const)("[L-160] can be read on each other in the %s theme", (theme) => {
    const weak = PAIRS.map(([text, background, least]) => ({
      text,
      background,
      least,
      is: contrast(text, background, theme),
    })).filter(({ is, least }) => is < least)
    expect(weak).toEqual([])
  })

  it.each(["light", "dark"] as const)("are ones that every screen can show, in the %s theme", (theme) => {
    const outside = [...tokens].filter(([, token]) =>
      linear(token[theme]).some((value) => value < -0.002 || value > 1.002),
    )
    expect(outside.map(([name]) => name)).toEqual([])
  })

  it("[L-160] are measured as WCAG does", () => {
    expect(contrast("text", "canvas", "light")).toBeCloseTo(16, 1)
    expect(contrast("on-accent", "accent", "light")).toBeCloseTo(6.15, 1)
    expect(contrast("on-caution", "caution-solid", "dark")).toBeCloseTo(11.1, 1)
  })

  it.each(sourceFiles)("[L-160] $name writes only in pairs of them that can be read", ({ text }) => {
    const weak = pairsIn(text).flatMap(([word, background]) =>
      (["light", "dark"] as const)
        .map((theme) => ({ word, background, theme, is: contrast(word, background, theme) }))
        .filter(({ is }) => is < 4.5),
    )
    expect(weak).toEqual([])
  })
})

/** The colours of text and ground that stand in one list of classes: `"bg-accent text-on-accent …"`. */
function pairsIn(source: string): readonly (readonly [word: string, background: string])[] {
  return [...source.matchAll(/"([^"\n]*)"/g)].flatMap(([, list = ""]) => {
    const names = list.split(" ")
    const coloured = (kind: string) =>
      names
        .filter((name) => name.startsWith(`${kind}-`))
        .map((name) => name.slice(kind.length + 1).replace(/!$/, ""))
        .filter((name) => tokens.has(name))
    return coloured("text").flatMap((word) => coloured("bg").map((background) => [word, background] as const))
  })
}
