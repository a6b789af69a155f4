import { describe, expect, it } from "vitest"
import { aroundHost } from "../../src/approvals/web-url.ts"

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

  it("is not made of what has no host", () => {
    expect(aroundHost("javascript:alert(1)")).toBeUndefined()
    expect(aroundHost("")).toBeUndefined()
  })
})
