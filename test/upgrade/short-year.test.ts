import { execFile } from "node:child_process"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, it } from "vitest"

const YEAR = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), "soak", "year.mjs")

it("[UP9] a year of six days and 300 sessions, with four kills, holds", async () => {
  const args = [YEAR, "--days", "6", "--sessions", "300", "--kills", "4", "--seed", "19"]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(stdout).toContain("The year held.")
  for (const counted of ["kept", "pruned", "kills", "backups"])
    expect(stdout).toMatch(new RegExp(`^${counted} +[1-9]`, "m"))
}, 300_000)
