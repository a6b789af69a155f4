/** The CLIs' own words, from 2.0 to 2.1.325, for an account or a key that does not let them in. */
const SIGN_IN =
  /not logged in|please run \/login|invalid api key|authentication_(?:failed|error)|oauth (?:token|authentication).{0,40}(?:expired|revoked|not supported)|invalid (?:bearer|auth) token/i

/** True if this text of an agent says that it is not signed in. */
export function saysSignIn(text: string): boolean {
  return SIGN_IN.test(text.slice(0, 2_000))
}
