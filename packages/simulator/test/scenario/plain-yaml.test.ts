import { readdirSync, readFileSync } from "node:fs"
import { isDeepStrictEqual } from "node:util"
import { galleryNames } from "@signalbox/simulator"
import { describe, expect, it } from "vitest"
import { readPlainYaml } from "../../src/scenario/plain-yaml.ts"
import { readYaml } from "../../src/scenario/yaml.ts"

const gallery = new URL("../../gallery/", import.meta.url)
const texts = readdirSync(gallery).map((file) => readFileSync(new URL(file, gallery), "utf8"))

/** A small generator: the seed is told with a failure. */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fff_ffff
    return state % sides
  }
}

const BITS = [
  ..."\n -#'\"{}[],|>?%@=~\\\t".split(""),
  "  ",
  ": ",
  ":",
  "- ",
  " #",
  "|-",
  ">-",
  "|2",
  "|+",
  "&a ",
  "*a",
  "!x ",
  "1",
  "true",
  "null",
].concat(["x", "0x1", "1e3", "-0", ".5", "\n\n", "<<: ", "---\n", "no", "\nOff: ", "\nnull: ", "\u00a0", "\r"])

/** Some lines of the gallery, moved to the left, with a few things in them changed. */
function variation(roll: (sides: number) => number): string {
  const lines = (texts[roll(texts.length)] ?? "").split("\n")
  const from = roll(lines.length)
  const cut = lines.slice(from, from + 3 + roll(12))
  const indents = cut.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length)
  let text = cut.map((line) => line.slice(Math.min(...indents, 80))).join("\n")
  for (let changes = roll(4); changes > 0; changes--) {
    const at = roll(text.length + 1)
    const isAdded = roll(2) === 0
    text = isAdded
      ? text.slice(0, at) + (BITS[roll(BITS.length)] ?? "") + text.slice(at)
      : text.slice(0, at) + text.slice(at + 1 + roll(3))
  }
  return text
}

describe("YAML as people write it", () => {
  it("[SG7] what is read without the library is what the library reads, in 20,000 variations of the gallery", () => {
    const roll = dice(20_261)
    let taken = 0
    for (let round = 0; round < 20_000; round++) {
      const text = variation(roll)
      const plain = readPlainYaml(text)
      if (plain === undefined) continue
      taken++
      const { value, problems } = readYaml(text)
      if (problems.length === 0 && isDeepStrictEqual(plain, value)) continue
      throw new Error(
        `round ${round}: read as ${JSON.stringify(plain)}, not ${JSON.stringify({ value, problems })}:\n${text}`,
      )
    }
    expect(taken).toBeGreaterThan(2000)
  }, 120_000)

  it.each(galleryNames())("[SG7] %s of the gallery needs no library", (name) => {
    const text = readFileSync(new URL(`${name}.yaml`, gallery), "utf8")
    expect(readPlainYaml(text)).toEqual(readYaml(text).value)
  })

  it.each([
    ["an anchor", "a: &x 1\nb: *x\n"],
    ["a tag", "a: !!str 1\n"],
    ["a document's mark", "---\na: 1\n"],
    ["a key that is no text", "true: 1\n"],
    ["a key twice", "a: 1\na: 2\n"],
    ["a text over two lines", "a: one\n  two\n"],
    ["a tab", "a:\t1\n"],
    ["a number of another kind", "a: 0x10\n"],
    ["a colon in a text", "a: one: two\n"],
    ["wrong indentation", "a:\n    b: 1\n   c: 2\n"],
    ["a list that is not closed", "a: [1, 2\n"],
  ])("[SG7] leaves %s to the library", (_, text) => {
    expect(readPlainYaml(text)).toBeUndefined()
  })
})
