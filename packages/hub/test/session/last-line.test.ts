import { expect, it } from "vitest"
import { lastLineOf } from "../../src/session/last-line.ts"

const lineOf = (text: string) => lastLineOf({ type: "assistant", message: { content: [{ type: "text", text }] } })

it("[HS10] the line of a session is the first sentence of what its agent said last, without the signs of markdown", () => {
  expect(lineOf("I fixed the **clock** in `clock.ts`. Next come the tests.\n\n- one\n- two")).toBe(
    "I fixed the clock in clock.ts.",
  )
  expect(lineOf("\n\n## What changed\n\nMuch.")).toBe("What changed")
  expect(lineOf("1. First step")).toBe("First step")
  expect(lineOf("---\n\nVersion 2.1.3 is out! Try it.")).toBe("Version 2.1.3 is out!")
  expect(lineOf("Done.")).toBe("Done.")
  expect(lineOf("")).toBeUndefined()
  expect(lineOf("x".repeat(100_000))?.length).toBeLessThan(1_000)
})
