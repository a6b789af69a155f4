// Fetches what only tests run: the pinned CLIs, the official SDKs, an earlier release, system programs. Plain Node, so that it can run while
// dependencies are still being installed. The suites ask for each again, and find it in place.

import { ENFORCED, ensureClaude, PINNED } from "./claude-cli.mjs"
import { ensureOfficialSdk, OFFICIAL } from "./official-sdk.mjs"
import { commitOf, ensureRelease, OLDEST } from "./releases.mjs"
import { ensurePostgres, ensureSystemPackage } from "./system-package.mjs"

// The gate runs pinned versions only, and no earlier release. A shallow clone has none.
const isFull = process.argv.includes("--full")
const claudes = new Set(isFull ? [...PINNED, ...ENFORCED] : PINNED)
const releases = isFull && (await commitOf(OLDEST)) !== undefined ? [ensureRelease(OLDEST)] : []
const packages = Promise.all([...[...claudes].map(ensureClaude), ...OFFICIAL.map(ensureOfficialSdk), ...releases])
// These block; the npm processes started above go on meanwhile.
for (const program of ["tmux", "chromium"]) ensureSystemPackage(program)
ensurePostgres()
await packages
