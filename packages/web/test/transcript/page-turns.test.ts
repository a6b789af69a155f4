import { describe, expect, it } from "vitest"
import { PageTurns } from "../../src/transcript/window/session-feed.ts"

function waiting(): { readonly done: Promise<void>; readonly finish: () => void } {
  let finish = () => {}
  const done = new Promise<void>((resolve) => {
    finish = resolve
  })
  return { done, finish: () => finish() }
}

describe("pages of a log", () => {
  it("are read one at a time: a wish for more while one is on its way is that one", async () => {
    const turns = new PageTurns()
    const first = waiting()
    const read: string[] = []
    const one = turns.more(() => first.done)
    await turns.more(async () => void read.push("never"))
    first.finish()
    await one
    await turns.more(async () => void read.push("next"))
    expect(read).toEqual(["next"])
  })

  it("of several jumps that wait for a page only the last is made", async () => {
    const turns = new PageTurns()
    const page = waiting()
    const read: number[] = []
    const more = turns.more(() => page.done)
    const jumps = [1, 2, 3].map((n) => turns.jump(async () => void read.push(n)))
    page.finish()
    await more
    expect(await Promise.all(jumps)).toEqual([false, false, true])
    expect(read).toEqual([3])
  })
})
