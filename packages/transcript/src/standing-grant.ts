import { isObject } from "@signalbox/protocol/envelope"

/**
 * True if "always allow" may store this suggestion without being told which one. A change of mode, or an update that
 * replaces other rules, allows far more than the request that is shown, so people choose those by themselves.
 */
export function isUsualGrant(update: unknown): boolean {
  if (!isObject(update)) return false
  const { type, behavior = "allow" } = update
  return type === "addDirectories" || (type === "addRules" && behavior === "allow")
}
