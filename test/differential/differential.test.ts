import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runsNow } from "../gate.ts"
import { NEWEST, newest, OLDER, older, type Pairing } from "./catalogue.ts"
import { compare, outline } from "./compare.ts"
import { improvements } from "./improvements.ts"
import { buildRooms, type CompiledPrograms, compileForOfficial, compileForOurs } from "./packages.ts"
import { runProgram } from "./run-program.ts"

interface Compiled {
  readonly ours: CompiledPrograms
  readonly newest: CompiledPrograms
  readonly older: CompiledPrograms
}

let compiled: Compiled | undefined

function ready(): Compiled {
  if (compiled === undefined) throw new Error("the programs were not compiled")
  return compiled
}

beforeAll(async () => {
  await buildRooms()
  compiled = {
    ours: await compileForOurs([...new Set([...newest, ...older])], { beside: NEWEST.sdk }),
    newest: await compileForOfficial(NEWEST.sdk, newest),
    older: await compileForOfficial(OLDER.sdk, older),
  }
}, 300_000)

afterAll(async () => {
  for (const each of Object.values(compiled ?? {})) await each.remove()
})

describe("programs written for the official SDK", () => {
  it("[D1] compile unchanged, in strict mode, against the official packages and against ours", () => {
    for (const { name, problems } of Object.values(ready())) expect(problems, name).toEqual([])
  })

  it("[D2] a question asked after the first result: the official SDK leaves it unanswered, ours answers it", {
    timeout: 240_000,
  }, async () => {
    const theirs = await runProgram(ready().newest, "late-question", NEWEST.cli)
    expect(theirs["asked"]).toBeUndefined()
    expect(theirs["message"]?.at(-1)).toMatchObject({ type: "result", result: "Nobody was there to answer." })
    const ours = await runProgram(ready().ours, "late-question", NEWEST.cli)
    expect(ours["asked"]).toEqual(["Bash"])
    expect(ours["message"]?.at(-1)).toMatchObject({ type: "result", result: "The answer was allow." })
  })

  for (const program of newest) see(program, NEWEST, () => ready().newest)
  for (const program of older) see(program, OLDER, () => ready().older)
})

/** The same program, run on both sides at once and compared. Most of its time is spent waiting: others run beside it. */
function see(program: string, pairing: Pairing, official: () => CompiledPrograms): void {
  const cell = `SDK ${pairing.sdk} with CLI ${pairing.cli}`
  if (!runsNow(cell, program)) return
  it.concurrent(`[D2] ${cell}: ${program} sees the same with ours`, { timeout: 240_000 }, async () => {
    const [theirs, ours] = await Promise.all([
      runProgram(official(), program, pairing.cli),
      runProgram(ready().ours, program, pairing.cli),
    ])
    expect(theirs["harness"], "the official side must come to its end").toBeUndefined()
    const meant = improvements.filter(
      (each) => [program, "every"].includes(each.program) && (each.sdk ?? pairing.sdk) === pairing.sdk,
    )
    const differences = compare(theirs, ours, meant)
    const context = `\n  official\n    ${outline(theirs)}\n  ours\n    ${outline(ours)}\n`
    expect(differences, context).toEqual([])
  })
}
