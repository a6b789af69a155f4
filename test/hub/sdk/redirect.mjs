// Loaded with `--import` into the process of a program of test/differential: its import line leads to through-hub.mjs.
import { register } from "node:module"

const target = JSON.stringify(new URL("./through-hub.mjs", import.meta.url).href)
const hooks = `export async function resolve(specifier, context, next) {
  if (specifier === "@anthropic-ai/claude-agent-sdk") return { url: ${target}, shortCircuit: true }
  return next(specifier, context)
}`

register(`data:text/javascript,${encodeURIComponent(hooks)}`)
