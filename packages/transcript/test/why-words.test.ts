import { describe, expect, it } from "vitest"
import { whyLines } from "../src/index.ts"

const WHY = {
  rules: [{ id: "no-push", place: 3 }],
  field: "command",
  span: { start: 6, end: 14 },
  text: "git push",
  change: "To allow it, change or remove rule “no-push” (number 3).",
}

describe("why a request was decided as it was", () => {
  it("[TR27] is told in the same words for an ask, an audit record and a verdict: sentence, place, part, change", () => {
    expect(whyLines({ reason: "No.", why: WHY, input: { command: "cd x; git push; ls" } })).toEqual({
      reason: "No.",
      place: "Rule 3, “no-push”",
      part: { before: "cd x; ", text: "git push", after: "; ls" },
      change: WHY.change,
    })
  })

  it("[TR27] names each rule that allows a part, and of grants that they are the session's", () => {
    const place = (...rules: object[]) => whyLines({ reason: "Yes.", why: { ...WHY, rules } })?.place
    const grants = [{ id: "grant:7.1" }, { id: "grant:7.2" }]
    expect(place({ id: "a", place: 1 }, { id: "b", place: 12 })).toBe("Rule 1, “a”; rule 12, “b”")
    expect(place(...grants)).toBe("A grant of this session")
    expect(place({ id: "a", place: 1 }, ...grants)).toBe("Rule 1, “a”; a grant of this session")
    expect(place()).toBeUndefined()
  })

  it("[TR27] shows the part alone where the request is gone, and none that is not in it", () => {
    const part = (input: unknown, why: object = WHY) => whyLines({ reason: "No.", why, input })?.part
    const alone = { before: "", text: "git push", after: "" }
    expect(part(undefined)).toEqual(alone)
    expect(part(null)).toEqual(alone)
    expect(part({ command: "git push" })).toEqual(alone)
    expect(part({ command: ["git", "push"] })).toEqual(alone)
    expect(part({}, { ...WHY, text: "" })).toBeUndefined()
    expect(
      part({ command: "ls -l /srv" }, { change: "x", field: "command", span: { start: 4, end: 2 } }),
    ).toBeUndefined()
  })

  it.each([
    undefined,
    null,
    "x",
    {},
    { reason: "No." },
    { why: WHY },
    { reason: 5, why: WHY },
    { reason: "No.", why: [] },
  ])("[TR27] says nothing where nothing was kept: %j", (told) => expect(whyLines(told)).toBeUndefined())

  it("[TR27] takes a record of the wrong shape for one that says little", () => {
    expect(whyLines({ reason: "No.", why: { rules: "x", span: 5, text: 5, change: [] }, input: 5 })).toEqual({
      reason: "No.",
    })
    expect(whyLines({ reason: "No.", why: { rules: [null, 5] } })).toEqual({ reason: "No." })
  })
})
