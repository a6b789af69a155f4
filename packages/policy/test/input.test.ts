import { evaluate, type Rule } from "@signalbox/policy"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { verdict } from "./subject.ts"

const edit = (effect: "allow" | "deny", pattern: string, path: unknown) =>
  verdict([{ effect, tool: "Edit", input: { file_path: pattern } }], "Edit", { file_path: path }).effect

describe("paths", () => {
  const COVERED: readonly (readonly [pattern: string, path: string])[] = [
    ["/srv/**", "/srv/a"],
    ["/srv/**", "/srv/a/b/c.ts"],
    ["/srv/**", "/srv"],
    ["/srv/**", "/srv//a/./b"],
    ["/srv/**", "/srv/a/../b"],
    ["/srv/**", "src/a.ts"],
    ["src/**", "src/a.ts"],
    ["src/**", "/srv/app/src/a.ts"],
    ["/srv/*/src/*.ts", "/srv/app/src/a.ts"],
    ["/srv/**/test/**", "/srv/test/a"],
    ["/srv/**/test/**", "/srv/a/b/test/c/d"],
    ["**/*.md", "/srv/a.md"],
    ["/srv/a\\*b", "/srv/a*b"],
  ]
  it.each(COVERED)("[PO11] %s covers %s", (pattern, path) => {
    expect(edit("allow", pattern, path)).toBe("allow")
  })

  const NOT_COVERED: readonly (readonly [pattern: string, path: unknown])[] = [
    ["/srv/**", "/srv/../etc/passwd"],
    ["/srv/**", "/srv/a/../../etc/passwd"],
    ["/srv/**", "/srvshop"],
    ["/srv/**", "/srvshop/a"],
    ["/srv/**", "/Work/a"],
    ["/srv/**", "../../etc/passwd"],
    ["/srv/**", "~/a"],
    ["**", "~/a"],
    ["/srv/**", "/srv/..\\..\\etc"],
    ["/srv/**", "/srv/\u0000"],
    ["/srv/**", "/srv/a\u200b"],
    ["/srv/*", "/srv/a/b"],
    ["/srv/*.ts", "/srv/a/b.ts"],
    ["/srv/**", `/srv/${"x".repeat(5000)}`],
    ["/srv/**", `/srv${"/x".repeat(300)}`],
    ["/srv/**", "/"],
    ["/srv/**", 7],
    ["/srv/**", { path: "/srv/a" }],
    ["/srv/**", undefined],
  ]
  it.each(NOT_COVERED)("[PO11] %s does not cover %j", (pattern, path) => {
    expect(edit("allow", pattern, path)).toBe("ask")
  })

  it("[PO11] no path that leaves the folder is ever covered", () => {
    const segment = fc.constantFrom("..", ".", "a", "srv", "srvshop", "")
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 8 }), (segments) => {
        const path = `/${segments.join("/")}`
        const real: string[] = []
        for (const part of segments) {
          if (part === "..") real.pop()
          else if (part !== "" && part !== ".") real.push(part)
        }
        return edit("allow", "/srv/**", path) === (real[0] === "srv" ? "allow" : "ask")
      }),
      { numRuns: 2000 },
    )
  })

  const touched = (path: string, pattern = "/srv/secrets/**") =>
    verdict([{ effect: "deny", input: { file_path: pattern } }, { effect: "allow" }], "Read", { file_path: path })
      .effect

  it.each([
    ["/x/.ENV", "**/.env"],
    ["/x/.env", "**/.ENV"],
    ["/SRV/Secrets/key", "/srv/secrets/**"],
    ["SECRETS/key", "secrets/**"],
    // The long s and the Kelvin sign are letters of these names in another case.
    ["/srv/\u017fecrets/\u212aey", "/srv/secrets/key"],
    ["/srv/cafe\u0301/key", "/srv/caf\u00e9/**"],
  ])("[PO11] %j is denied by %j, whatever its case or spelling; an allow wants its own", (path, pattern) => {
    expect(touched(path, pattern)).toBe("deny")
    expect(edit("allow", pattern, path)).toBe("ask")
  })

  it("[PO12] a search in a folder written in other letters is found too", () => {
    const rules = [{ effect: "deny", input: { path: "/srv/secrets/**" } }, { effect: "allow" }] as const
    expect(verdict(rules, "Grep", { path: "/SRV/Secrets", pattern: "x" }).effect).toBe("deny")
    expect(verdict(rules, "Grep", { path: "/SRV", pattern: "x" }).effect).toBe("ask")
  })

  it.each([
    "/proc/self/root/srv/secrets/key",
    "/proc/1/cwd/secrets/key",
    "/proc/thread-self/root/srv/../srv/secrets/key",
    "/proc/self/task/7/root/srv/secrets/key",
    "/proc/self/cwd/../secrets/key",
    "/proc/self/fd/3/key",
    "/dev/fd/3/key",
    "../../proc//./self/root/srv/secrets/key",
  ])("[PO12] %s may be any file: a deny asks, and an allow does not cover it", (path) => {
    expect(touched(path)).toBe("ask")
    expect(edit("allow", "**", path)).toBe("ask")
  })

  it("[PO12] other files of a process, and folders of such names elsewhere, are what they say", () => {
    for (const path of ["/proc/self/status", "/proc/../srv/root/a", "/srv/proc/self/root/a", "/dev/null"])
      expect([path, touched(path), edit("allow", "**", path)]).toEqual([path, "allow", "allow"])
  })

  it("[PO12] a deny also finds what is written with backslashes, and asks about what it cannot read", () => {
    const both = (path: string) =>
      verdict([{ effect: "deny", input: { file_path: "/etc/**" } }, { effect: "allow" }], "Read", { file_path: path })
        .effect
    expect(both("/etc/passwd")).toBe("deny")
    expect(both("/srv/../etc/passwd")).toBe("deny")
    expect(both("\\etc\\passwd")).toBe("deny")
    expect(both("~root/x")).toBe("ask")
    expect(both("/srv/\u200b/x")).toBe("ask")
    expect(both("/srv/a")).toBe("allow")
  })

  it("[PO12] a search without a path searches the agent's folder", () => {
    const search = { effect: "allow" as const, tool: "Grep", input: { path: "/srv/**" } }
    expect(verdict([search], "Grep", { pattern: "x" }).effect).toBe("allow")
    expect(verdict([{ ...search, effect: "deny" }], "Grep", { pattern: "x" }).effect).toBe("deny")
  })
})

describe("paths that pretend", () => {
  const judged = (
    pattern: string,
    tool: string,
    input: Record<string, unknown>,
    cwd: string | undefined = "/srv/app",
  ) => {
    const field = tool === "Edit" ? "file_path" : "path"
    const ask = (effect: "allow" | "deny") => {
      const rules: Rule[] = [
        { id: "r", effect, input: { [field]: pattern } },
        ...(effect === "deny" ? [{ id: "all", effect: "allow" } as const] : []),
      ]
      return evaluate({ rules, relayAutoApproval: false }, { tool, input }, { session: "s", cwd }).effect
    }
    return [ask("deny"), ask("allow")]
  }
  const edit = (pattern: string, file_path: string, cwd?: string) => judged(pattern, "Edit", { file_path }, cwd)

  it("[PO22] a blank around a path does not make it relative, nor another one", () => {
    expect(edit("/etc/**", " /etc/passwd")).toEqual(["deny", "ask"])
    expect(edit("/srv/**", " /etc/passwd")).toEqual(["deny", "ask"])
    expect(edit("**/.env", "/srv/app/.env ")).toEqual(["deny", "ask"])
    expect(edit("/etc/**", "\t/etc/passwd")).toEqual(["deny", "ask"])
  })

  it("[PO22] nothing leads above a drive, and a drive is a folder where there are none", () => {
    expect(edit("/etc/**", "C:/../../etc/passwd")).toEqual(["allow", "ask"])
    expect(edit("/etc/**", "C:/../../../etc/passwd")).toEqual(["deny", "allow"])
    expect(edit("/srv/app/secret/**", "C:/../secret/x")).toEqual(["deny", "allow"])
    expect(edit("/secret/**", "C:/../secret/x")).toEqual(["allow", "ask"])
    expect(edit("C:/project/**", "c:/project/a", "C:/project")).toEqual(["deny", "allow"])
    expect(edit("C:/project/**", "C:/../../project/a", "C:/project")).toEqual(["deny", "allow"])
    expect(edit("C:/etc/**", "/etc/x", "C:/project")[0]).toBe("deny")
    expect(edit("/etc/**", "/C:/../etc/passwd")).toEqual(["deny", "allow"])
  })

  it("[PO22] a star in the name of the session's folder is a star, not a pattern", () => {
    expect(edit("src/**", "/srv/other/src/a", "/srv/*")).toEqual(["allow", "ask"])
    expect(edit("src/**", "src/a", "/srv/*")).toEqual(["deny", "allow"])
  })

  const glob = (pattern: string, input: Record<string, unknown>) => judged(pattern, "Glob", input)

  it("[PO22] a search looks where its pattern leads", () => {
    expect(glob("/etc/**", { pattern: "/etc/*" })).toEqual(["deny", "ask"])
    expect(glob("/etc/**", { pattern: " /etc/*" })).toEqual(["deny", "ask"])
    expect(glob("/etc/**", { pattern: "../../etc/*" })).toEqual(["deny", "ask"])
    expect(glob("/etc/**", { pattern: "etc/*", path: "/" })).toEqual(["deny", "ask"])
    expect(glob("/srv/**", { pattern: "/etc/*" })).toEqual(["deny", "ask"])
    expect(glob("/srv/**", { pattern: "src/../../../etc/*" })).toEqual(["deny", "ask"])
    expect(glob("/srv/**", { pattern: "**/*.ts" })).toEqual(["deny", "allow"])
    expect(glob("/srv/**", { pattern: "/srv/app/src/**/*.ts" })).toEqual(["deny", "allow"])
    expect(glob("/etc/**", { pattern: "{src,test}/**/*.ts" })).toEqual(["allow", "ask"])
    expect(glob("/srv/**", { pattern: "{src,test}/**/*.ts" })).toEqual(["deny", "allow"])
    expect(glob("/srv/**", { pattern: "src/**/*.{ts,tsx}" })).toEqual(["deny", "allow"])
    expect(glob("/srv/**", { pattern: "src/[a-z]*.@(ts|js)" })).toEqual(["deny", "allow"])
  })

  it.each([
    "src/**/../../../../etc/*",
    "{/etc,src}/*",
    "{src,/etc}/*",
    ".{.,}/../etc/*",
    "[.][.]/x",
    "{.,x}{.,y}/etc/*",
    "[.-.][.-.]/etc/*",
    "{.,{a,b}}{.,{a,b}}/etc/*",
    "{a,../../etc}/*",
    "[!a][^b]/etc/*",
    "@(.|x)@(.|y)/etc/*",
    "a\\..\\x",
    "~/x",
  ])("[PO22] where the pattern %j leads nobody can tell", (pattern) => {
    expect(glob("/etc/**", { pattern })[0]).not.toBe("allow")
    expect(glob("/srv/**", { pattern })[1]).toBe("ask")
  })

  it("[PO22] a search from above goes through a forbidden folder", () => {
    expect(judged("/etc/ssl/**", "Grep", { pattern: "x", path: "/etc" })[0]).toBe("ask")
    for (const anywhere of ["**/.env", "/srv/**/.env", "/srv/app/**/.env/**"]) {
      expect(judged(anywhere, "Grep", { pattern: "x", path: "/srv/app", glob: ".env" })[0]).toBe("ask")
    }
    expect(judged("/etc/**", "Grep", { pattern: "x", path: "/" })[0]).toBe("ask")
    expect(judged("secret/**", "Grep", { pattern: "x" })[0]).toBe("ask")
    expect(judged("/etc/**", "Grep", { pattern: "x" })[0]).toBe("allow")
  })
})

describe("other fields", () => {
  const fetchOf = (pattern: string, url: string) =>
    verdict([{ effect: "allow", tool: "WebFetch", input: { url: pattern } }], "WebFetch", { url }).effect

  it("[PO13] a star in the host of an address does not reach into its path", () => {
    expect(fetchOf("https://*.example.com/*", "https://docs.EXAMPLE.com/a/b")).toBe("allow")
    expect(fetchOf("https://*.example.com/*", "https://elsewhere.net/x.example.com/")).toBe("ask")
    expect(fetchOf("https://*.example.com/*", "https://elsewhere.net?x.example.com/")).toBe("ask")
    expect(fetchOf("https://*.example.com/*", "https://elsewhere.net\\.example.com/")).toBe("ask")
    expect(fetchOf("https://*example.com/*", "https://user@example.com/")).toBe("ask")
    expect(fetchOf("https://example.com/*", "https://example.com@elsewhere.net/")).toBe("ask")
    expect(fetchOf("https://example.com/*", "http://example.com/")).toBe("ask")
    expect(fetchOf("https://example.com/*", "https://example.com.elsewhere.net/")).toBe("ask")
  })

  it("[PO13] a deny finds an address however its host is written, and asks about an odd one", () => {
    const judged = (url: string) =>
      verdict([{ effect: "deny", input: { url: "https://example.com/*" } }, { effect: "allow" }], "WebFetch", { url })
        .effect
    for (const url of [
      "HTTPS://Example.com/a",
      "https://example.com:443/a",
      "https://example.com./a",
      "https://example.com",
    ]) {
      expect([url, judged(url)]).toEqual([url, "deny"])
    }
    expect(judged("https://me@example.com/a")).toBe("ask")
    expect(judged("https://example.org/a")).toBe("allow")
  })

  const field = (effect: "allow" | "deny", pattern: string | string[], value: unknown) =>
    verdict([{ effect, tool: "T", input: { name: pattern } }], "T", { name: value }).effect

  it("[PO13] text is compared whole; numbers and booleans as they are written", () => {
    expect(field("allow", "a*c", "abbc")).toBe("allow")
    expect(field("allow", "a*c", "abbcd")).toBe("ask")
    expect(field("allow", "7", 7)).toBe("allow")
    expect(field("allow", "*", "")).toBe("allow")
    expect(field("allow", "*", undefined)).toBe("ask")
    expect(field("allow", "*", null)).toBe("ask")
    expect(field("allow", "*", "x".repeat(70_000))).toBe("ask")
    expect(field("deny", "*x*", "x".repeat(70_000))).toBe("ask")
    expect(field("allow", ["a", "b"], "b")).toBe("allow")
  })

  it("[PO13] of a list an allow wants all, a deny any; an object is only ever forbidden", () => {
    expect(field("allow", "a*", ["a1", "a2"])).toBe("allow")
    expect(field("allow", "a*", ["a1", "b"])).toBe("ask")
    expect(field("allow", "a*", [])).toBe("ask")
    expect(field("deny", "a*", ["b", "a1"])).toBe("deny")
    expect(field("allow", "*", { a: 1 })).toBe("ask")
    expect(field("deny", "*secret*", { a: "secret" })).toBe("deny")
  })

  it("[PO6] a field named command is read as a command, whichever tool has it", () => {
    const run = (command: string) =>
      verdict([{ effect: "allow", tool: "mcp__x__run", input: { command: "ls*" } }], "mcp__x__run", { command }).effect
    expect(run("ls -l")).toBe("allow")
    expect(run("ls; rm x")).toBe("ask")
    // One word for Bash, three commands for PowerShell.
    expect(run('ls "a\\"; rm x; "')).toBe("ask")
    // One word for Bash, two commands for cmd.exe.
    expect(run("ls 'a & del x'")).toBe("ask")
  })
})
