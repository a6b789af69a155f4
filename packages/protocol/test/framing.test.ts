import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createLineSplitter, type DroppedLine } from "../src/index.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

function split(
  text: string,
  cuts: readonly number[],
  maxLineBytes?: number,
): { lines: string[]; dropped: DroppedLine[] } {
  const dropped: DroppedLine[] = []
  const splitter = createLineSplitter({
    ...(maxLineBytes === undefined ? {} : { maxLineBytes }),
    onDropped: (entry) => dropped.push(entry),
  })
  const all = bytes(text)
  const edges = [0, ...cuts.map((cut) => cut % (all.length + 1)).toSorted((a, b) => a - b), all.length]
  const lines = edges.flatMap((edge, index) => splitter.push(all.slice(edge, edges[index + 1] ?? all.length)))
  return { lines: [...lines, ...splitter.end()], dropped }
}

describe("framing", () => {
  it("[F1] any chunking of the bytes gives the same lines", () => {
    const text = fc.array(fc.string({ unit: "grapheme" }).map((line) => line.replaceAll(/[\r\n]/g, "")))
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (lines, cuts) => {
        // Blank is ASCII's: a line of U+2028 alone is a line.
        const wanted = lines.filter((line) => /[^\0-\x20]/.test(line))
        expect(split(lines.map((line) => `${line}\n`).join(""), cuts).lines).toEqual(wanted)
      }),
    )
  })

  it("[F2] a character of several bytes may be split at every one of its boundaries", () => {
    const text = '{"text":"é€😀"}\n{"n":2}\n'
    for (let cut = 0; cut <= bytes(text).length; cut++) {
      expect(split(text, [cut]).lines).toEqual(['{"text":"é€😀"}', '{"n":2}'])
    }
  })

  it("[F3] a carriage return before the newline is dropped, also when a chunk ends between them; blank lines are skipped", () => {
    const text = "one\r\n\r\n\n \t \n  two\r\nthree\r"
    for (let cut = 0; cut <= text.length; cut++) expect(split(text, [cut]).lines).toEqual(["one", "  two", "three"])
  })

  it("[F4] only a newline ends a line: other separators of Unicode are text", () => {
    expect(split("a\u2028b\u0085c\u000bd\n", []).lines).toEqual(["a\u2028b\u0085c\u000bd"])
  })

  it("[F5] a line over the limit is dropped alone, with its number, length and beginning, whatever the chunks", () => {
    const long = `{"long":"${"x".repeat(300)}"}`
    const text = `{"n":1}\n\n${long}\n{"n":4}\n`
    for (let cut = 0; cut <= text.length; cut++) {
      const { lines, dropped } = split(text, [cut, cut + 40], 100)
      expect(lines).toEqual(['{"n":1}', '{"n":4}'])
      expect(dropped).toEqual([{ lineNumber: 3, bytes: long.length, maxLineBytes: 100, head: long.slice(0, 80) }])
    }
  })

  it("[F5] a line of exactly the limit is kept", () => {
    const line = "x".repeat(100)
    for (let cut = 0; cut <= 101; cut++) expect(split(`${line}\n`, [cut], 100)).toEqual({ lines: [line], dropped: [] })
  })

  it("[F6] memory is bounded while an endless line goes on", () => {
    const splitter = createLineSplitter({ maxLineBytes: 1000 })
    for (let round = 0; round < 10_000; round++) {
      expect(splitter.push(new Uint8Array(999).fill(120))).toEqual([])
      expect(splitter.heldBytes).toBeLessThanOrEqual(1000)
    }
    expect(splitter.push(bytes("\nnext\n"))).toEqual(["next"])
  })

  it("[F6] a peer that writes byte by byte costs about as many bytes as it writes", () => {
    const splitter = createLineSplitter()
    const before = process.memoryUsage().heapUsed
    const byte = new Uint8Array([120])
    for (let n = 0; n < 1_000_000; n++) splitter.push(byte)
    expect(splitter.heldBytes).toBe(1_000_000)
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(50_000_000)
    expect(splitter.push(bytes("\n"))[0]).toHaveLength(1_000_000)
  })

  it("[F7] several lines may come in one frame, and a frame that is one whole object needs no newline", () => {
    const splitter = createLineSplitter()
    expect(splitter.pushFrame(bytes('{"a":1}\n{"b":2}\n'))).toEqual(['{"a":1}', '{"b":2}'])
    expect(splitter.pushFrame(bytes('{"bare":1}'))).toEqual(['{"bare":1}'])
    expect(splitter.pushFrame(bytes('{"first":1}\n{"bare":2}'))).toEqual(['{"first":1}', '{"bare":2}'])
    expect(splitter.pushFrame(bytes(' {"bare":3}\r'))).toEqual([' {"bare":3}'])
    expect(splitter.heldBytes).toBe(0)
  })

  it("[F7] a line split over frames is held until it is whole", () => {
    const splitter = createLineSplitter()
    expect(splitter.pushFrame(bytes('{"a":{"b":1}'))).toEqual([])
    expect(splitter.pushFrame(bytes(""))).toEqual([])
    expect(splitter.pushFrame(bytes("}\n"))).toEqual(['{"a":{"b":1}}'])
    expect(splitter.pushFrame(bytes("rubbish"))).toEqual([])
    expect(splitter.pushFrame(bytes('\n{"c":1}'))).toEqual(["rubbish", '{"c":1}'])
  })

  it("[F8] bytes that are no UTF-8 are replaced, and the lines around them are whole", () => {
    const splitter = createLineSplitter()
    const rubbish = new Uint8Array([0x7b, 0xff, 0xfe, 0xc3, 0x0a])
    expect(splitter.push(rubbish)).toEqual(["{\ufffd\ufffd\ufffd"])
    expect(splitter.push(bytes("ok\n"))).toEqual(["ok"])
  })
})
