import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { cockpitLooks } from "../gate.ts"
import { axe } from "./axe.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { asksFor, says, talks } from "./scenarios.ts"

const SHOTS = join(import.meta.dirname, "shots")

interface Shot {
  readonly name: string
  readonly violations: number
}

/** Every screen as people see it: a picture for a person to judge, and no violation of the accessibility rules. */
describe.runIf(hasBrowser)("how the cockpit looks", () => {
  let cockpit: CockpitHarness
  const shots: Shot[] = []
  const sessions = new Map<string, string>()
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
    const add = async (title: string, options: Omit<Parameters<CockpitHarness["agent"]>[0], "title">) => {
      sessions.set(title, (await cockpit.agent({ title, ...options })).id)
    }
    await add("Fix flaky auth tests", {
      prompt: "Make the tests deterministic",
      scenario: asksFor("rm -rf node_modules && npm ci"),
    })
    await add("Docs refresh", { scenario: talks(5000, 200) })
    await add("Bump deps", {
      scenario: says(
        "All dependencies are at their **latest** version.\n\n| Package | Version |\n|---|---|\n| react | 19 |",
      ),
    })
    await add("Which database?", {
      scenario: {
        turns: [
          {
            steps: [
              {
                tool: "AskUserQuestion",
                input: {
                  questions: [
                    {
                      question: "Which database should the service use?",
                      header: "Database",
                      options: [
                        { label: "SQLite", description: "One file, no server" },
                        { label: "Postgres", description: "A server of its own" },
                      ],
                      multiSelect: false,
                    },
                  ],
                },
              },
            ],
          },
        ],
      },
    })
    await vi.waitFor(
      async () => {
        expect((await cockpit.hub.get("/api/asks?state=pending")).asks).toHaveLength(2)
        expect((await cockpit.hub.get(`/api/sessions/${sessions.get("Bump deps")}`)).turns).toBe(1)
      },
      { timeout: 60_000, interval: 100 },
    )
  })
  afterAll(async () => {
    mkdirSync(SHOTS, { recursive: true })
    if (shots.length > 0) writeFileSync(join(SHOTS, "index.html"), contactSheet(shots))
    await cockpit?.dispose()
  })

  const screens: readonly (readonly [name: string, path: () => string, ready: (page: Page) => Promise<void>])[] = [
    ["sessions", () => "/sessions", (page) => page.getByRole("list", { name: "Needs you" }).waitFor()],
    [
      "session",
      () => `/s/${sessions.get("Bump deps")}`,
      (page) => page.getByRole("feed").getByText("latest").waitFor(),
    ],
    [
      "session-ask",
      () => `/s/${sessions.get("Fix flaky auth tests")}`,
      (page) => page.getByRole("region", { name: "Waiting for you" }).waitFor(),
    ],
    [
      "session-panels",
      () => `/s/${sessions.get("Bump deps")}?panel=asks`,
      (page) => page.getByText("has asked nothing").waitFor(),
    ],
    [
      "approvals",
      () => "/approvals",
      (page) => page.getByRole("list", { name: "Open requests" }).getByRole("listitem").first().waitFor(),
    ],
    ["new-session", () => "/new", (page) => page.getByRole("textbox", { name: "First message" }).waitFor()],
    ["search", () => "/search?q=deps", (page) => page.locator("[data-hit]").first().waitFor()],
    ["search-empty", () => "/search?q=zebra&in=titles", (page) => page.getByText("No match with").waitFor()],
    ["machines-empty", () => "/machines", (page) => page.getByText("No machine has come yet.").waitFor()],
    ["appearance", () => "/settings/appearance", (page) => page.getByRole("radio", { name: "Dark" }).waitFor()],
    ["keyboard", () => "/settings/keyboard", (page) => page.getByRole("switch").waitFor()],
    ["notifications", () => "/settings/notifications", (page) => page.getByText(/Nothing can be allowed/).waitFor()],
  ]

  it.each(cockpitLooks)(
    "on a %s in the %s theme every screen is free of what axe finds",
    async (size, theme) => {
      mkdirSync(SHOTS, { recursive: true })
      const page = await cockpit.page({ size, theme })
      const found: string[] = []
      for (const [name, path, ready] of screens) {
        await page.goto(path())
        await ready(page)
        const violations = await axe(page)
        found.push(...violations.map((violation) => `${name}: ${violation}`))
        const file = `${name}-${size}-${theme}`
        await page.screenshot({ path: join(SHOTS, `${file}.png`) })
        shots.push({ name: file, violations: violations.length })
      }
      const signIn = await cockpit.page({ size, theme, signedIn: false })
      await signIn.goto("/")
      await signIn.getByRole("button", { name: "Sign in" }).waitFor()
      found.push(...(await axe(signIn)).map((violation) => `sign-in: ${violation}`))
      await signIn.screenshot({ path: join(SHOTS, `sign-in-${size}-${theme}.png`) })
      expect(found).toEqual([])
    },
    180_000,
  )
})

function contactSheet(shots: readonly Shot[]): string {
  const figures = shots
    .map(
      ({ name, violations }) =>
        `<figure><img src="${name}.png" alt="${name}" loading="lazy"><figcaption>${name}, axe: ${violations}</figcaption></figure>`,
    )
    .join("\n")
  const style =
    "body{font:14px system-ui;display:grid;grid-template-columns:repeat(auto-fill,minmax(320px,1fr));gap:16px}img{max-width:100%;border:1px solid #ccc}figure{margin:0}"
  return `<!doctype html><meta charset="utf-8"><title>Cockpit</title><style>${style}</style>\n${figures}\n`
}
