import { availableParallelism } from "node:os"
import { configDefaults, defineConfig } from "vitest/config"
import { BaseSequencer, type Reporter, type TestSpecification } from "vitest/node"
import { leftOut, longest } from "./test/gate.ts"

// Tests run on the sources: every room exports `src` under this condition, so no build is needed first. Node is started with these too:
// "import" among them would give a package's ES modules to its own `require`.
const conditions = ["@signalbox/source", "node", "module", "default"]

const exclude = [...configDefaults.exclude, ...leftOut]
// These rooms' units are pure, so their files share a process instead of starting one each; a fuzzer would hold up the others.
const pure = ["packages/{protocol,transcript,policy,web}/test/**/!(fuzz).test.ts"]

/** A failure's message when it happens: Vitest prints them at its end, which in the full run is an hour later. */
const failuresAtOnce: Reporter = {
  onTestCaseResult(test) {
    const { state, errors } = test.result()
    if (state !== "failed") return
    const messages = errors.flatMap(({ stack, message, diff }) => [stack ?? message, diff ?? ""])
    process.stderr.write(`\nFAILED ${test.module.relativeModuleId} > ${test.fullName}\n${messages.join("\n")}\n`)
  },
}

/** Whoever takes minutes begins first: begun last, one of them would keep one core busy and the others idle. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = longest.findIndex((name) => moduleId.endsWith(name))
      return place < 0 ? longest.length : place
    }
    return (await super.sort(files)).toSorted((one, other) => placeOf(one) - placeOf(other))
  }
}

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    projects: [
      { extends: true, test: { name: "pure", include: pure, exclude, isolate: false } },
      {
        extends: true,
        test: {
          name: "parts",
          include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...exclude, ...pure],
        },
      },
    ],
    // A test that hangs is a bug; real CLIs on a loaded two-core machine need their time all the same.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // The same for what is waited for: a second, as it would be, is a deadline on a loaded machine.
    expect: { poll: { timeout: 30_000 } },
    pool: "forks",
    // Most files wait for processes most of the time: three at once, also where there are only two cores.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    // Tests of one file that say they may run beside each other: each of them is several processes.
    maxConcurrency: 3,
    restoreMocks: true,
    sequence: { sequencer: LongestFirst },
    reporters: ["default", failuresAtOnce],
  },
})
