import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { readDialEnvironment, readSessionToken } from "../../src/index.ts"

it("[D12] the token is CLAUDE_CODE_SESSION_ACCESS_TOKEN, before the file descriptor", () => {
  const env = { CLAUDE_CODE_SESSION_ACCESS_TOKEN: "tok", CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR: "999" }
  expect(readSessionToken(env)).toBe("tok")
  expect(readSessionToken({})).toBeUndefined()
})

it("[D12] else what the file descriptor holds, trimmed", () => {
  const folder = mkdtempSync(join(tmpdir(), "token-"))
  writeFileSync(join(folder, "token"), "  from-the-file\n")
  const fd = openSync(join(folder, "token"), "r")
  try {
    const env = { CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR: String(fd) }
    expect(readSessionToken(env)).toBe("from-the-file")
    expect(readSessionToken(env)).toBe("from-the-file")
  } finally {
    closeSync(fd)
    rmSync(folder, { recursive: true })
  }
})

it.each(["987654", "nonsense", "-1"])("[D12] a descriptor that cannot be read (%s) is a clear error", (descriptor) => {
  const env = { CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR: descriptor }
  expect(() => readSessionToken(env)).toThrow(
    expect.objectContaining({ code: "transport/misconfigured", message: expect.stringContaining(descriptor) }),
  )
})

it("[D12] an empty descriptor is a clear error", () => {
  const fd = openSync("/dev/null", "r")
  try {
    const env = { CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR: String(fd) }
    expect(() => readSessionToken(env)).toThrow(/it is empty/)
  } finally {
    closeSync(fd)
  }
})

it("[D12] the rest of the environment is read into words", () => {
  expect(
    readDialEnvironment({
      CLAUDE_CODE_ENVIRONMENT_RUNNER_VERSION: "1.2",
      CLAUDE_CODE_REMOTE: "true",
      CLAUDE_CODE_REMOTE_SESSION_ID: "rs",
      CLAUDE_CODE_CONTAINER_ID: "c",
      CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2: "1",
    }),
  ).toEqual({
    token: undefined,
    environmentRunnerVersion: "1.2",
    remote: true,
    postsEvents: true,
  })
  expect(readDialEnvironment({ CLAUDE_CODE_REMOTE: "0", CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2: "" })).toMatchObject({
    remote: false,
    postsEvents: false,
  })
  expect(
    readDialEnvironment({ CLAUDE_CODE_REMOTE: " YES ", CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2: "maybe" }),
  ).toMatchObject({
    remote: true,
    postsEvents: false,
  })
})
