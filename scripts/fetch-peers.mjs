// Fetches what only tests run: the pinned CLIs, the official SDKs, system programs. Plain Node, so that it can run while
// dependencies are still being installed. The suites ask for each again, and find it in place.

import { ensureClaude, PINNED } from "./claude-cli.mjs"
import { ensureOfficialSdk, OFFICIAL } from "./official-sdk.mjs"
import { ensureSystemPackage } from "./system-package.mjs"

const packages = Promise.all([...PINNED.map(ensureClaude), ...OFFICIAL.map(ensureOfficialSdk)])
// This one blocks; the npm processes started above go on meanwhile.
for (const program of ["tmux", "chromium"]) ensureSystemPackage(program)
await packages
