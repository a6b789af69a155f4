import { isObject } from "@signalbox/protocol"
import type { HubSettings } from "@signalbox/protocol/hub-api"
import type { Directory } from "./store/directory.ts"

const DOCUMENT = "settings"
export const DEFAULT_SETTINGS: HubSettings = { operatorsMayUseAuto: false }

/** The settings in force. A field that is missing has its default. */
export class SettingsDesk {
  readonly #directory: Pick<Directory, "getDocument" | "putDocument" | "addAudit">
  #settings = DEFAULT_SETTINGS

  constructor(directory: Pick<Directory, "getDocument" | "putDocument" | "addAudit">) {
    this.#directory = directory
  }

  async load(): Promise<void> {
    const kept = await this.#directory.getDocument(DOCUMENT)
    if (isObject(kept)) this.#settings = { operatorsMayUseAuto: kept["operatorsMayUseAuto"] === true }
  }

  get settings(): HubSettings {
    return this.#settings
  }

  async put(given: Partial<HubSettings>, by: string, at = new Date().toISOString()): Promise<HubSettings> {
    const settings = { ...DEFAULT_SETTINGS, ...given }
    const audit = { at, what: "settings/changed", by, via: "person", sessionId: null, askId: null }
    await Promise.all([
      this.#directory.putDocument(DOCUMENT, settings, { synced: true }),
      this.#directory.addAudit({ ...audit, details: { before: this.#settings, after: settings } }),
    ])
    this.#settings = settings
    return settings
  }
}
