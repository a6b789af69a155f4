import { z } from "zod"
import { SimulatorError } from "../simulator-error.ts"
import { parseFault } from "./parse-fault.ts"

const MAX_FAULTS = 100

/** One fault, in the words of `--fault`. */
const faultSpec = z.string().check(({ value, issues }) => {
  try {
    parseFault(value)
  } catch (error) {
    if (!(error instanceof SimulatorError)) throw error
    issues.push({ code: "custom", message: error.message, input: value })
  }
})

/** The `faults` of a scenario: what goes wrong while its agent plays. The scripted Messages API passes over them. */
export const faultsSchema = z.array(faultSpec).max(MAX_FAULTS)
