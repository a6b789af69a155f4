import { SimulatorError } from "../simulator-error.ts"
import { profile2120, profile2137 } from "./older.ts"
import type { WireProfile } from "./profile.ts"
import { profile2325 } from "./v2-1-325.ts"

const PROFILES: readonly WireProfile[] = [profile2137, profile2120, profile2325]

export const profileNames: readonly string[] = PROFILES.map(({ version }) => version)

/** The profile of this version; the newest when none is named. */
export function profileOf(version: string = profile2325.version): WireProfile {
  const found = PROFILES.find((profile) => profile.version === version)
  if (found !== undefined) return found
  throw new SimulatorError(
    "profile/unknown",
    `There is no wire profile ${version}. There are: ${profileNames.join(", ")}.`,
    { details: { version, known: profileNames } },
  )
}
