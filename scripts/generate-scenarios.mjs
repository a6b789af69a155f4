// Writes what is made of scenarios: the published schema, from the built one, and the gallery as JSON, from its YAML.
// Run after a build, format afterwards.
import { readdirSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { readScenarioFile } from "../packages/simulator/dist/scenario/load-scenario.js"
import { scenarioJsonSchema } from "../packages/simulator/dist/scenario/parse-scenario.js"

const room = new URL("../packages/simulator/", import.meta.url)
/** @param {string} file @param {unknown} value */
const write = (file, value) => writeFileSync(new URL(file, room), `${JSON.stringify(value, null, 2)}\n`)

write("schema/scenario.schema.json", scenarioJsonSchema())

const gallery = new URL("gallery/", room)
/** @type {Record<string, unknown>} */
const scenarios = {}
for (const file of readdirSync(gallery)
  .filter((name) => name.endsWith(".yaml"))
  .sort()) {
  scenarios[file.slice(0, -".yaml".length)] = await readScenarioFile(fileURLToPath(new URL(file, gallery)))
}
write("gallery/gallery.json", scenarios)
