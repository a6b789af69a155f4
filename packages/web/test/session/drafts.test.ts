import { describe, expect, it } from "vitest"
import { type DraftPlaces, keepDraft, readDraft } from "../../src/session/composer/drafts.ts"

/** What a browser's storage does, of a size that can be filled. */
function storage(maxChars = 5_000_000) {
  const kept = new Map<string, string>()
  return {
    kept,
    getItem: (key: string) => kept.get(key) ?? null,
    removeItem: (key: string) => void kept.delete(key),
    setItem: (key: string, text: string) => {
      const others = [...kept].reduce((sum, [other, held]) => sum + (other === key ? 0 : held.length), 0)
      if (others + text.length > maxChars) throw new Error("QuotaExceededError")
      kept.set(key, text)
    },
  }
}

function twoTabs(): { readonly a: DraftPlaces; readonly b: DraftPlaces; readonly fresh: () => DraftPlaces } {
  const browser = storage()
  const fresh = () => ({ tab: storage(), browser })
  return { a: fresh(), b: fresh(), fresh }
}

describe("drafts of two tabs", () => {
  it("are each their own, and a new tab has the last that was written", () => {
    const { a, b, fresh } = twoTabs()
    keepDraft("s", { was: "", is: "from a" }, a)
    keepDraft("s", { was: "", is: "from b" }, b)
    expect([a, b, fresh()].map((tab) => readDraft("s", tab))).toEqual(["from a", "from b", "from b"])
  })

  it("one that was sent takes nothing of the other with it, and does not come back", () => {
    const { a, b, fresh } = twoTabs()
    keepDraft("s", { was: "", is: "from a" }, a)
    keepDraft("s", { was: "", is: "from b" }, b)
    keepDraft("s", { was: "from a", is: "" }, a)
    expect([a, b, fresh()].map((tab) => readDraft("s", tab))).toEqual(["", "from b", "from b"])
    keepDraft("s", { was: "from b", is: "" }, b)
    expect([a, b, fresh()].map((tab) => readDraft("s", tab))).toEqual(["", "", ""])
  })

  it("one that a new tab took over unchanged and sent is gone for the next", () => {
    const { a, b, fresh } = twoTabs()
    keepDraft("s", { was: "", is: "from a" }, a)
    keepDraft("s", { was: readDraft("s", b), is: "" }, b)
    expect([b, fresh()].map((tab) => readDraft("s", tab))).toEqual(["", ""])
  })

  it("are no more than fifty, the oldest go first, and none is endless", () => {
    const { a } = twoTabs()
    for (let index = 0; index < 60; index++) keepDraft(`s${index}`, { was: "", is: "words" }, a)
    keepDraft("s10", { was: "words", is: "x".repeat(300_000) }, a)
    keepDraft("new", { was: "", is: "words" }, a)
    expect([9, 11, 12].map((index) => readDraft(`s${index}`, a))).toEqual(["", "", "words"])
    expect(readDraft("s10", a)).toHaveLength(200_000)
  })

  it("do nothing where the browser keeps nothing", () => {
    const full = { tab: storage(3), browser: storage(3) }
    keepDraft("s", { was: "", is: "words" }, full)
    expect(readDraft("s", full)).toBe("")
  })
})
