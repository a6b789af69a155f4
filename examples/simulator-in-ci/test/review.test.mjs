import assert from "node:assert/strict"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { claudeSimPath } from "@signalbox/simulator"
import { review } from "../review.mjs"

await test("a review", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "review-"))
  t.after(() => rmSync(folder, { recursive: true, force: true }))

  /**
   * The options that put a simulated agent in the place of the real one.
   * @param {string} scenario
   * @param {Record<string, string>} [more]
   */
  const simulated = (scenario, more = {}) => ({
    pathToClaudeCodeExecutable: claudeSimPath,
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      SIGNALBOX_SIM_SCENARIO: fileURLToPath(new URL(`../scenarios/${scenario}.yaml`, import.meta.url)),
      SIGNALBOX_SIM_SPEED: "max",
      ...more,
    },
  })

  await t.test("approves a good change, and nothing had to be refused", async () => {
    const { verdict, refused } = await review(simulated("approves"))
    assert.equal(verdict, "approve")
    assert.deepEqual(refused, [])
  })

  await t.test("refuses an agent that wants more than to look, and nothing is touched", async () => {
    const { verdict, text, refused } = await review(simulated("oversteps"))
    assert.equal(verdict, "reject")
    assert.deepEqual(refused, ["git diff; git push --force", "Write"])
    assert.ok(!text.includes("this must never be seen"))
    assert.ok(!readdirSync(folder).includes("src"))
  })

  await t.test("waits for an API that is overloaded", async () => {
    const { verdict } = await review(simulated("overloaded"))
    assert.equal(verdict, "approve")
  })

  await t.test("is an error, not an approval, when the agent dies in the middle", async () => {
    await assert.rejects(review(simulated("approves", { SIGNALBOX_SIM_FAULT: "exit=3@result" })), /exited with code 3/)
  })

  for (const profile of ["2.1.37", "2.1.120", "2.1.325"]) {
    await t.test(`works with the agent of version ${profile}`, async () => {
      const { verdict } = await review(simulated("approves", { SIGNALBOX_SIM_PROFILE: profile }))
      assert.equal(verdict, "approve")
    })
  }
})
