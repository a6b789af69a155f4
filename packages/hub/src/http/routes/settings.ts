import { Settings, SettingsBody } from "@signalbox/protocol/hub-api/schemas"
import type { HubCore } from "../../core.ts"
import { type Route, route, SMALL_BODY_BYTES } from "../route.ts"

export function settingsRoutes(core: HubCore): Route[] {
  const reply = { status: 200, description: "the settings", schema: Settings }
  return [
    route({
      method: "GET",
      path: "/api/settings",
      access: "viewer",
      summary: "The settings in force",
      reply,
      handle: () => core.getSettings(),
    }),
    route({
      method: "PUT",
      path: "/api/settings",
      access: "admin",
      summary: "Replace the settings; a field that is left out gets its default",
      body: { schema: SettingsBody, maxBytes: SMALL_BODY_BYTES },
      reply,
      handle: ({ body, caller }) => core.putSettings(body, caller),
    }),
  ]
}
