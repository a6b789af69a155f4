import { describeKnown } from "@signalbox/protocol/schemas"
import { expect, test } from "vitest"
import * as generated from "../../src/known.generated.ts"

test("[M12] known.generated.ts says what the registry says; else run `npm run generate`", () => {
  expect({ ...generated }).toEqual(describeKnown())
})
