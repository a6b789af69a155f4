import { describe, it } from "vitest"
import { fuzzCases } from "../../../../test/gate.ts"
import { expectSame, readAll } from "./both.ts"
import { createRandom, randomTranscript } from "./random-transcript.ts"
import { makeWorld, SESSION } from "./transcripts.ts"

const SEED = Number(process.env["SIGNALBOX_SEED"] ?? 20_261_115)
// A case here is files and two readers, some hundred times dearer than a case in memory.
const CASES = Math.ceil(fuzzCases / 100)

describe("transcripts at random", () => {
  it(`[Z9] ${CASES} trees are read as the official SDK reads them (seed ${SEED})`, { timeout: 900_000 }, async () => {
    const random = createRandom(SEED)
    for (let done = 0; done < CASES; done++) {
      const content = randomTranscript(random)
      const world = await makeWorld({ [`-w-p/${SESSION}.jsonl`]: content })
      try {
        await expectSame(readAll)
      } catch (error) {
        throw new Error(`case ${done} of seed ${SEED}:\n${content}`, { cause: error })
      } finally {
        await world.remove()
      }
    }
  })
})
