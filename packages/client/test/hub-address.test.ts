import { describe, expect, it } from "vitest"
import { hubAddress } from "../src/rest.ts"

describe("the address of a hub", () => {
  it("is asked for at each try where it is a function, the token alone too", () => {
    const tokens = ["one", "two"]
    const address = hubAddress("http://127.0.0.1:8765/", () => tokens.shift())
    expect([address().token, address().token]).toEqual(["one", "two"])
    const places = ["http://127.0.0.1:1", undefined]
    const moving = hubAddress(() => places.shift(), "t")
    expect(moving()).toEqual({ http: "http://127.0.0.1:1", webSocket: "ws://127.0.0.1:1", token: "t" })
    expect(moving).toThrow(/no hub is running/)
  })

  it("is refused at once where it can never work", () => {
    expect(() => hubAddress("ftp://x", "t")).toThrow(/begins with http/)
    expect(() => hubAddress("ftp://x", () => "t")).toThrow(/begins with http/)
    expect(() => hubAddress("http://x", "two words")).toThrow(/characters that no token has/)
  })
})
