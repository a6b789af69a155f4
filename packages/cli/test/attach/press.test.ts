import type { Key } from "ink"
import { describe, expect, it } from "vitest"
import { edited, PressReader } from "../../src/attach/press.ts"
import { bufferOf, moveLine } from "../../src/attach/text-buffer.ts"

const NONE: Key = {
  upArrow: false,
  downArrow: false,
  leftArrow: false,
  rightArrow: false,
  pageDown: false,
  pageUp: false,
  home: false,
  end: false,
  return: false,
  escape: false,
  ctrl: false,
  shift: false,
  tab: false,
  backspace: false,
  delete: false,
  meta: false,
  super: false,
  hyper: false,
  capsLock: false,
  numLock: false,
}

describe("keys", () => {
  it("[AT3] what is typed fast comes in one piece, and each character of it is a key", () => {
    const reader = new PressReader()
    expect(reader.read("yes\r", NONE)).toEqual([{ key: "text", text: "yes" }, { key: "enter" }])
    expect(reader.read("a\u007f\u007f\t\u0015", NONE).map(({ key }) => key)).toEqual([
      "text",
      "backspace",
      "backspace",
      "tab",
      "ctrl",
    ])
  })

  it("[AT3] what is pasted is text, line ends and all, and sends nothing", () => {
    const reader = new PressReader()
    expect(reader.read("[200~one\rtwo\u0007\r", NONE)).toEqual([{ key: "text", text: "one\ntwo\n" }])
    expect(reader.read("", { ...NONE, return: true })).toEqual([{ key: "text", text: "\n" }])
    expect(reader.read("three[201~", NONE)).toEqual([{ key: "text", text: "three" }])
    expect(reader.read("", { ...NONE, return: true })).toEqual([{ key: "enter" }])
  })

  it("[AT3] a text is changed where its cursor is, line by line", () => {
    const buffer = bufferOf("one\ntwo 👍")
    expect(edited(buffer, { key: "backspace" })?.text).toBe("one\ntwo ")
    expect(edited(buffer, { key: "ctrl", letter: "w" })?.text).toBe("one\ntwo ")
    const up = moveLine(bufferOf("one\ntwo"), -1)
    expect(edited(up, { key: "text", text: "!" })?.text).toBe("one!\ntwo")
    expect(edited(bufferOf("x"), { key: "page-up" })).toBeUndefined()
  })
})
