import { claudeProcessEnvironment, signInOf } from "@signalbox/transport/process"

/** How agents that start now would sign in, with the environment that they get. */
export function signInFacts(env: Readonly<Record<string, string | undefined>>): { readonly signIn?: string | null } {
  const signIn = signInOf(claudeProcessEnvironment(env))
  return signIn === undefined ? {} : { signIn }
}
