import type { WireProfile } from "./profile.ts"

/** The profile of this version, and no other: most runs want the newest. Throws `profile/unknown`, as `profileOf` does. */
export async function loadProfile(version: string | undefined): Promise<WireProfile> {
  const { profile2325 } = await import("./v2-1-325.ts")
  if (version === undefined || version === profile2325.version) return profile2325
  const { profileOf } = await import("./index.ts")
  return profileOf(version)
}
