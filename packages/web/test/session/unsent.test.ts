import { describe, expect, it } from "vitest"
import { forgetUnsent, keepUnsent, readUnsent, type UnsentPlace } from "../../src/session/composer/outgoing.ts"

function storage(): UnsentPlace & { readonly kept: Map<string, string> } {
  const kept = new Map<string, string>()
  return {
    kept,
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
    key: (index) => [...kept.keys()][index] ?? null,
    get length() {
      return kept.size
    },
  }
}
const message = (uuid: string, content: string | readonly unknown[] = uuid) => ({ uuid, content, text: `say ${uuid}` })

describe("what was not sent before the page was closed", () => {
  it("is there again, of each session its own, until it is forgotten", () => {
    const place = storage()
    keepUnsent("s1", { ...message("a"), priority: "now" }, place)
    keepUnsent("s1", message("b", [{ type: "text", text: "b" }]), place)
    keepUnsent("s2", message("c"), place)
    expect(readUnsent("s1", place)).toMatchObject([
      { uuid: "a", content: "a", text: "say a", priority: "now", state: { name: "not-sent" } },
      { uuid: "b", content: [{ type: "text", text: "b" }], state: { name: "not-sent" } },
    ])
    forgetUnsent("s1", "a", place)
    expect(readUnsent("s1", place)).toMatchObject([{ uuid: "b" }])
    expect(readUnsent("s2", place)).toMatchObject([{ uuid: "c" }])
  })

  it("is kept without its pictures where they are too large, and says so", () => {
    const place = storage()
    keepUnsent("s1", message("a", [{ type: "image", data: "x".repeat(600_000) }]), place)
    const [found] = readUnsent("s1", place)
    expect(found).toMatchObject({ content: "say a", state: { why: expect.stringContaining("images") } })
  })

  it("is bounded, and what is no message is passed over", () => {
    const place = storage()
    for (let n = 0; n < 60; n++) keepUnsent("s1", message(`m${n}`), place)
    expect(place.kept.size).toBe(50)
    place.kept.clear()
    for (const [n, text] of ["nonsense", "null", "[]", '{"uuid":"a"}', '{"uuid":"a","text":"b","content":3}'].entries())
      place.setItem(`signalbox:unsent:s1:${n}`, text)
    expect(readUnsent("s1", place)).toEqual([])
  })
})
