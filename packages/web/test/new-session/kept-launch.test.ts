import { beforeEach, describe, expect, it, vi } from "vitest"
import {
  forgetDraft,
  keepDraft,
  keepLaunch,
  readBefore,
  readPlaceBefore,
  readStartBefore,
  restoreDraft,
} from "../../src/new-session/kept-launch.ts"
import { fields } from "./launch-fixture.ts"

describe("what stood in the form", () => {
  beforeEach(() => {
    const kept = new Map<string, string>()
    vi.stubGlobal("sessionStorage", {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
      removeItem: (key: string) => void kept.delete(key),
    })
    return () => vi.unstubAllGlobals()
  })

  it("is as the address asks where nothing is kept", () => {
    const query = new URLSearchParams("fork=s&at=5&runner=r2&cwd=/there")
    expect(readStartBefore(query)).toEqual({ asked: "s", resume: "s", isFork: true, resumeAt: undefined, at: 5 })
    expect(readPlaceBefore(query)).toEqual({ machine: "r2", cwd: "/there" })
    expect(readStartBefore(new URLSearchParams("resume=s"))).toMatchObject({ resume: "s", isFork: false, at: 0 })
    expect(readStartBefore(new URLSearchParams())).toMatchObject({ asked: undefined, resume: undefined, isFork: false })
    expect(readPlaceBefore(new URLSearchParams())).toEqual({ machine: "", cwd: null })
  })

  it("[N-9] stays unticked, anew or empty after a slip, whatever the address asks", () => {
    const query = new URLSearchParams("fork=s&runner=r2&cwd=/there")
    keepDraft(String(query), fields({ resume: "s", isFork: false, cwd: "" }))
    expect(readStartBefore(query)).toMatchObject({ asked: "s", resume: "s", isFork: false })
    expect(readPlaceBefore(query)).toEqual({ machine: "r1", cwd: "" })
    keepDraft(String(query), fields({ isFork: true }))
    expect(readStartBefore(query)).toMatchObject({ asked: "s", resume: undefined, isFork: true })
  })

  it("[N-10] of a launch that is started again is forked where it was", () => {
    keepLaunch("new", fields({ resume: "s", isFork: true, resumeAt: "m" }))
    const query = new URLSearchParams("again=new")
    expect(readStartBefore(query)).toEqual({ asked: "s", resume: "s", isFork: true, resumeAt: "m", at: 0 })
    // A message of one conversation is none of another.
    keepDraft("again=new&fork=other", fields({ resume: "s", isFork: true, resumeAt: "m" }))
    expect(readStartBefore(new URLSearchParams("again=new&fork=other"))).toMatchObject({
      asked: "other",
      resumeAt: undefined,
    })
  })

  it("is there again when a launch came to nothing, but not over what was written since", () => {
    const query = new URLSearchParams()
    const prompt = () => readBefore(query)("prompt")
    forgetDraft()
    restoreDraft("", fields({ prompt: "first" }))
    expect(prompt()).toBe("first")
    restoreDraft("", fields({ prompt: "second" }))
    expect(prompt()).toBe("first")
  })
})
