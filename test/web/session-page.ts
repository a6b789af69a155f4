import type { Locator, Page } from "playwright-core"
import { expect } from "vitest"
import type { HubProcess } from "../hub/hub-process.ts"
import type { CockpitHarness, PageOptions } from "./cockpit.ts"

/** The machine may be busy; nothing here is about time. */
export const WAIT = { timeout: 60_000, interval: 50 }

export const feedOf = (page: Page): Locator => page.getByRole("feed", { name: "Transcript" })
export const messageOf = (page: Page): Locator => page.getByRole("textbox", { name: "Message" })
export const headerOf = (page: Page): Locator => page.locator("main header")
/** Above the composer: what was sent and is not with the agent yet. */
export const waitingOf = (page: Page): Locator => page.getByRole("list", { name: "Pending messages" })

/** A session's own screen, as soon as its transcript is there. */
export async function openSession(cockpit: CockpitHarness, id: string, options: PageOptions = {}): Promise<Page> {
  const page = await cockpit.page(options)
  await page.goto(`/s/${id}`)
  await feedOf(page).waitFor()
  return page
}

export async function openPanel(
  cockpit: CockpitHarness,
  id: string,
  name: string,
): Promise<{ readonly page: Page; readonly panel: Locator }> {
  const page = await openSession(cockpit, id)
  await page.getByRole("button", { name: "Panels" }).click()
  await page.getByRole("tab", { name }).click()
  return { page, panel: page.getByRole("tabpanel", { name }) }
}

interface Kept {
  readonly from: string
  readonly message: { readonly type: string; readonly message?: { readonly content?: unknown } }
}

/** What people and programs said to it, as the log has it: the text of each message. */
export async function promptsOf(hub: HubProcess, id: string): Promise<readonly string[]> {
  const { events } = await hub.get(`/api/sessions/${id}/events?after=0&limit=5000`)
  return events
    .filter(({ from, message }: Kept) => from === "client" && message.type === "user")
    .map(({ message }: Kept) => textOf(message.message?.content))
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content)
  return content.map((block: { text?: string }) => block.text ?? "").join("")
}

/** So many of its turns are over. */
export async function turnsAre(hub: HubProcess, id: string, count: number): Promise<void> {
  await expect.poll(async () => (await hub.get(`/api/sessions/${id}`)).turns, WAIT).toBe(count)
}

/** A PNG of one pixel, in base64. */
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
