import { evaluate, prepare } from "@signalbox/policy"
import { bestOf, figureOf } from "./measure.mjs"

const CONTEXT = { session: "s", cwd: "/srv/app", mode: "default" }
const RULES = 1000
const SIZE = 65_536

/** @param {string} piece @param {number} size */
const filled = (piece, size) => piece.repeat(Math.ceil(size / piece.length)).slice(0, size)

/** A thousand rules of one kind. @param {(index: number) => object} rule */
function policyOf(rule) {
  /** @type {import("@signalbox/policy").Rule[]} */
  const rules = Array.from({ length: RULES }, (_, index) => ({ id: `r${index}`, effect: "deny", ...rule(index) }))
  prepare(rules)
  return { rules, relayAutoApproval: false }
}

/** @param {(index: number) => string} pattern */
const commands = (pattern) => policyOf((index) => ({ tool: "Bash", input: { command: pattern(index) } }))
/** @param {(index: number) => string} pattern */
const contents = (pattern) => policyOf((index) => ({ input: { content: pattern(index) } }))

/** A list may hold several commands of the longest that is read. @param {(index: number) => string} command */
const listed = (command) => ({
  tool: "Bash",
  input: { command: Array.from({ length: 8 }, (_, index) => command(index)) },
})

/** The worst that was found of each kind. */
const WORST = [
  {
    kind: "shells within commands",
    policy: commands((index) => `rm -rf ${index} *`),
    request: listed((index) => `bash -c "${filled("rm -r ", 8000)}${index}"`),
  },
  {
    kind: "many commands, rules that look everywhere",
    policy: commands((index) => `* rm *${index}*`),
    request: listed((index) => `${filled("rm -r;", 8000)}${index}`),
  },
  {
    kind: "a list of short commands",
    policy: commands((index) => `rm *x${index}`),
    request: { tool: "Bash", input: { command: Array.from({ length: SIZE / 8 }, (_, index) => `rm ${index}`) } },
  },
  {
    kind: "one long text",
    policy: contents((index) => `*secret${index}*`),
    request: { tool: "Write", input: { content: filled("secre", SIZE) } },
  },
  {
    kind: "deep paths",
    policy: policyOf((index) => ({ input: { file_path: `**/${"a/".repeat(200)}**/${"a/".repeat(200)}${index}` } })),
    request: { tool: "Edit", input: { file_path: Array.from({ length: 128 }, () => filled("a/", 510)) } },
  },
]

/** The bound is a time, and the floor beside it the least that a look at each rule can cost. */
const BOUND_MS = 50

export const figures = () =>
  WORST.map(({ kind, policy, request }) => {
    const text = JSON.stringify(request)
    const best = bestOf([
      { name: "evaluate", run: () => evaluate(policy, request, CONTEXT) },
      { name: "one native search per rule (floor)", run: () => policy.rules.filter(({ id }) => text.includes(id)) },
    ])
    const rows = [...best, /** @type {const} */ (["the bound", BOUND_MS])].map(([name, value]) => ({ name, value }))
    const title = `policy: ${RULES} rules on the worst 64 KB of ${kind}`
    return figureOf({ title, unit: "ms CPU", atMost: 1, rows })
  })
