import { describe, expect, it } from "vitest"
import { blockedPathWords } from "../src/index.ts"

const isOutside = (path: string, folder: string | readonly (string | null)[], home?: string) =>
  blockedPathWords(path, { folders: typeof folder === "string" ? [folder] : folder, home }).startsWith("Outside")

describe("where a path is that permission is asked for", () => {
  it.each([
    ["/etc/hosts", "/srv/api"],
    ["/srv/api-old", "/srv/api"],
    ["/srv", "/srv/api"],
    ["/srv/api/../secrets", "/srv/api"],
    ["/srv/api/src/../../x", "/srv/api/"],
    ["../x", "/srv/api"],
    ["C:\\windows\\x", "C:\\work"],
    ["\\\\server\\share\\b", "\\\\server\\share\\a"],
    // On these machines a backslash is part of a name.
    ["/srv/api\\x", "/srv/api"],
  ])("[TR24] %s is outside %s", (path, folder) => expect(isOutside(path, folder)).toBe(true))

  it.each([
    ["/srv/api", "/srv/api/"],
    ["/srv/api/build", "/srv/api"],
    ["/srv//api/./build/", "/srv/api"],
    ["/srv/other/../api/x", "/srv/api"],
    ["/etc/hosts", "/"],
    ["src/x", "/srv/api"],
    ["c:/WORK/x", "C:\\work\\"],
    ["C:\\x\\..\\work\\y", "C:\\work"],
    ["/srv/Api/x", "/srv/api"],
    ["/private/tmp/a/x", "/tmp/a"],
    ["/tmp/a/x", "/private/tmp/a"],
    ["/srv/caf\u0065\u0301/x", "/srv/caf\u00e9"],
    // An uncertain path is never called outside.
    ["~/x", "/srv/api"],
    ["~ann/x", "/srv/api"],
    ["C:x", "/srv/api"],
    ["D:\\x", "C:\\work"],
    ["/mnt/c/work/x", "C:\\work"],
    ["x", "api"],
  ])("[TR24] %s is not said to be outside %s", (path, folder) => expect(isOutside(path, folder)).toBe(false))

  it("[TR24] with a known home, and of several folders, it is held against each", () => {
    expect(isOutside("~/secrets", "/home/ann/api", "/home/ann")).toBe(true)
    expect(isOutside("~/api/x", "/home/ann/api", "/home/ann")).toBe(false)
    expect(isOutside("/srv/lib/x", ["/srv/api", "/srv/lib"])).toBe(false)
    expect(isOutside("/srv/x", ["/srv/api", "/srv/lib"])).toBe(true)
    expect(isOutside("/srv/x", [null])).toBe(false)
  })
})
