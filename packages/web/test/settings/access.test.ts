import type { SignedInBrowser, Token } from "@signalbox/client"
import { expect, it } from "vitest"
import { browserWords, revokeConsequence } from "../../src/settings/access-words.ts"

it("[T-100] a browser is called by its name and its system, and a program by what it says", () => {
  const mozilla = "Mozilla/5.0"
  const like = "AppleWebKit/537.36 (KHTML, like Gecko)"
  expect(
    [
      `${mozilla} (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0`,
      `${mozilla} (Windows NT 10.0; Win64; x64) ${like} Chrome/140.0.0.0 Safari/537.36`,
      `${mozilla} (Windows NT 10.0; Win64; x64) ${like} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`,
      `${mozilla} (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1`,
      `${mozilla} (Linux; Android 15; K) ${like} Chrome/140.0.0.0 Mobile Safari/537.36`,
      `${mozilla} (X11; Linux x86_64) ${like} HeadlessChrome/140.0.0.0 Safari/537.36`,
      "curl/8.9.0",
      "evil\u202etxt",
      "",
    ].map(browserWords),
  ).toEqual([
    "Firefox on Linux",
    "Chrome on Windows",
    "Edge on Windows",
    "Safari on iPhone",
    "Chrome on Android",
    "Chrome on Linux",
    "curl/8.9.0",
    expect.not.stringContaining("\u202e"),
    "Unknown browser",
  ])
  expect(browserWords(null)).toBe("Unknown browser")
})

it("[T-101] revoking a token says what stops, and who is signed out by it", () => {
  const at = "2031-01-01T00:00:00.000Z"
  const token: Token = {
    id: "t1",
    role: "operator",
    name: "ci",
    sessionId: null,
    createdAt: at,
    expiresAt: null,
    revokedAt: null,
  }
  const browser: SignedInBrowser = {
    id: "b1",
    tokenId: "t1",
    name: "ci",
    role: "operator",
    createdAt: at,
    expiresAt: at,
    browser: null,
    current: false,
  }
  expect(revokeConsequence(token, [])).toBe("Anything that uses it stops working at once.")
  expect(revokeConsequence({ ...token, role: "runner" }, [{ ...browser, tokenId: "t2" }])).toBe(
    "The machine that uses it is disconnected.",
  )
  expect(revokeConsequence(token, [browser, { ...browser, id: "b2", current: true }])).toBe(
    "Anything that uses it stops working at once. 2 signed-in browsers will be signed out. This browser is one of them.",
  )
})
