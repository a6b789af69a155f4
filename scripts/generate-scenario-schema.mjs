// Writes packages/simulator/schema/scenario.schema.json from the built schema: run after a build, format afterwards.
import { writeFileSync } from "node:fs"
import { scenarioJsonSchema } from "../packages/simulator/dist/scenario/json-schema.js"

const file = new URL("../packages/simulator/schema/scenario.schema.json", import.meta.url)
writeFileSync(file, `${JSON.stringify(scenarioJsonSchema(), null, 2)}\n`)
