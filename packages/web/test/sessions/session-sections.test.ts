import type { Session } from "@signalbox/client"
import { describe, expect, it } from "vitest"
import { STATUS_WORDS, statusOf } from "../../src/fleet/session-status.tsx"
import {
  heldSections,
  isSameList,
  matchesFilter,
  type Section,
  type SessionEntry,
  sectionsOf,
} from "../../src/sessions/session-sections.ts"
import { sessionOf } from "../session-fixture.ts"

const entry = (facts: Partial<Session>): SessionEntry => {
  const session = sessionOf(facts)
  const machine = session.runner === "r-1" ? "atlas" : undefined
  return { session, status: statusOf(session, { now: 0, seenSeq: 0 }), ask: undefined, machine }
}
const shape = (sections: readonly Section[]) =>
  sections.map(({ title, entries }) => `${title}: ${entries.map(({ session }) => session.id).join(" ")}`)

describe("the sections of the list", () => {
  it("stand in the order of who needs somebody most, and within by what matters there", () => {
    const sections = sectionsOf(
      [
        entry({ id: "old", updatedAt: "2031-01-01T01:00:00Z" }),
        entry({ id: "new", updatedAt: "2031-01-01T02:00:00Z" }),
        entry({ id: "late", state: "running", turns: 1, turnStartedAt: "2031-01-01T02:00:00Z" }),
        entry({ id: "early", state: "running", turns: 1, turnStartedAt: "2031-01-01T01:00:00Z" }),
        entry({ id: "asks", state: "waiting", pendingAsks: 1 }),
      ],
      "status",
    )
    expect(shape(sections)).toEqual(["Needs you: asks", "Running: early late", "Idle: new old"])
  })

  it("[S-153] pinned ones stand right after those that need somebody, and first in every other grouping", () => {
    const pinned = { pinned: true }
    const entries = [
      entry({ id: "asks", state: "waiting", pendingAsks: 1 }),
      entry({ id: "blocked", state: "waiting", pendingAsks: 1, ...pinned }),
      entry({ id: "runs", state: "running", turns: 1 }),
      entry({ id: "kept", ...pinned }),
    ]
    expect(shape(sectionsOf(entries, "status"))).toEqual(["Needs you: asks blocked", "Pinned: kept", "Running: runs"])
    expect(shape(sectionsOf(entries, "folder"))).toEqual(["No folder: blocked kept asks runs"])
  })

  it("are by machine or folder when that is wished, with a place for those that have none", () => {
    const entries = [entry({ id: "a", runner: "r-1", cwd: "/x" }), entry({ id: "b" })]
    expect(shape(sectionsOf(entries, "machine"))).toEqual(["atlas: a", "External: b"])
    expect(shape(sectionsOf(entries, "folder"))).toEqual(["/x: a", "No folder: b"])
  })

  it("[S-155] 20,000 sessions are sorted and held in place in a moment", () => {
    const at = (n: number) => new Date(1_900_000_000_000 - n * 1000).toISOString()
    const many = Array.from({ length: 20_000 }, (_, n) => entry({ id: `s${n}`, state: "ended", updatedAt: at(n) }))
    const start = performance.now()
    const fresh = sectionsOf(many, "status")
    const [first] = many
    const moved = first === undefined ? many : [...many.slice(1), { ...first, status: "running" as const }]
    const held = heldSections(fresh, sectionsOf(moved, "status"))
    expect(performance.now() - start).toBeLessThan(1000)
    expect(fresh[0]?.entries.map(({ session }) => session.id).slice(0, 2)).toEqual(["s0", "s1"])
    expect(held.sections.flatMap(({ entries }) => entries)).toHaveLength(20_000)
    expect(held.moved).toBe(2)
    expect(isSameList(many, [...many])).toBe(true)
    expect(isSameList(many, moved)).toBe(false)
  })

  it("are filtered by every word, in whatever field it stands", () => {
    const one = entry({ title: "Fix auth", cwd: "/srv/shop", runner: "r-1" })
    expect(matchesFilter(one, "atlas AUTH", STATUS_WORDS)).toBe(true)
    expect(matchesFilter(one, "atlas billing", STATUS_WORDS)).toBe(false)
    expect(matchesFilter(one, "  ", STATUS_WORDS)).toBe(true)
  })

  it("[S-154] a viewer filters by the words of their own list", () => {
    const asks = entry({ state: "waiting", pendingAsks: 1 })
    const words = { ...STATUS_WORDS, "needs-you": "Waiting for someone" }
    expect([matchesFilter(asks, "waiting for", words), matchesFilter(asks, "needs you", words)]).toEqual([true, false])
  })
})

describe("a list that somebody is in", () => {
  const before = sectionsOf(
    [entry({ id: "a", updatedAt: "2031-01-01T03:00:00Z" }), entry({ id: "b", updatedAt: "2031-01-01T02:00:00Z" })],
    "status",
  )

  it("keeps its rows where they are and tells how many would move", () => {
    const fresh = sectionsOf(
      [entry({ id: "a", updatedAt: "2031-01-01T03:00:00Z" }), entry({ id: "b", state: "running", turns: 1 })],
      "status",
    )
    const held = heldSections(before, fresh)
    expect(shape(held.sections)).toEqual(["Idle: a b"])
    expect(held.sections[0]?.entries[1]?.status).toBe("running")
    expect(held.moved).toBe(1)
  })

  it("takes new ones at the end of their section, and lets go of those that are gone", () => {
    const fresh = sectionsOf(
      [entry({ id: "c", updatedAt: "2031-01-01T09:00:00Z" }), entry({ id: "b", updatedAt: "2031-01-01T02:00:00Z" })],
      "status",
    )
    expect(shape(heldSections(before, fresh).sections)).toEqual(["Idle: b c"])
  })

  it("[S-155] older ones that are read on stand where they would anyway: nothing moves, and nothing is offered", () => {
    const older = entry({ id: "c", updatedAt: "2031-01-01T01:00:00Z" })
    const rows = before.flatMap(({ entries }) => entries)
    const held = heldSections(before, sectionsOf([...rows, older], "status"))
    expect([shape(held.sections), held.moved]).toEqual([["Idle: a b c"], 0])
    // A section that is new stands at the end, and is offered its place.
    const asks = entry({ id: "d", state: "waiting", pendingAsks: 1 })
    const late = heldSections(before, sectionsOf([...rows, asks], "status"))
    expect([shape(late.sections), late.moved]).toEqual([["Idle: a b", "Needs you: d"], 1])
  })

  it("has nothing to move when all is as it was", () => {
    expect(heldSections(before, before).moved).toBe(0)
  })
})
