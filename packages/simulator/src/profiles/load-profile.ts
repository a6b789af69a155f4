import type { WireProfile } from "./profile.ts"
import { profile2325 } from "./v2-1-325.ts"

/** The profile of this version. The newest is always there: most runs want it. Throws `profile/unknown`, as `profileOf` does. */
export async function loadProfile(version: string | undefined): Promise<WireProfile> {
  if (version === undefined || version === profile2325.version) return profile2325
  const { profileOf } = await import("./index.ts")
  return profileOf(version)
}
