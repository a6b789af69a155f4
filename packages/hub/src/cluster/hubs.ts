import { randomUUID } from "node:crypto"
import type { HubInfo } from "@signalbox/protocol/hub-api"
import { HubError } from "../errors.ts"

/** Counts of a hub: sessions in memory, runners and viewers at its doors. */
export type HubCounts = Pick<HubInfo, "sessions" | "runners" | "viewers">

/** The hubs on one store, as people are told of them. */
export interface Hubs {
  list(): readonly HubInfo[]
  rotateSecret(by: string): Promise<{ readonly rotatedAt: string }>
}

export interface SoloHubOptions {
  readonly url: () => string
  readonly version: string
  readonly counts: () => HubCounts
}

/** A hub that has its store for itself. */
export function soloHub({ url, version, counts }: SoloHubOptions): Hubs {
  const id = randomUUID()
  const startedAt = new Date().toISOString()
  return {
    list: () => [{ id, url: url(), version, startedAt, seenAt: new Date().toISOString(), ...counts(), self: true }],
    rotateSecret: () =>
      Promise.reject(
        new HubError(
          "request/invalid",
          "this hub is alone: only hubs that were started with --cluster-url have a secret",
        ),
      ),
  }
}
