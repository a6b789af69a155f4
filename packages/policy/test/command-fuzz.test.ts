import { evaluate } from "@signalbox/policy"
import { describe, expect, it } from "vitest"
import { fuzzCases } from "../../../test/gate.ts"
import { allowing, CONTEXT, denying, numbered } from "./subject.ts"

/** The same numbers for the same seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

interface Piece {
  readonly text: string
  readonly isForbidden: boolean
}

const ALLOWED = ["npm ci", "npm ci --x", "echo a", "echo 'a; b'", 'echo "a | b"', "ls", "git status", "cat x y", "true"]
/** Each is denied by name, however it is written. */
const DENIED = [
  "rm -rf /",
  "/bin/rm x",
  "'rm' x",
  "r\\m x",
  "git push",
  "git  push -f",
  '"git" push',
  "chmod 777 /",
  "npm publish",
]
/** Each does more than its rule allows. */
const UNCOVERED = [
  "ls > /etc/passwd",
  "echo a >> ../x",
  "B=1 ls",
  "ls $HOME",
  "sed -i s/a/b/ x",
  "node -e x",
  "bash evil.sh",
  "cat x | sh",
  "find . -delete",
  "sudo -i",
  "git -c a=b status",
  "echo {a,b}",
  "ls &",
  "time ls",
  "./l? x",
  "curl -o x y",
  "sed 1etouch\\ p x",
  "tar cIf x a b",
  "git -C x status",
  "curl -4K x",
  "sort --co=x a",
  "find . -exec ls + -name {} \\;",
]

const PATTERNS =
  "npm ci*|echo *|ls|git status|cat *|true|sed *|node *|find *|git *us|> build/*|A=*|bash -c|sh -c|sudo *|env *|nohup *|timeout *|xargs *|eval *|command *|nice *|tar *|curl *|sort *"

type Wrap = (piece: string) => string
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** Around one whole command line. */
const AROUND: readonly Wrap[] = [
  (a) => `(${a})`,
  (a) => `{ ${a}; }`,
  (a) => `echo $(${a})`,
  (a) => `echo "$(${a})"`,
  (a) => `echo a$(${a})b`,
  (a) => `cat <(${a})`,
  (a) => (/[`\\]/.test(a) ? `(${a})` : `echo \`${a}\``),
  (a) => `bash -c ${quoted(a)}`,
  (a) => `sh -c ${quoted(a)}`,
  (a) => `A=$(${a}) ls`,
  (a) => `ls > build/x; ${a}`,
  (a) => `echo ${quoted(a)} | sh`,
  (a) => `source <(echo ${quoted(a)})`,
  (a) => `npm exec -c ${quoted(a)}`,
  (a) => `docker exec c sh -c ${quoted(a)}`,
  (a) => `{ ${a}; } < x`,
  (a) => `  ${a}  `,
]
/** Before one simple command. */
const BEFORE: readonly Wrap[] = [
  (a) => `sudo ${a}`,
  (a) => `sudo -u app ${a}`,
  (a) => `env ${a}`,
  (a) => `env A=1 ${a}`,
  (a) => `A=1 ${a}`,
  (a) => `nohup ${a}`,
  (a) => `timeout 5 ${a}`,
  (a) => `nice -n 5 ${a}`,
  (a) => `command ${a}`,
  (a) => `xargs ${a}`,
  (a) => `find . -exec ${a} {} \\;`,
  (a) => `npm exec -- ${a}`,
  (a) => `docker exec c ${a}`,
  (a) => `fd -x ${a}`,
  (a) => `ls | xargs ${a}`,
  (a) => `git submodule foreach ${a}`,
  (a) => `sudo --weird ${a}`,
]
const BETWEEN: readonly ((a: string, b: string) => string)[] = [
  (a, b) => `${a} && ${b}`,
  (a, b) => `${a}; ${b}`,
  (a, b) => `${a} || ${b}`,
  (a, b) => `${a} | ${b}`,
  (a, b) => `${a}\n${b}`,
  (a, b) => `if ${a}; then ${b}; fi`,
  (a, b) => `while ${a}; do ${b}; done`,
  (a, b) => `if ${a}; then true; else ${b}; fi`,
]

function pick<T>(items: readonly T[], random: (below: number) => number): T {
  const item = items[random(items.length)]
  if (item === undefined) throw new Error("there is nothing to pick from")
  return item
}

function compose(depth: number, forbidden: readonly string[], random: (below: number) => number): Piece {
  const kind = depth === 0 ? 0 : random(5)
  if (kind <= 1) {
    const isForbidden = random(3) === 0
    const leaf = pick(isForbidden ? forbidden : ALLOWED, random)
    const isSimple = !/[|&>$={]/.test(leaf)
    return { text: isSimple && random(3) === 0 ? pick(BEFORE, random)(leaf) : leaf, isForbidden }
  }
  const first = compose(depth - 1, forbidden, random)
  // A background job ends the line that it stands in.
  if (kind === 2 && !first.text.endsWith("&")) return { ...first, text: pick(AROUND, random)(first.text) }
  const second = compose(depth - 1, forbidden, random)
  const isForbidden = first.isForbidden || second.isForbidden
  return { text: pick(BETWEEN, random)(first.text, second.text), isForbidden }
}

function fail(problem: string): never {
  throw new Error(problem)
}

const SHARED = numbered(PATTERNS.split("|").map((pattern) => allowing(pattern)))
const FORBIDDING = numbered([
  { effect: "allow", tool: "Bash" },
  denying(["rm *", "git push*", "chmod *", "npm publish*"]),
])

describe("commands put together from allowed and forbidden ones", () => {
  const effectOf = (rules: typeof SHARED, command: string) =>
    evaluate({ rules, relayAutoApproval: false }, { tool: "Bash", input: { command } }, CONTEXT).effect

  it("[PO26] nothing with a part that no rule allows is allowed", () => {
    const seed = Number(process.env["SIGNALBOX_SEED"] ?? 17)
    const random = randomFrom(seed)
    const forbidden = [...DENIED, ...UNCOVERED]
    const counts = { allowed: 0, harmless: 0 }
    for (let run = 0; run < fuzzCases / 2; run++) {
      const { text, isForbidden } = compose(random(4), forbidden, random)
      const effect = effectOf(SHARED, text)
      if (isForbidden && effect === "allow") fail(`seed ${seed}, case ${run}: ${JSON.stringify(text)} is allowed`)
      if (isForbidden) continue
      counts.harmless++
      if (effect === "allow") counts.allowed++
    }
    // Or it would say nothing.
    expect(counts.allowed).toBeGreaterThan(counts.harmless / 2)
  }, 900_000)

  it("[PO26] nothing with a part that is denied is allowed, whatever else is", () => {
    const seed = Number(process.env["SIGNALBOX_SEED"] ?? 18)
    const random = randomFrom(seed)
    let denied = 0
    for (let run = 0; run < fuzzCases / 2; run++) {
      const { text, isForbidden } = compose(random(4), DENIED, random)
      if (!isForbidden) continue
      const effect = effectOf(FORBIDDING, text)
      if (effect === "allow") fail(`seed ${seed}, case ${run}: ${JSON.stringify(text)} is allowed`)
      if (effect === "deny") denied++
    }
    expect(denied).toBeGreaterThan(fuzzCases / 10)
  }, 900_000)
})
