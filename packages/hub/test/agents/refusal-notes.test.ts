import { expect, it } from "vitest"
import { RefusalNotes } from "../../src/agents/refusal-notes.ts"

it("[HS38] of many refusals ten a minute are told, and then how many more there were", () => {
  const told: unknown[] = []
  let now = 0
  const notes = new RefusalNotes(
    (refused) => void told.push(refused),
    () => now,
  )
  for (let count = 0; count < 25; count += 1) notes.note({ path: "/ws/cli/x", status: 401, reason: `no ${count}` })
  expect(told).toHaveLength(10)
  expect(told[9]).toEqual({ path: "/ws/cli/x", status: 401, reason: "no 9" })
  now = 60_000
  notes.note({ path: `/${"x".repeat(1_000)}`, status: 404, reason: "there is none" })
  expect(told[10]).toEqual({ path: `/${"x".repeat(199)}`, status: 404, reason: "there is none", untold: 15 })
})
