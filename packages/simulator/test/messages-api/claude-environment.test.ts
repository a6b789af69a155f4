import { expect, test } from "vitest"
import { claudeEnvironment, openScriptedApi } from "../../src/index.ts"

test("the environment is built from nothing and stays on loopback", () => {
  process.env["ANTHROPIC_AUTH_TOKEN"] = "would-leak"
  try {
    const environment = claudeEnvironment({ home: "/tmp/h", apiUrl: "http://127.0.0.1:8080" })
    expect(environment).toMatchObject({
      PATH: process.env["PATH"],
      HOME: "/tmp/h",
      CLAUDE_CONFIG_DIR: "/tmp/h/.claude",
      ANTHROPIC_BASE_URL: "http://127.0.0.1:8080",
      HTTPS_PROXY: "http://127.0.0.1:9",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    })
    expect(environment).not.toHaveProperty("HTTP_PROXY")
    expect(environment).not.toHaveProperty("ANTHROPIC_AUTH_TOKEN")
  } finally {
    delete process.env["ANTHROPIC_AUTH_TOKEN"]
  }
})

test("what is added goes over the rest, and can take out", () => {
  const extra = { CLAUDE_CODE_MAX_RETRIES: "9", DO_NOT_TRACK: undefined }
  const environment = claudeEnvironment({ home: "/tmp/h", apiUrl: "http://[::1]:80", extra })
  expect(environment["CLAUDE_CODE_MAX_RETRIES"]).toBe("9")
  expect(environment).not.toHaveProperty("DO_NOT_TRACK")
})

test("neither the API nor a CLI can be pointed off the machine", async () => {
  const refused = { code: "messages-api/not-loopback" }
  const scenario = { turns: [{ steps: [{ say: "x" }] }] }
  for (const host of ["0.0.0.0", "::", "10.0.0.1", "example.com", "127.0.0.1.example.com"])
    await expect(openScriptedApi({ scenario, host })).rejects.toMatchObject(refused)
  for (const apiUrl of ["http://example.com", "https://127.0.0.1:1", "http://127.0.0.1@example.com", "nonsense"])
    expect(() => claudeEnvironment({ home: "/tmp/h", apiUrl })).toThrow(expect.objectContaining(refused))
})
