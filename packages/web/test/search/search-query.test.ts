import { describe, expect, it } from "vitest"
import {
  groupHits,
  hitAddress,
  requestOf,
  snippetPieces,
  wishOf,
  withoutEchoes,
} from "../../src/search/search-query.ts"

const wish = (query: string) => wishOf(new URLSearchParams(query))

describe("what is looked for", () => {
  it("is read from the address, and what makes no sense there is left out", () => {
    expect(wish("q=red+lamp&in=results,messages,nothing&machine=m1&from=2031-05-20&to=soon")).toEqual({
      text: "red lamp",
      scopes: ["messages", "results"],
      machine: "m1",
      session: "",
      from: "2031-05-20",
      to: "",
    })
    expect(wish("from=2031-13-40").from).toBe("")
  })

  it("is asked of the hub in its own words, the last day whole", () => {
    expect(requestOf(wish("q=lamp"))).toEqual({ q: "lamp", limit: 100 })
    expect(requestOf(wish("q=lamp&in=messages,titles&machine=m1&session=s1&from=2031-05-20&to=2031-05-31"))).toEqual({
      q: "lamp",
      session: "s1",
      runner: "m1",
      in: ["text", "thinking", "title"],
      from: new Date(2031, 4, 20).toISOString(),
      to: new Date(2031, 5, 1).toISOString(),
      limit: 100,
    })
  })
})

describe("what was found", () => {
  const hit = (session: string, seq: number) => ({
    session,
    seq,
    at: "2031-01-01T00:00:00Z",
    field: "text",
    snippet: "",
  })

  it("stands by session, the newest first", () => {
    const groups = groupHits([hit("b", 9), hit("a", 5), hit("b", 2)])
    expect(groups.map(({ session, hits }) => [session, hits.map(({ seq }) => seq)])).toEqual([
      ["b", [9, 2]],
      ["a", [5]],
    ])
  })

  it("is told once, when a turn's result repeats what was said", () => {
    const said = { ...hit("a", 5), snippet: "the «lamp»" }
    const echo = { ...hit("a", 6), field: "result", snippet: "the «lamp»" }
    expect(withoutEchoes([echo, said, { ...echo, session: "b" }])).toEqual([said, { ...echo, session: "b" }])
  })

  it("leads to its place, and a title to its session", () => {
    expect(hitAddress(hit("a", 5), "red & lamp")).toBe("/s/a?seq=5&find=red+%26+lamp")
    expect(hitAddress(hit("a", 0), "lamp")).toBe("/s/a")
  })

  it("shows which words were meant, and quotes of its own stay", () => {
    expect(snippetPieces("…the «red» lamp")).toEqual([
      { text: "…the ", isFound: false },
      { text: "red", isFound: true },
      { text: " lamp", isFound: false },
    ])
    expect(snippetPieces("a « b")).toEqual([{ text: "a « b", isFound: false }])
  })
})
