import { jsonFaultWords } from "@signalbox/protocol"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { BodyReader } from "../../src/http/read-request.ts"

function request(body: ReadableStream): Request {
  const init: RequestInit & { duplex: "half" } = { method: "POST", body, duplex: "half" }
  return new Request("http://localhost/", init)
}

describe("bodies", () => {
  it("[HA24] all bodies under way together have a bound, and room again when they are done", async () => {
    const reader = new BodyReader(1_000)
    const text = JSON.stringify("x".repeat(598))
    const controllers: ReadableStreamDefaultController<Uint8Array>[] = []
    const slow = () =>
      request(
        new ReadableStream<Uint8Array>({
          start(controller) {
            controllers.push(controller)
            controller.enqueue(new TextEncoder().encode(text))
          },
        }),
      )
    const first = reader.read(slow(), 800)
    const second = reader.read(slow(), 800)
    await expect(second).rejects.toMatchObject({ code: "hub/busy", status: 503 })
    controllers[0]?.close()
    expect(await first).toBe("x".repeat(598))
    const third = reader.read(slow(), 800)
    controllers[2]?.close()
    expect(await third).toBe("x".repeat(598))
  })

  it("[HA25] the place of a fault is found exactly where JSON.parse finds one", () => {
    const broken = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom("", ",", "}", '"', "x", "\\", "[", "0", "\n"))
      .map(([text, at, put]) => text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + 1))
    fc.assert(
      fc.property(fc.oneof(broken, fc.json(), fc.string()), (text) => {
        expect(jsonFaultWords(text) === "").toBe(isJson(text))
      }),
      { numRuns: 3_000 },
    )
  })
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
