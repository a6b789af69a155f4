// `npm run drift -- <version>`: the conformance suite on any CLI version, and what it says that our schemas do not know.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ensureClaude } from "./claude-cli.mjs"
import { run, say, tool } from "./setup.mjs"

/** @typedef {import("../test/conformance/drift-findings.ts").Finding} Finding */

const HEADINGS = /** @type {const} */ ({
  malformed: "Lines that are no message",
  type: "Message types we do not know",
  subtype: "Subtypes we do not know",
  shape: "Known types in a shape we do not know",
  mismatch: "Values that do not fit their schema",
  field: "Fields we do not declare",
})

const version = process.argv[2]
if (version === undefined) {
  say("which version? For example: npm run drift -- 2.1.325")
  process.exit(2)
}
await ensureClaude(version).catch((/** @type {unknown} */ error) => {
  say(error instanceof Error ? error.message : String(error))
  process.exit(1)
})

const folder = mkdtempSync(join(tmpdir(), "signalbox-drift-"))
let behaves = true
try {
  say(`running the conformance suite on ${version} …`)
  const drift = { SIGNALBOX_DRIFT_VERSION: version, SIGNALBOX_DRIFT_FOLDER: folder }
  const env = { ...process.env, SIGNALBOX_TESTS: "full", ...drift }
  await run(tool("vitest"), ["run", "test/conformance", "--reporter=dot"], { env }).catch(() => {
    behaves = false
  })
  if (existsSync(join(folder, "checked"))) printReport(readFindings(join(folder, "findings.ndjson")))
  else say("no line of this version was seen: the suite itself could not run; see above.")
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** @param {string} file @returns {Finding[]} */
function readFindings(file) {
  if (!existsSync(file)) return []
  return readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
}

/** @param {Finding[]} findings */
function printReport(findings) {
  console.log(`\nDrift of Claude Code ${version}`)
  for (const [kind, heading] of Object.entries(HEADINGS)) {
    const ofKind = findings.filter((finding) => finding.kind === kind)
    if (ofKind.length > 0) printKind(heading, ofKind)
  }
  if (findings.length === 0) console.log("\nNothing that our schemas do not know.")
  console.log(
    behaves
      ? "\nEvery case of the suite behaved as expected."
      : "\nSome cases behaved differently: see the failures above.",
  )
}

/** @param {string} heading @param {Finding[]} findings */
function printKind(heading, findings) {
  console.log(`\n${heading}`)
  /** @type {Map<string, { count: number, example: string }>} */
  const counted = new Map()
  for (const { where, what, example } of findings) {
    const name = where === what ? where : `${where}  ${what}`
    counted.set(name, { count: (counted.get(name)?.count ?? 0) + 1, example })
  }
  for (const [name, { count, example }] of [...counted].sort(([a], [b]) => a.localeCompare(b))) {
    console.log(`  ${name}  (${count}×)`)
    if (heading !== HEADINGS.field) console.log(`      ${example}`)
  }
}
