// docs/cli.md, from the definitions of the commands, so that it cannot go stale. Needs a build.
import { writeFileSync } from "node:fs"
import { cliDocs } from "../packages/cli/dist/docs.js"

writeFileSync(new URL("../docs/cli.md", import.meta.url), await cliDocs())
