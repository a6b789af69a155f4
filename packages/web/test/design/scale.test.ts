import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"

const SOURCES = join(import.meta.dirname, "../../src")
const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".tsx"))
  .map((name) => ({ name, text: readFileSync(join(SOURCES, name), "utf8") }))

/** Room between and around things, in steps of 4 px. Above 16 they are sizes of something, not room. */
const STEPS = new Set(["0", "px", "0.5", "1", "1.5", "2", "2.5", "3", "4", "5", "6", "8", "10", "11", "12", "14", "16"])
const ROOM = /(?<![\w-])-?(?:[pm][xytbse]?|gap(?:-[xy])?|space-[xy])-(\d[\d.]*|px)(?![\w.])/g
/** Letters and corners have names: a size by number is not on the scale. */
const BY_NUMBER = /(?<![\w-])(?:text|rounded(?:-\w+)?|leading|tracking|font|shadow)-\[[^\]]*(?:px|em|\d)\]/g

/** What only the text of a picture or a mark needs. */
const PICTURES = /<svg/

describe("the scale", () => {
  it.each(files)("[L-161] $name keeps to the steps of room", ({ text }) => {
    expect([...text.matchAll(ROOM)].filter(([, step = ""]) => !STEPS.has(step)).map(([name]) => name)).toEqual([])
  })

  it("[L-161] letters, corners and shadows are named, and their names are the tokens'", () => {
    const found = files.flatMap(({ name, text }) => [...text.matchAll(BY_NUMBER)].map(([use]) => `${name}: ${use}`))
    expect(found).toEqual([])
  })

  it("[L-161] icons are drawn in one file, signs of a state in those that own them", () => {
    const drawing = files.filter(({ text }) => PICTURES.test(text)).map(({ name }) => name)
    expect(drawing.toSorted()).toEqual([
      "asks/ask-outcome.tsx",
      "design/icons.tsx",
      "fleet/session-status.tsx",
      "machines/machine-status.tsx",
    ])
  })
})
