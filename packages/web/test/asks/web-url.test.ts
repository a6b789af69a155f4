import { describe, expect, it } from "vitest"
import { aroundHost } from "../../src/asks/forms/elicitation-form.tsx"

describe("an address around its host", () => {
  it("has the host by itself, with its port", () => {
    expect(aroundHost("https://auth.example.org:8443/start?code=1")).toEqual([
      "https://",
      "auth.example.org:8443",
      "/start?code=1",
    ])
    expect(aroundHost("https://example.org")).toEqual(["https://", "example.org", ""])
  })

  it("takes what stands before an @ for no host", () => {
    expect(aroundHost("https://bank.example@evil.example/@bank.example")).toEqual([
      "https://bank.example@",
      "evil.example",
      "/@bank.example",
    ])
  })

  it.each([
    ["https:evil.example", "/"],
    ["https:/evil.example/bank.example", "/bank.example"],
    ["https:///evil.example", "/"],
    ["https:\\\\\\evil.example?bank.example", "/?bank.example"],
    ["ht\ntps://evil.example", "/"],
  ])("is what a browser makes of %j, where it is written in another way", (text, after) => {
    expect(aroundHost(text)).toEqual(["https://", "evil.example", after])
  })

  it("stays as it is written where only its host is spelt in another way", () => {
    expect(aroundHost("https://EVIL.example:443/a")).toEqual(["https://", "EVIL.example:443", "/a"])
    expect(aroundHost("https:\\\\evil.example\\a")).toEqual(["https:\\\\", "evil.example", "\\a"])
  })

  it("is not made of what has no host", () => {
    expect(aroundHost("javascript:alert(1)")).toBeUndefined()
    expect(aroundHost("")).toBeUndefined()
  })
})
