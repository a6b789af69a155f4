// Fetches what only tests run: the pinned CLIs, the official SDKs, system programs. Plain Node, so that it can run while
// dependencies are still being installed. The suites ask for each again, and find it in place.

import { ENFORCED, ensureClaude, PINNED } from "./claude-cli.mjs"
import { ensureOfficialSdk, OFFICIAL } from "./official-sdk.mjs"
import { ensureSystemPackage } from "./system-package.mjs"

// The gate runs pinned versions only.
const claudes = new Set(process.argv.includes("--full") ? [...PINNED, ...ENFORCED] : PINNED)
const packages = Promise.all([...[...claudes].map(ensureClaude), ...OFFICIAL.map(ensureOfficialSdk)])
// This one blocks; the npm processes started above go on meanwhile.
for (const program of ["tmux", "chromium"]) ensureSystemPackage(program)
await packages
