import { afterAll, expect, it } from "vitest"
import { NEWEST } from "./catalogue.ts"
import { buildRooms, type CompiledPrograms, compileForOfficial, compileForOurs } from "./packages.ts"

/** The programs whose point is their types. */
const programs = ["published-types", "types-in-use", "types-of-the-api"]
const exact = { exactOptionalPropertyTypes: true }
const compiled: CompiledPrograms[] = []

afterAll(async () => {
  for (const each of compiled) await each.remove()
})

it("[D1] types in use compile where an optional field may not be undefined, against the official package and ours", {
  timeout: 300_000,
}, async () => {
  await buildRooms()
  compiled.push(await compileForOfficial(NEWEST.sdk, programs, exact))
  compiled.push(await compileForOurs(programs, { beside: NEWEST.sdk, ...exact }))
  for (const { name, problems } of compiled) expect(problems, name).toEqual([])
})
