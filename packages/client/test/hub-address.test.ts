import { describe, expect, it } from "vitest"
import { HubAddresses } from "../src/rest.ts"

describe("the address of a hub", () => {
  it("is asked for at each try where it is a function, the token alone too", () => {
    const tokens = ["one", "two"]
    const address = new HubAddresses("http://127.0.0.1:8765/", () => tokens.shift())
    expect([address.now().token, address.now().token]).toEqual(["one", "two"])
    const places = ["http://127.0.0.1:1", undefined]
    const moving = new HubAddresses(() => places.shift(), "t")
    expect(moving.now()).toEqual({ http: "http://127.0.0.1:1", webSocket: "ws://127.0.0.1:1", token: "t" })
    expect(() => moving.now()).toThrow(/no hub is running/)
  })

  it("is refused at once where it can never work", () => {
    expect(() => new HubAddresses("ftp://x", "t")).toThrow(/begins with http/)
    expect(() => new HubAddresses("ftp://x", () => "t")).toThrow(/begins with http/)
    expect(() => new HubAddresses("http://x", "two words")).toThrow(/characters that no token has/)
  })

  it("[HC27] may be several, in one text or as a list; each of them must be good", () => {
    const inText = new HubAddresses("http://a:1/, wss://b/hub , http://a:1", "t")
    expect([inText.count, inText.now().http]).toEqual([2, "http://a:1"])
    const listed = new HubAddresses([new URL("http://a:1"), "http://b:2,http://c:3"], "t")
    expect([listed.count, listed.failed("http://a:1"), listed.failed("http://b:2")]).toEqual([
      3,
      "http://b:2",
      "http://c:3",
    ])
    expect(() => new HubAddresses("http://a:1,b:2", "t")).toThrow(/begins with http or https, not b:/)
    expect(() => new HubAddresses(["http://a:1", "elsewhere"], "t")).toThrow(/^elsewhere is no address; write http:/)
    expect(() => new HubAddresses("http://a:1,", "t")).toThrow(/^an empty text is no address/)
    expect(() => new HubAddresses([], "t").now()).toThrow(/no hub is running/)
  })

  it("[HC26] the next one is used when the one in use fails, and what is heard late of an earlier one changes nothing", () => {
    const addresses = new HubAddresses("http://a,http://b,http://c", "t")
    expect(addresses.failed("http://a")).toBe("http://b")
    expect(addresses.failed("http://a")).toBe("http://b")
    expect(addresses.now().http).toBe("http://b")
    expect([addresses.failed("http://b"), addresses.failed("http://c")]).toEqual(["http://c", "http://a"])
  })
})
