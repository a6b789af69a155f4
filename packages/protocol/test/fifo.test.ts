import { array, assert, constantFrom, property } from "fast-check"
import { expect, it } from "vitest"
import { Fifo } from "../src/item-queue.ts"

it("[T1] what waits comes out in the order in which it went in, each once, however it is taken", () => {
  const steps = array(constantFrom("push", "push", "take", "takeAll"), { maxLength: 200 })
  const keepsOrder = property(steps, (sequence) => {
    const fifo = new Fifo<number>()
    const model: number[] = []
    let pushed = 0
    return sequence.every((step) => {
      if (step === "push") {
        model.push(++pushed)
        fifo.push(pushed)
      } else if (step === "take") {
        if (fifo.take() !== model.shift()) return false
      } else if (JSON.stringify(fifo.takeAll()) !== JSON.stringify(model.splice(0))) {
        return false
      }
      return fifo.length === model.length
    })
  })
  expect(() => assert(keepsOrder)).not.toThrow()
})
