import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

/** The import table between the rooms: who may import whom. docs/architecture.md draws the same picture. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  protocol: [],
  transcript: ["protocol"],
  transport: ["protocol"],
  policy: ["protocol"],
  client: ["protocol"],
  sdk: ["protocol", "transport", "client"],
  runner: ["protocol", "transport"],
  hub: ["protocol", "transcript", "transport", "policy"],
  simulator: ["protocol", "transport"],
  web: ["protocol", "transcript", "policy", "client"],
  // It imports nothing of `web`: it finds its built files by name and hands their place to the hub.
  cli: ["protocol", "transcript", "transport", "policy", "client", "sdk", "runner", "hub", "simulator", "web"],
}

/**
 * The same inside a room, folder by folder, the lowest first: a folder may import only folders above it in its list.
 * Files beside the folders may import all of them. A name such as `transcript` stands for all folders in it that have no name of
 * their own in the table; in a list, for all of them.
 */
const FOLDERS_MAY_IMPORT: Record<string, Record<string, readonly string[]>> = {
  protocol: { schemas: [], "hub-api": ["schemas"] },
  transcript: { rows: [], text: [], page: ["rows", "text"] },
  transport: { process: [], websocket: ["process"], hybrid: ["websocket"], testing: [] },
  hub: {
    model: [],
    store: ["model"],
    asks: ["model", "store"],
    auth: ["model", "store"],
    operations: ["store", "auth"],
    runs: ["model", "store"],
    http: ["model", "operations", "asks", "auth"],
    cluster: ["model", "store", "auth", "http"],
    session: ["model", "store", "operations", "asks"],
    agents: ["model", "store", "operations", "auth", "http", "session"],
    runners: ["model", "store", "operations", "auth", "http", "cluster", "session", "agents"],
    viewers: ["model", "operations", "asks", "auth", "http", "session"],
    clients: ["model", "store", "operations", "asks", "auth", "http", "session", "viewers"],
    testing: ["model", "store"],
  },
  runner: {
    state: [],
    lines: [],
    link: [],
    machine: ["state"],
    launch: ["state", "machine"],
    agents: ["state", "lines", "link", "launch"],
  },
  cli: {
    base: [],
    terminal: ["base"],
    discover: ["base", "terminal"],
    hub: ["base", "terminal", "discover"],
    asks: ["base", "terminal", "hub"],
    policy: ["base", "terminal", "hub"],
    run: ["base", "terminal", "asks"],
    attach: ["base", "terminal", "hub", "asks"],
    sessions: ["base", "terminal", "hub", "asks", "attach"],
    runner: ["base"],
    up: ["base", "terminal", "hub", "runner"],
    loop: ["base", "terminal", "hub", "up"],
    doctor: ["base", "terminal", "hub"],
    data: ["base", "terminal", "hub", "doctor"],
    completion: ["base", "hub"],
    commands: [
      "base",
      "discover",
      "hub",
      "asks",
      "policy",
      "run",
      "attach",
      "sessions",
      "runner",
      "up",
      "loop",
      "doctor",
      "data",
      "completion",
    ],
  },
  sdk: {
    base: [],
    types: [],
    mcp: ["base", "types"],
    sessions: ["base", "types"],
    launch: ["base", "types", "mcp"],
    store: ["base", "types", "sessions", "launch"],
    hub: ["base", "types", "launch"],
    engine: ["base", "types", "mcp", "launch", "store", "hub"],
    query: ["base", "types", "launch", "store", "engine"],
    spawn: ["base", "types", "launch", "hub"],
  },
  web: {
    app: [],
    design: ["app"],
    fleet: ["app", "design"],
    "transcript/window": ["app"],
    "transcript/content": ["app", "design"],
    "transcript/tools": ["app", "design", "transcript/content"],
    "transcript/track": ["app", "design"],
    "transcript/rows": ["app", "design", "fleet", "transcript/window", "transcript/content", "transcript/tools"],
    "transcript/list": [
      "app",
      "design",
      "transcript/window",
      "transcript/tools",
      "transcript/track",
      "transcript/rows",
    ],
    agent: ["app", "design", "transcript/window"],
    "asks/answer": ["app", "fleet"],
    "asks/forms": ["app", "design", "fleet", "transcript/content", "transcript/tools", "asks/answer"],
    asks: ["app", "design", "fleet", "transcript", "asks/answer", "asks/forms"],
    "asks/inbox": ["app", "design", "fleet", "asks/answer", "asks"],
    sessions: ["app", "design", "fleet"],
    machines: ["app", "design", "fleet", "sessions"],
    search: ["app", "design", "fleet"],
    policy: ["app", "design", "fleet", "transcript/content", "asks", "asks/forms"],
    "session/composer": ["app", "design", "fleet", "transcript/window", "agent"],
    "session/panels": ["app", "design", "fleet", "transcript", "agent", "session/composer"],
    session: [
      "app",
      "design",
      "fleet",
      "transcript",
      "agent",
      "asks",
      "sessions",
      "search",
      "session/composer",
      "session/panels",
    ],
    "new-session": ["app", "design", "fleet", "agent"],
    settings: ["app", "design", "fleet", "asks", "machines"],
    shell: [
      "app",
      "design",
      "fleet",
      "asks",
      "asks/inbox",
      "sessions",
      "machines",
      "search",
      "policy",
      "session",
      "new-session",
      "settings",
    ],
  },
  simulator: {
    profiles: [],
    faults: [],
    scenario: ["faults"],
    "messages-api": ["scenario"],
    model: ["profiles", "scenario", "messages-api"],
    permissions: ["profiles"],
    launch: ["profiles", "permissions"],
    sessions: ["profiles", "launch"],
    wire: ["profiles", "launch"],
    mcp: ["profiles", "launch", "wire"],
    tools: ["profiles", "scenario", "permissions", "launch", "wire", "mcp"],
    agent: [
      "profiles",
      "faults",
      "scenario",
      "messages-api",
      "model",
      "permissions",
      "launch",
      "sessions",
      "wire",
      "mcp",
      "tools",
    ],
    record: ["scenario", "agent"],
    cli: ["profiles", "faults", "scenario", "model", "launch", "mcp", "tools", "agent", "record"],
  },
}

const packages = join(dirname(dirname(fileURLToPath(import.meta.url))), "packages")
const rooms = readdirSync(packages).filter((room) => existsSync(join(packages, room, "package.json")))

interface Import {
  readonly file: string
  readonly specifier: string
}

function sourceFiles(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.[cm]?[jt]sx?$/.test(file))
    .map((file) => join(folder, file))
}

/**
 * Every quoted name that could be an import, in whatever form it is written, comments too: a room that must not be
 * imported is not named in quotes either. Simple enough that nothing slips through.
 */
function importsIn(text: string): string[] {
  return [...text.matchAll(/["'`]((?:@signalbox\/|npm:@signalbox\/|\.{1,2}\/)[^"'`\n]*)["'`]/g)].map(
    (match) => match[1] ?? "",
  )
}

/** What is imported by a bare name: another package, or a module of Node. */
function packagesIn(text: string): string[] {
  const pattern = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)(["'`])([^."'`][^"'`]*)\1/g
  return [...text.matchAll(pattern)].map((match) => match[2] ?? "")
}

function importsOf(room: string, folder: string): Import[] {
  return sourceFiles(join(packages, room, folder)).flatMap((file) =>
    importsIn(readFileSync(file, "utf8")).map((specifier) => ({ file, specifier })),
  )
}

/** The room that an import reaches into, if it is another one. */
function roomOf(room: string, { file, specifier }: Import): string | undefined {
  const named = /^(?:npm:)?@signalbox\/([^/@]+)/.exec(specifier)?.[1]
  if (named !== undefined) return named === room ? undefined : named
  if (!specifier.startsWith(".")) return undefined
  const [target] = relative(packages, resolve(dirname(file), specifier)).split(/[\\/]/)
  return target === room ? undefined : target
}

function wrongWay(room: string, imports: readonly Import[]): string[] {
  const allowed = MAY_IMPORT[room] ?? []
  return imports.flatMap((entry) => {
    const target = roomOf(room, entry)
    if (target === undefined || allowed.includes(target)) return []
    return [`${relative(packages, entry.file)} imports ${entry.specifier}: ${room} must not import ${target}`]
  })
}

describe("the rooms", () => {
  it("every room is in the import table", () => {
    expect(rooms.filter((room) => !(room in MAY_IMPORT))).toEqual([])
    expect(rooms.length).toBeGreaterThan(0)
  })

  it.each(rooms)("%s imports only the rooms it may", (room) => {
    expect(wrongWay(room, importsOf(room, "src"))).toEqual([])
  })

  it.each(rooms)("%s names only the rooms it may in its package.json", (room) => {
    const manifest = JSON.parse(readFileSync(join(packages, room, "package.json"), "utf8"))
    const named = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"]
      // An alias names the room in its value.
      .flatMap((field) => Object.entries<string>(manifest[field] ?? {}).flat())
      .flatMap((name) => /^(?:npm:)?@signalbox\/([^/@]+)/.exec(name)?.[1] ?? [])
    expect(named.filter((target) => !(MAY_IMPORT[room] ?? []).includes(target))).toEqual([])
  })

  it.each(rooms)("%s declares every room it imports", (room) => {
    const manifest = JSON.parse(readFileSync(join(packages, room, "package.json"), "utf8"))
    const used = new Set(importsOf(room, "src").flatMap((entry) => roomOf(room, entry) ?? []))
    // The cockpit is published as a bundle: what is in it is needed to build it, not to serve it.
    const declared = room === "web" ? manifest.devDependencies : manifest.dependencies
    expect([...used].filter((target) => declared?.[`@signalbox/${target}`] === undefined)).toEqual([])
  })

  it("only the schemas of the protocol room load zod, and nothing there loads anything else", () => {
    const schemas = ["schemas", "hub-api"].map((folder) => join(packages, "protocol", "src", folder))
    const offenders = sourceFiles(join(packages, "protocol", "src")).flatMap((file) =>
      packagesIn(readFileSync(file, "utf8"))
        .filter((name) => name !== "zod" || !schemas.some((folder) => file.startsWith(folder)))
        .map((name) => `${relative(packages, file)} imports ${name}`),
    )
    expect(offenders).toEqual([])
  })

  it.each(Object.entries(FOLDERS_MAY_IMPORT))("the folders of %s import one way", (room, table) => {
    const source = join(packages, room, "src")
    const names = Object.keys(table)
    const pathOf = (file: string) => relative(source, file).replaceAll("\\", "/")
    const isIn = (path: string, folder: string) => path.startsWith(`${folder}/`)
    const folderOf = (file: string) =>
      names.filter((name) => isIn(pathOf(file), name)).toSorted((a, b) => b.length - a.length)[0]
    const files = sourceFiles(source).filter((file) => pathOf(file).includes("/"))
    expect(files.filter((file) => folderOf(file) === undefined)).toEqual([])
    expect(names.filter((name) => !files.some((file) => folderOf(file) === name))).toEqual([])
    const allowedTo = (name: string) =>
      (table[name] ?? []).flatMap((one) => (names.includes(one) ? [one] : names.filter((other) => isIn(other, one))))
    // A table that led back to where it came from would allow a circle.
    expect(names.filter((name, at) => allowedTo(name).some((below) => names.indexOf(below) >= at))).toEqual([])
    const wrong = importsOf(room, "src").flatMap(({ file, specifier }) => {
      const [from, to] = [folderOf(file), folderOf(resolve(dirname(file), specifier))]
      if (from === undefined || to === undefined || from === to) return []
      if (allowedTo(from).includes(to)) return []
      return [`${relative(packages, file)} imports ${specifier}: ${from} must not import ${to}`]
    })
    expect(wrong).toEqual([])
  })

  it("a wrong-way import is caught in every form it can be written", () => {
    const file = join(packages, "protocol", "src", "made-up.ts")
    const text = [
      'import { a } from "@signalbox/transport"',
      'export * from "../../hub/src/index.ts"',
      'import "@signalbox/web"',
      'const late = await import("@signalbox/sdk/testing")',
      'type T = import("@signalbox/client").T',
      "const quoted = await import(`@signalbox/hub`)",
      'const glob = "packages/*" // a comment begins in a string',
      'import { b } from "@signalbox/runner"',
      'const end = "*/x"',
    ].join("\n")
    const found = wrongWay(
      "protocol",
      importsIn(text).map((specifier) => ({ file, specifier })),
    )
    expect(found).toHaveLength(7)
  })
})

/**
 * What was ever done is in rows, and only the hub's store reads those. So it is enough to look at two places: the seam
 * (`Directory`) offers no list without a bound or a key, and no statement behind it reads a table whole. Sessions in memory
 * may be gone through: there are as many as somebody needs.
 */
describe("no code goes through all sessions, asks or tokens", () => {
  const store = join(packages, "hub", "src", "store")

  it("every list of the Directory is of something or has a limit", () => {
    const seam = readFileSync(join(store, "directory.ts"), "utf8")
    const lists = [...seam.matchAll(/^ {2}(\w+)\(([^)]*)\): Promise<readonly /gm)]
    expect(lists.length).toBeGreaterThan(5)
    const unbounded = lists.filter(([, , parameters]) => parameters === "").map(([, name]) => name)
    // What has to be finished after a start: sessions in use, and those with something on its way.
    expect(unbounded).toEqual(["unfinishedSessions"])
  })

  it("every statement on these tables names its rows or has a limit", () => {
    const statement = /\bSELECT\b[^"`]*\bFROM (?:sessions|asks|tokens)\b[^"`]*/g
    const statements = sourceFiles(store)
      .filter((file) => !file.includes("migrations"))
      .flatMap((file) => [...readFileSync(file, "utf8").matchAll(statement)].map(([sql]) => ({ file, sql })))
    expect(statements.length).toBeGreaterThan(10)
    // A condition that compares nothing, such as `WHERE true` or `IS NOT NULL`, names no rows.
    const namesRows = /\bLIMIT\b|\bWHERE\b.*(?:[=<>]|\bIN\b|\$\{)/s
    const whole = statements.filter(({ sql }) => !namesRows.test(sql)).map(({ file }) => relative(store, file))
    // A move takes everything along and counts it, and titles are few and short enough to be searched as they are.
    const onPurpose = ["move/moved-tables.ts", "postgres/postgres-check.ts", "search/text-index.js"]
    expect(whole.filter((file) => !onPurpose.includes(file.replaceAll("\\", "/")))).toEqual([])
  })
})
