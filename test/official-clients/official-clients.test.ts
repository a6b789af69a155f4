import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { compare, outline } from "../differential/compare.ts"
import { buildRooms, type CompiledPrograms, compileForOfficial } from "../differential/packages.ts"
import { runProgram, type Seen } from "../differential/run-program.ts"
import { runsNow } from "../gate.ts"
import { type Client, cellOf, clients, simulated } from "./clients.ts"
import { comparable, withOneAbort } from "./comparable.ts"
import { knownDifferences } from "./known-differences.ts"

const compiled = new Map<Client, CompiledPrograms>()

beforeAll(async () => {
  await buildRooms()
  for (const client of clients) {
    const now = client.programs.filter((program) => runsNow(cellOf(client), program))
    // An older package's types lack options that a program names; the program runs all the same, without them.
    if (now.length > 0) compiled.set(client, await compileForOfficial(client.sdk, now))
  }
}, 300_000)

afterAll(async () => {
  for (const each of compiled.values()) await each.remove()
})

describe("an official SDK, whose executable is the simulator", () => {
  for (const client of clients) for (const program of client.programs) see(client, program)

  it("[A31] is tried with as many programs as it takes", () => {
    expect(clients.map(({ programs }) => programs.length >= 10)).toEqual([true, true, true])
    expect(clients.slice(0, 2).map(({ programs }) => programs.length >= 25)).toEqual([true, true])
  })
})

/** The same program on the real CLI and on the simulator. Most of its time is spent waiting: others run beside it. */
function see(client: Client, program: string): void {
  const cell = cellOf(client)
  if (!runsNow(cell, program)) return
  it.concurrent(`[A31] ${cell}: ${program} sees what it sees from the real one`, { timeout: 240_000 }, async () => {
    const programs = compiled.get(client)
    if (programs === undefined) throw new Error("the programs were not compiled")
    const [real, ours] = await Promise.all([
      runProgram(programs, program, client.cli),
      runProgram(programs, program, simulated(client.cli)),
    ])
    expect(real["harness"], "the real CLI must come to its end").toBeUndefined()
    const meant = knownDifferences.filter(
      (each) => [program, "every"].includes(each.program) && (each.sdk ?? client.sdk) === client.sdk,
    )
    const seen = (side: Seen) => comparable(program === "iterable-throws" ? withOneAbort(side) : side)
    const differences = compare(seen(real), seen(ours), meant)
    expect(differences, `\n  real\n    ${outline(real)}\n  simulated\n    ${outline(ours)}\n`).toEqual([])
  })
}
