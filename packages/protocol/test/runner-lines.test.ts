import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  encodeAck,
  encodeAgentLine,
  encodeCommand,
  encodeLineForAgent,
  encodeNote,
  readFromHub,
  readFromRunner,
} from "../src/runner-wire.ts"

describe("the lines between a runner and a hub", () => {
  it("[RU1] a line comes out as it went in, behind its number", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 40 }), fc.string(), (number, line) => {
        expect(readFromRunner(encodeAgentLine(number, line))).toEqual({ kind: "line", number, line })
        expect(readFromHub(encodeLineForAgent(line))).toEqual({ kind: "line", line })
      }),
    )
  })

  it("[RU6] a note, an acknowledgement and a command come out as they went in", () => {
    const note = { kind: "exited", exit: { reason: "exit code 1", code: 1, stderrTail: "a\nb" } } as const
    expect(readFromRunner(encodeNote(7, note))).toEqual({ kind: "note", number: 7, note })
    expect(readFromHub(encodeAck(0))).toEqual({ kind: "ack", number: 0 })
    const command = { ev: "hooks", onFailure: { a: "block" } } as const
    expect(readFromHub(encodeCommand(command))).toEqual({ kind: "command", command })
  })

  it.each(["", "L", "L ", "L0 x", "L-1 x", "L1.5 x", "Lx x", "N1 no", "N1 []", "X1 {}", '{"op":"attach"}'])(
    "[RU37] %j is not what a runner says of an agent",
    (text) => {
      expect(readFromRunner(text)).toBeUndefined()
    },
  )

  it.each(["", "A", "A-1", "Ax", "A1.5", "C", "Cnull", "C[1]", "X"])(
    "[RU37] %j is not what a hub says to one",
    (text) => {
      expect(readFromHub(text)).toBeUndefined()
    },
  )
})
