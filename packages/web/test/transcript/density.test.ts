import { expect, it } from "vitest"
import { isOpenByDefault } from "../../src/transcript/tools/tool-facts.ts"

const command = { name: "Bash", input: { command: "npm test" } }

it("[X-126] a command that went well is one line; one that failed shows what it wrote", () => {
  expect(isOpenByDefault({ ...command, state: "done" }, "normal")).toBe(false)
  expect(isOpenByDefault({ ...command, state: "running" }, "normal")).toBe(false)
  expect(isOpenByDefault({ ...command, state: "failed" }, "normal")).toBe(true)
  expect(isOpenByDefault({ ...command, state: "done" }, "full")).toBe(true)
  expect(isOpenByDefault({ ...command, state: "failed" }, "brief")).toBe(false)
})
